"""The token that lets only the server's own user in: made at the start, left in a file, removed at the end."""

from __future__ import annotations

import fcntl
import hmac
import json
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from fuelclient.errors import Unauthorised, Unavailable
from fuelclient.server.access import Loopback
from fuelclient.server.errors import HttpError
from fuelclient.settings.server_tokens import path_of

_UNAUTHENTICATED = "This server serves only the user who started it, and the request has no token of theirs."


class LocalToken(Loopback):
    """The policy of a server for its own user: whoever can read the file with the token may do everything."""

    name = "token"
    required = True

    def __init__(self) -> None:
        self.token = secrets.token_urlsafe(32)

    def check(self, environ: Mapping[str, str], *, is_open: bool, reads: bool) -> None:
        """Raise `HttpError`: 403 for the request of a web page, 401 without the token."""
        super().check(environ, is_open=is_open, reads=reads)
        stated = environ.get("HTTP_X_AUTH_TOKEN", "")
        if not is_open and not hmac.compare_digest(stated.encode("utf-8", "replace"), self.token.encode()):
            hint = "Send the token of its file in X-Auth-Token; fuel2 of the same user does so by itself."
            raise HttpError(401, _UNAUTHENTICATED, Unauthorised(_UNAUTHENTICATED, hint=hint))


@contextmanager
def left_for_clients(url: str, token: str) -> Iterator[Path]:
    """Keep the token of a server in a file that only its user can read, and yield the path.

    The file is locked as long as the server lives, so that the next server of this user recognises those of servers
    that were killed, and removes them. Raise `Unavailable` if it cannot be written.
    """
    path = Path(path_of(url))
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _sweep(path.parent)
        fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            os.write(descriptor, json.dumps({"url": url, "token": token, "pid": os.getpid()}).encode() + b"\n")
            fresh.replace(path)
        except OSError as error:
            fresh.unlink(missing_ok=True)
            raise _unwritable(path, error) from error
        yield path
    finally:
        with suppress(OSError):  # it may be another server's by now
            if os.path.samestat(path.stat(), os.fstat(descriptor)):
                path.unlink()
        os.close(descriptor)


def _sweep(directory: Path) -> None:
    """Remove the files of servers that ended without doing so: nobody holds their locks."""
    for path in directory.iterdir():
        with suppress(OSError):
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.path.samestat(path.stat(), os.fstat(descriptor)):
                    path.unlink()
            finally:
                os.close(descriptor)


def _unwritable(path: Path, error: OSError) -> Unavailable:
    return Unavailable(
        f"The token of the server cannot be written to {path}: {error.strerror}.",
        hint="Make it writable, set XDG_DATA_HOME, or let everybody on this machine in: --no-auth.",
    )
