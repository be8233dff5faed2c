"""Keystone: tokens are checked by keystonemiddleware, and what their roles may do is decided here.

The middleware stands before all paths but the open ones (clients ask for the version to learn that they need a token),
and says in the environment what it found out about a good token. It strips what clients themselves say there.
"""

from __future__ import annotations

import configparser
import json
from collections.abc import Iterable, Mapping
from typing import Any

from fuelclient.errors import FuelError, InvalidDocument, NotFound, Unauthorised, Unavailable
from fuelclient.serializers.finding import error_to
from fuelclient.server.refusals import Refused
from fuelclient.server.routes import PREFIX
from fuelclient.server.tracing import LOG, Start, Wsgi

READERS = frozenset({"reader", "member", "manager", "admin"})
WRITERS = frozenset({"admin"})
OPEN = frozenset(f"{PREFIX}/{path}" for path in ("version", "openapi.json"))
"""The paths that need no token."""

_REACHED = "fuelclient.authenticated"
_UNAUTHENTICATED = "The request you have made requires authentication."
_SECTION = "keystone_authtoken"
_NEEDED = ("auth_url", "username", "password", "project_name")
_SAMPLE = f"Write a section [{_SECTION}] with {', '.join(_NEEDED)}, user_domain_name and project_domain_name."
_READING = frozenset({"GET", "HEAD"})


def conf_from(path: str) -> dict[str, str]:
    """The options of the section `keystone_authtoken` of an INI file, as other OpenStack services have it.

    Raises `NotFound` for an absent file, `InvalidDocument` for one that cannot be read or lacks the section or one of
    the options that are needed. What the file holds is in no message: it has a password.
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
        raise InvalidDocument(f"{path} is no INI file in UTF-8.", hint=_SAMPLE) from error
    found = dict(parser[_SECTION]) if parser.has_section(_SECTION) else {}
    lacking = [name for name in _NEEDED if not found.get(name)]
    if lacking:
        raise InvalidDocument(f"{path}: the section {_SECTION} has no {', no '.join(lacking)}.", hint=_SAMPLE)
    return found


class Keystone:
    """The policy of a server that checks tokens: readers may read, administrators may write and execute.

    `conf` are the options of keystonemiddleware's `keystone_authtoken`: `auth_url`, and the credentials of a service
    user that may validate tokens. `project` is the only one whose administrators may write, by its id, or by its name
    in the domain of the service user's project: names are unique in one domain only, and who rules another one could
    call a project alike. Empty: administrators of any project, as OpenStack's services have it by tradition.
    """

    required = True

    def __init__(self, conf: Mapping[str, str], project: str = "") -> None:
        self.conf = dict(conf)
        self.project = project

    def wrap(self, app: Wsgi) -> Wsgi:
        """The application behind the middleware, but for what is open; what the middleware refuses is told in JSON."""
        from keystonemiddleware import auth_token  # type: ignore[import-untyped]  # it has no types

        url = self.conf.get("auth_url", "")
        conf: dict[str, Any] = {
            "auth_type": "password",
            "www_authenticate_uri": url,
            "interface": "internal",
            "user_domain_name": "Default",
            "project_domain_name": "Default",
            "http_request_max_retries": "1",  # more would hold threads for seconds, and clients try again themselves
            **self.conf,
            "delay_auth_decision": "false",  # else a Keystone that is away would look like a bad token
        }
        return _in_json(app, auth_token.AuthProtocol(_marked(app), conf))

    def check(self, environ: Mapping[str, str], *, is_open: bool) -> None:
        """Nothing happens for what the token allows. `Refused`: 401 without a good token, 403 when none of its roles
        allows the method."""
        if is_open:
            return
        if environ.get("HTTP_X_IDENTITY_STATUS") != "Confirmed":
            raise Refused(401, _UNAUTHENTICATED, Unauthorised(_UNAUTHENTICATED, hint="Get a token of Keystone."))
        roles = {role.strip().lower() for role in environ.get("HTTP_X_ROLES", "").split(",")}
        reads = environ.get("REQUEST_METHOD") in _READING
        if not roles & (READERS if reads else WRITERS):
            wanted = "reader" if reads else "admin"
            message = f"The role {wanted} is needed for this, in the project of the token."
            raise Refused(403, message, Unauthorised(message))
        if not reads and self.project and not self._is_of_project(environ):
            message = f"The role admin is needed for this in the project {self.project}, and the token is for another."
            raise Refused(403, message, Unauthorised(message))

    def _is_of_project(self, environ: Mapping[str, str]) -> bool:
        if environ.get("HTTP_X_PROJECT_ID") == self.project:
            return True
        if environ.get("HTTP_X_PROJECT_NAME") != self.project:
            return False
        if domain := self.conf.get("project_domain_id"):
            return environ.get("HTTP_X_PROJECT_DOMAIN_ID") == domain
        return environ.get("HTTP_X_PROJECT_DOMAIN_NAME") == self.conf.get("project_domain_name", "Default")


def _marked(app: Wsgi) -> Wsgi:
    """`app`, which leaves a mark in the environment of every request that reaches it."""

    def answer(environ: dict[str, Any], start: Start) -> Iterable[bytes]:
        environ[_REACHED] = True
        return app(environ, start)

    return answer


def _in_json(app: Wsgi, checked: Wsgi) -> Wsgi:
    """`checked`, which has its own pages for a bad token and for a Keystone that is away, with JSON in their place."""

    def answer(environ: dict[str, Any], start: Start) -> Iterable[bytes]:
        if environ.get("PATH_INFO", "").rstrip("/") in OPEN:
            return app(environ, start)
        environ.pop(_REACHED, None)
        held: list[tuple[str, str]] = []
        status = ""

        def started(said: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
            nonlocal status
            if _REACHED in environ:
                return start(said, headers, *rest)
            status = said
            held.extend(one for one in headers if one[0].lower() == "www-authenticate")
            return lambda _data: None

        try:
            body = checked(environ, started)
        except Exception as error:
            if _REACHED in environ:
                raise
            LOG.error("Keystone could not be asked: %s: %s", type(error).__name__, error)
            return _refusal(start, "503", [])
        return body if _REACHED in environ else _refusal(start, status[:3], held)

    return answer


def _refusal(start: Start, status: str, headers: list[tuple[str, str]]) -> Iterable[bytes]:
    """What the middleware refuses, as every other error is told."""
    error: FuelError = Unavailable(
        "The Keystone of this server cannot be reached, or refuses its service user.",
        hint="Try again later; the server's log says more.",
    )
    if status == "401":
        error = Unauthorised(_UNAUTHENTICATED, hint="Get a token of Keystone.")
    content = json.dumps(error_to(error, error.message)).encode()
    told = "401 Unauthorized" if status == "401" else "503 Service Unavailable"
    start(told, [("Content-Type", "application/json"), ("Content-Length", str(len(content))), *headers])
    return [content]
