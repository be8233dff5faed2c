"""Decide who may use the server: any program of this machine, programs of the server's own user, or users whose
Keystone token has the right role.

The token for the server's own user is generated at the start, kept in a file, and removed at the end.
"""

from __future__ import annotations

import configparser
import fcntl
import hmac
import ipaddress
import json
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fuelclient.errors import FuelError, InvalidDocument, NotFound, Unauthorised, Unavailable, UsageError
from fuelclient.server.errors import HttpError
from fuelclient.server.request_log import LOG, Start, Wsgi
from fuelclient.server.routes import PREFIX
from fuelclient.settings.server_tokens import path_of


class Loopback:
    """The policy of a server without authentication: every program of this machine may do everything.

    Web pages in a browser of this machine reach the server as well. Their requests name an origin, or a host that
    resolves to this machine for the moment (DNS rebinding); both are refused.
    """

    name = "none"
    required = False

    def wrap(self, app: Wsgi) -> Wsgi:
        return app

    def check(self, environ: Mapping[str, str], *, is_open: bool, reads: bool) -> None:  # noqa: ARG002 (of all policies)
        """Raise `HttpError` (403) for the request of a web page."""
        host = environ.get("HTTP_HOST", "")
        if host and not is_loopback(_hostname(host)):
            raise _forbidden(f"This server answers on this machine only, not as {host!r}.")
        if (origin := environ.get("HTTP_ORIGIN", "")) and _netloc(origin) != host:
            raise _forbidden("This server does not answer web pages.")

    def admits(self, environ: Mapping[str, str]) -> bool:
        """Whether `check` accepts a request with these headers."""
        try:
            self.check(environ, is_open=False, reads=True)
        except HttpError:
            return False
        return True


def is_loopback(name: str) -> bool:
    """Whether a name or an address means this machine.

    >>> [is_loopback(name) for name in ("localhost", "127.0.0.1", "::1", "0.0.0.0", "example.org")]
    [True, True, True, False, False]
    """
    if name.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def require_loopback(host: str) -> None:
    """Raise `UsageError` unless `host` means this machine."""
    if not is_loopback(host):
        raise UsageError(
            f"Without --auth keystone the server listens on this machine only, not on {host}.",
            hint="Use --host 127.0.0.1, or --auth keystone.",
        )


