"""Get tokens from Keystone, or from the token file of a server that this user started, and explain why one was refused.

Keystone v3 through keystoneauth1 (password, application credential, token); v2.0, which masters up to Fuel 10 have,
through python-keystoneclient and the same session. Both libraries are imported when a master needs a token.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import requests

from fuelclient.backends.http.transport import proxies_for, verification
from fuelclient.errors import Unauthorised, Unavailable
from fuelclient.redact import scrubbed
from fuelclient.settings.master import Credentials, Master
from fuelclient.settings.server_tokens import path_of, token_of

if TYPE_CHECKING:
    from keystoneauth1.identity.base import BaseIdentityPlugin
    from keystoneauth1.session import Session as KeystoneSession

_OWN_KEYSTONE = "/keystone"
"""The path of a master's own Keystone, below its own address."""


class Keystone:
    """Tokens for a master. Requests go through `http`, which has time limits."""

    def __init__(self, master: Master, http: requests.Session) -> None:
        self._master = master
        self._http = http
        self._lock = threading.Lock()
        self._session: KeystoneSession | None = None
        self._plugin: BaseIdentityPlugin | None = None
        self._token = ""

    def token(self) -> str:
        """Return the same token until `renew`, even if it has expired by the clock of this machine.

        Raise `Unauthorised` for wrong credentials, `Unavailable` if Keystone cannot be reached.
        """
        if self._master.credentials.token:
            return self._master.credentials.token
        with self._lock:
            if self._plugin is None:
                self._session = self._new_session()
                self._plugin = _plugin(self._master.credentials, *self._address())
            if not self._token:
                with self._translating_errors():
                    self._token = str(self._session.get_token(self._plugin) if self._session else "")
            return self._token

    def renew(self) -> bool:
        """Forget the token. Return whether a new one can be requested."""
        if self._master.credentials.token or self._plugin is None:
            return False
        self._plugin.invalidate()
        self._token = ""
        return True

    def explanation(self) -> str:
        """Describe the user, the project and the roles of the token."""
        if self._plugin is None:
            return "The token in OS_TOKEN was used: it may have expired, or be for another project."
        with contextlib.suppress(Exception):  # this explains another error and must not replace it
            access = self._plugin.auth_ref  # not `get_access`, which may ask for another token
            if access is not None:
                roles = ", ".join(sorted(access.role_names or ())) or "none"
                name = access.username or self._master.credentials.username
                return f"User {name} has these roles in project {access.project_name}: {roles}."
        return "Keystone does not say which roles you have."

    def _new_session(self) -> KeystoneSession:
        from keystoneauth1.session import Session

        self._http.proxies = proxies_for(self._master, self._base())  # keystoneauth passes none itself
        return Session(
            session=self._http, verify=verification(self._master), timeout=self._master.timeout, redirect=False,
            user_agent=str(self._http.headers["User-Agent"]),
        )  # fmt: skip

    def _base(self) -> str:
        return (self._master.credentials.auth_url or f"{self._master.url}{_OWN_KEYSTONE}").rstrip("/")

    def _address(self) -> tuple[str, str]:
        """Keystone's version, and its URL with that version."""
        base = self._base()
        wanted = self._master.credentials.version
        for version, ending in (("3", "/v3"), ("2", "/v2.0")):
            if base.endswith(ending) and wanted in ("", version):
                return version, base
        base = base.removesuffix("/v3").removesuffix("/v2.0")
        version = wanted or self._newest(base)
        if version not in ("2", "3"):
            raise Unauthorised(f"Keystone has no version {version}.", hint="Set OS_IDENTITY_API_VERSION to 2 or 3.")
        return version, f"{base}/{'v3' if version == '3' else 'v2.0'}"

    def _newest(self, base: str) -> str:
        """The newest version that Keystone lists; 2 if a master's own Keystone lists none.

        Only the ids of the versions are read: the addresses in that list may belong to any host.
        """
        verify = verification(self._master)  # this request does not use the session of keystoneauth
        with contextlib.suppress(requests.exceptions.RequestException, ValueError, AttributeError, TypeError):
            response = self._http.get(
                f"{base}/", timeout=self._master.timeout, allow_redirects=False, verify=verify,
                headers={"Accept": "application/json"},
            )  # fmt: skip
            values = response.json()["versions"]["values"]
            return "3" if any(str(value.get("id", "")).startswith("v3") for value in values) else "2"
        return "3" if self._master.credentials.auth_url else "2"

    @contextlib.contextmanager
    def _translating_errors(self) -> Iterator[None]:
        from keystoneauth1 import exceptions

        url = getattr(self._plugin, "auth_url", self._base())
        try:
            yield
        except exceptions.Unauthorized as error:
            raise self._denial(url) from error
        except (exceptions.NotFound, exceptions.InvalidResponse, exceptions.DiscoveryFailure) as error:
            raise Unavailable(f"There is no Keystone at {url}.", hint="Check OS_AUTH_URL and its version.") from error
        except exceptions.connection.SSLError as error:
            hint = "Name its certificate authority with --os-cacert."
            raise Unavailable(f"The certificate of Keystone at {url} cannot be checked.", hint=hint) from error
        except exceptions.connection.ConnectionError as error:
            raise Unavailable(f"Keystone at {url} cannot be reached.", hint="Check OS_AUTH_URL.") from error
        except exceptions.ClientException as error:
            reason = scrubbed(" ".join(str(error).split()), self._master.credentials.secrets)
            raise Unavailable(f"Keystone at {url} cannot give a token: {reason}", hint="Check OS_AUTH_URL.") from error

    def _denial(self, url: str) -> Unauthorised:
        """The error for refused credentials, with the projects that the user may use, if Keystone lists them."""
        credentials = self._master.credentials
        if credentials.application_credential_id:
            return Unauthorised(
                f"Keystone at {url} does not accept the application credential.",
                hint="Check OS_APPLICATION_CREDENTIAL_ID and OS_APPLICATION_CREDENTIAL_SECRET.",
            )
        try:
            projects = self._projects(url)
        except Exception:  # the first refusal is the one to report
            message = f"Keystone at {url} does not accept user {credentials.username} with this password."
            return Unauthorised(message, hint="Check OS_USERNAME, OS_PASSWORD and OS_USER_DOMAIN_NAME.")
        known = ", ".join(projects)
        project = credentials.project_id or credentials.project_name
        return Unauthorised(
            f"User {credentials.username} has no role in project {project}.",
            hint=f"Choose one with OS_PROJECT_NAME: {known}." if known else "The user has no role in any project.",
        )

    def _projects(self, url: str) -> list[str]:
        """The names of the projects that the user may use. Raise any error of Keystone's libraries."""
        from dataclasses import replace

        version = "3" if url.endswith("/v3") else "2"
        unscoped = _plugin(replace(self._master.credentials, project_id="", project_name=""), version, url)
        if version == "3":
            from keystoneclient.v3.client import Client  # type: ignore[import-untyped]  # it has no types

            client: Any = Client(session=self._session, auth=unscoped, endpoint_override=url)
            return sorted(project.name for project in client.auth.projects())
        from keystoneclient.v2_0.client import Client as OldClient  # type: ignore[import-untyped]  # it has none

        old: Any = OldClient(session=self._session, auth=unscoped, endpoint_override=url)
        return sorted(tenant.name for tenant in old.tenants.list())


