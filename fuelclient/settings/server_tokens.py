"""The files in which servers on this machine store the tokens for their own users, and how clients find them."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from urllib.parse import urlsplit

from fuelclient.settings.registry import DATA_HOME, expand


def directory(environ: Mapping[str, str] | None = None) -> str:
    """The directory with one file for each server of this user."""
    environ = os.environ if environ is None else environ
    return os.path.join(environ.get("XDG_DATA_HOME") or expand(DATA_HOME, environ), "fuel", "servers")


def path_of(url: str) -> str:
    """The file with the token of the server at `url`, which names an address and a port.

    >>> os.path.basename(path_of("http://127.0.0.1:8000")), os.path.basename(path_of("http://[::1]:8000"))
    ('127.0.0.1-8000.json', '__1-8000.json')
    """
    parts = urlsplit(url)
    return os.path.join(directory(), f"{(parts.hostname or '').replace(':', '_')}-{parts.port}.json")


def token_of(url: str) -> str:
    """The token for exactly this URL; empty unless a file names this URL and only this user can read it.

    A name such as `localhost` has no token: it may lead to the server of another user.
    """
    try:
        with open(path_of(url), encoding="utf-8") as file:
            status = os.fstat(file.fileno())
            if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o077:
                return ""
            document = json.load(file)
    except (OSError, ValueError):
        return ""
    if not isinstance(document, dict) or document.get("url") != url:
        return ""
    return str(document.get("token", ""))