def _hostname(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _netloc(origin: str) -> str | None:
    """Host and port of an Origin header; None, which matches no host, if it is not a URL."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None


def _forbidden(message: str) -> HttpError:
    return HttpError(403, Unauthorised(message, hint="Use 127.0.0.1 or localhost, and no browser."))


READERS = frozenset({"reader", "member", "manager", "admin"})
WRITERS = frozenset({"admin"})
OPEN = frozenset(f"{PREFIX}/{path}" for path in ("version", "openapi.json"))
"""The paths that need no token. The answer of `version` has whether the other paths need one."""

_PASSED = "fuelclient.authenticated"
_UNAUTHENTICATED = "The request you have made requires authentication."
_SECTION = "keystone_authtoken"
_REQUIRED = ("auth_url", "username", "password", "project_name")
_SAMPLE = f"Write a section [{_SECTION}] with {', '.join(_REQUIRED)}, user_domain_name and project_domain_name."


def conf_from(path: str) -> dict[str, str]:
    """The options of the section `keystone_authtoken` of an INI file, as in other OpenStack services.

    Raise `NotFound` if the file is missing, and `InvalidDocument` if it cannot be read or lacks the section or a
    required option. No message quotes the file: it holds a password.
    """
    parser = configparser.ConfigParser(interpolation=None, default_section="")
    try:
        with open(path, encoding="utf-8") as file:
            parser.read_file(file)
    except FileNotFoundError as error:
        raise NotFound("file", path, hint=_SAMPLE) from error
    except OSError as error:
        raise InvalidDocument(f"{path}: {error.strerror}.", hint=_SAMPLE) from error
    except (configparser.Error, UnicodeDecodeError) as error:
        raise InvalidDocument(f"{path} is not an INI file in UTF-8.", hint=_SAMPLE) from error
    options = dict(parser[_SECTION]) if parser.has_section(_SECTION) else {}
    if missing := [name for name in _REQUIRED if not options.get(name)]:
        raise InvalidDocument(f"{path}: the section {_SECTION} has no {', no '.join(missing)}.", hint=_SAMPLE)
    return options


class Keystone:
    """The policy of a server that checks tokens: readers may read, administrators may write and execute.

    keystonemiddleware checks the token of each request, except on open paths, and writes the token's user, project and
    roles into the WSGI environment. It first removes such entries that clients sent as headers.

    `conf` has the options of keystonemiddleware's `keystone_authtoken`: `auth_url`, and the credentials of a service
    user that may validate tokens. `project` restricts writing to the administrators of one project, given by its id, or
    by its name in the domain of the service user's project. (A name is unique in one domain only: the owner of
    another domain could create a project of the same name.) If it is empty, administrators of any project may
    write, as is usual in OpenStack's services.
    """

    name = "keystone"
    required = True

    def __init__(self, conf: Mapping[str, str], project: str = "") -> None:
        self.conf = dict(conf)
        self.project = project

    def wrap(self, app: Wsgi) -> Wsgi:
        """Put the middleware in front of `app`, except for open paths; its refusals become JSON."""
        from keystonemiddleware import auth_token  # type: ignore[import-untyped]  # it has no types

        conf: dict[str, Any] = {
            "auth_type": "password",
            "www_authenticate_uri": self.conf.get("auth_url", ""),
            "interface": "internal",
            "user_domain_name": "Default",
            "project_domain_name": "Default",
            "http_request_max_retries": "1",  # more would hold threads for seconds, and clients try again themselves
            **self.conf,
            "delay_auth_decision": "false",  # otherwise an unreachable Keystone would look like a bad token
        }

        def pass_on(environ: dict[str, Any], start: Start) -> Iterable[bytes]:
            environ[_PASSED] = True
            return app(environ, start)

        return _with_json_errors(app, auth_token.AuthProtocol(pass_on, conf))

    def check(self, environ: Mapping[str, str], *, is_open: bool, reads: bool) -> None:
        """Raise `HttpError`: 401 without a valid token, 403 if none of its roles allows the request."""
        if is_open:
            return
        if environ.get("HTTP_X_IDENTITY_STATUS") != "Confirmed":
            raise HttpError(401, Unauthorised(_UNAUTHENTICATED, hint="Get a token from Keystone."))
        roles = {role.strip().lower() for role in environ.get("HTTP_X_ROLES", "").split(",")}
        if not roles & (READERS if reads else WRITERS):
            message = f"This needs the role {'reader' if reads else 'admin'} in the project of the token."
            raise HttpError(403, Unauthorised(message))
        if not reads and self.project and not self._is_of_project(environ):
            message = f"This needs the role admin in the project {self.project}, and the token is for another project."
            raise HttpError(403, Unauthorised(message))

    def admits(self, environ: Mapping[str, str]) -> bool:
        """Whether a request has a token. Keystone checks it later, in the thread of the request."""
        return bool(environ.get("HTTP_X_AUTH_TOKEN"))

    def _is_of_project(self, environ: Mapping[str, str]) -> bool:
        if environ.get("HTTP_X_PROJECT_ID") == self.project:
            return True
        if environ.get("HTTP_X_PROJECT_NAME") != self.project:
            return False
        if domain := self.conf.get("project_domain_id"):
            return environ.get("HTTP_X_PROJECT_DOMAIN_ID") == domain
        return environ.get("HTTP_X_PROJECT_DOMAIN_NAME") == self.conf.get("project_domain_name", "Default")


def _with_json_errors(app: Wsgi, middleware: Wsgi) -> Wsgi:
    """Replace the middleware's own pages for a bad token or an unreachable Keystone with JSON."""

    def handle(environ: dict[str, Any], start: Start) -> Iterable[bytes]:
        if environ.get("PATH_INFO", "").rstrip("/") in OPEN:
            return app(environ, start)
        environ.pop(_PASSED, None)
        challenges: list[tuple[str, str]] = []
        refused = ""

        def start_if_passed(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
            nonlocal refused
            if _PASSED in environ:
                return start(status, headers, *rest)
            refused = status
            challenges.extend(header for header in headers if header[0].lower() == "www-authenticate")
            return lambda _data: None

        try:
            body = middleware(environ, start_if_passed)
        except Exception as error:
            if _PASSED in environ:
                raise
            LOG.error("Keystone could not be asked: %s: %s", type(error).__name__, error)
            return _refusal(start, "503", [])
        return body if _PASSED in environ else _refusal(start, refused[:3], challenges)

    return handle


def _refusal(start: Start, status: str, headers: list[tuple[str, str]]) -> Iterable[bytes]:
    """Answer a request that the middleware refuses, in the same JSON as every other error."""
    error: FuelError = Unavailable(
        "The Keystone of this server cannot be reached, or refuses its service user.",
        hint="Try again later; the server's log says more.",
    )
    if status == "401":
        error = Unauthorised(_UNAUTHENTICATED, hint="Get a token from Keystone.")
    content = json.dumps(HttpError(int(status), error).body).encode()
    line = "401 Unauthorized" if status == "401" else "503 Service Unavailable"
    start(line, [("Content-Type", "application/json"), ("Content-Length", str(len(content))), *headers])
    return [content]


_NOT_OF_THE_USER = "This server serves only the user who started it, and the request has no token of theirs."


class LocalToken(Loopback):
    """The policy of a server for its own user: programs that can read its token's file may do everything."""

    name = "token"
    required = True

    def __init__(self) -> None:
        self.token = secrets.token_urlsafe(32)

    def check(self, environ: Mapping[str, str], *, is_open: bool, reads: bool) -> None:
        """Raise `HttpError`: 403 for the request of a web page, 401 without the token."""
        super().check(environ, is_open=is_open, reads=reads)
        token = environ.get("HTTP_X_AUTH_TOKEN", "")
        if not is_open and not hmac.compare_digest(token.encode("utf-8", "replace"), self.token.encode()):
            hint = "Send the token of its file in X-Auth-Token; fuel2 of the same user does so by itself."
            raise HttpError(401, Unauthorised(_NOT_OF_THE_USER, hint=hint))


Policy = Loopback | Keystone
"""The access policies. `name` is the kind of token that clients need: `none`, the `token` of the server's own user, or
`keystone`; `required` is whether they need a token. `check` raises for a request that is not allowed (`reads`: the
request changes nothing). `admits` decides, before a body is read, whether to read it."""


@contextmanager
def token_file(url: str, token: str) -> Iterator[Path]:
    """Keep the token of a server in a file that only its user can read, and yield the path of the file.

    The file is locked as long as the server runs, so that the next server of this user can remove the files of servers
    that were killed. Raise `Unavailable` if the file cannot be written.
    """
    path = Path(path_of(url))
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _remove_unlocked(path.parent)
        new_file = path.with_name(f"{path.name}.{os.getpid()}.new")
        descriptor = os.open(new_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            os.write(descriptor, json.dumps({"url": url, "token": token, "pid": os.getpid()}).encode() + b"\n")
            new_file.replace(path)
        except OSError as error:
            new_file.unlink(missing_ok=True)
            raise _unwritable(path, error) from error
        yield path
    finally:
        with suppress(OSError):  # it may be another server's by now
            if os.path.samestat(path.stat(), os.fstat(descriptor)):
                path.unlink()
        os.close(descriptor)


def _remove_unlocked(directory: Path) -> None:
    """Remove the files of killed servers, recognised by their free locks."""
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