def _plugin(credentials: Credentials, version: str, url: str) -> BaseIdentityPlugin:
    """Make the plugin that gets tokens; without a project, they are unscoped."""
    from keystoneauth1.identity import v2, v3

    by_id, name = credentials.project_id or None, credentials.project_name or None
    if version == "2":
        return v2.Password(
            url, username=credentials.username, password=credentials.password, tenant_id=by_id,
            tenant_name=None if by_id else name,
        )  # fmt: skip
    if credentials.application_credential_id:
        return v3.ApplicationCredential(
            url, credentials.application_credential_secret,
            application_credential_id=credentials.application_credential_id,
        )  # fmt: skip
    return v3.Password(
        url, username=credentials.username, password=credentials.password,
        user_domain_name=credentials.user_domain_name, project_id=by_id, project_name=None if by_id else name,
        project_domain_name=None if by_id or not name else credentials.project_domain_name,
        unscoped=not (by_id or name),
    )  # fmt: skip


class ServerToken:
    """The token from the file of one server. It is never sent to another address or through a proxy."""

    def __init__(self, url: str) -> None:
        """Raise `Unauthorised` if this user has no token for the server."""
        self._url = url
        self._token = token_of(url)
        if not self._token:
            raise Unauthorised(
                f"{url} serves only the user who started it, and there is no token for this address in {path_of(url)}.",
                hint="Use the address that it printed, as the same user; or start it with --no-auth.",
            )

    def token(self) -> str:
        return self._token

    def renew(self) -> bool:
        """Read the file again. Return whether it has a new token, because the server was restarted."""
        before, self._token = self._token, token_of(self._url) or self._token
        return before != self._token

    def explanation(self) -> str:
        return f"The token of {path_of(self._url)} was used: the server may have been restarted."
