"""Tokens: how they are asked for, kept, replaced when they run out, and what is said when there is none.

Keystone here is a small server of these tests that speaks v2.0 and v3; the integration tests have a real one.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from faulty_master import Request, Server, closed_port, serving
from refusals import refused

from fuelclient.backends.base import Backend
from fuelclient.backends.connected import connected
from fuelclient.errors import Unauthorised, Unavailable
from fuelclient.settings.master import Credentials, Master

PASSWORD = "right"  # noqa: S105 (of a server of this test)
ADMIN = Credentials(username="admin", password=PASSWORD)
SECRET = "s3cr3t"  # noqa: S105 (as above)


@dataclass
class Keystone:
    """What a master with Keystone behind `/keystone` does: it gives tokens, and takes those that are `good`."""

    versions: tuple[str, ...] = ("v2.0", "v3.14")
    roles: tuple[str, ...] = ("admin",)
    good: set[str] = field(default_factory=set)
    numbers: Iterator[int] = field(default_factory=itertools.count)
    status: int = 403
    year: int = 2099
    """When tokens run out, by the clock of this machine."""

    def __call__(self, request: Request) -> None:
        path = request.path.removeprefix("/keystone")
        if request.path == "/api/v1/version":
            request.json({"auth_required": True})
        elif request.path.startswith("/api/"):
            self._nailgun(request)
        elif path in ("/", ""):
            href = "http://192.0.2.1/elsewhere"  # whoever followed this would send a password away
            values = [{"id": one, "links": [{"href": href}]} for one in self.versions]
            request.json({"versions": {"values": values}}, 300)
        elif path == "/v3/auth/tokens" and any(one.startswith("v3") for one in self.versions):
            self._v3(request, request.server.asked[-1].body["auth"])
        elif path == "/v2.0/tokens" and "v2.0" in self.versions:
            self._v2(request, request.server.asked[-1].body["auth"])
        elif path == "/v3/auth/projects":
            request.json({"projects": [{"id": "p1", "name": "admin"}, {"id": "p2", "name": "other"}]})
        elif path == "/v2.0/tenants":
            request.json({"tenants": [{"id": "p1", "name": "admin"}]})
        else:
            request.json({"error": {"message": "no such path", "code": 404}}, 404)

    def _nailgun(self, request: Request) -> None:
        if request.headers.get("X-Auth-Token") not in self.good:
            request.json({"message": "Authentication required"}, 401)
        elif request.path == "/api/v1/plugins/":
            request.json({"message": "You may not do that"}, self.status)
        else:
            request.json([])

    def _v3(self, request: Request, auth: Any) -> None:
        identity = auth["identity"]
        stated = identity.get("password", {}).get("user", {}).get("password")
        secret = identity.get("application_credential", {}).get("secret")
        project = auth.get("scope", {}).get("project", {}).get("name") if isinstance(auth.get("scope"), dict) else None
        if (stated != PASSWORD and secret != SECRET) or project not in (None, "admin"):
            request.json({"error": {"message": "The request needs authentication.", "code": 401}}, 401)
            return
        token = self._new()
        access: dict[str, Any] = {
            "methods": identity["methods"], "user": {"id": "u1", "name": "admin", "domain": {"id": "d", "name": "D"}},
            "expires_at": f"{self.year}-01-01T00:00:00.000000Z", "issued_at": "2026-01-01T00:00:00.000000Z",
        }  # fmt: skip
        if project or secret:
            access["project"] = {"id": "p1", "name": "admin", "domain": {"id": "d", "name": "D"}}
            access["roles"] = [{"id": one, "name": one} for one in self.roles]
        request.json({"token": access}, 201, X_Subject_Token=token)

    def _v2(self, request: Request, auth: Any) -> None:
        tenant = auth.get("tenantName")
        if auth["passwordCredentials"]["password"] != PASSWORD or tenant not in (None, "admin"):
            request.json({"error": {"message": "The request needs authentication.", "code": 401}}, 401)
            return
        token: dict[str, Any] = {"id": self._new(), "expires": "2099-01-01T00:00:00Z"}
        if tenant:
            token["tenant"] = {"id": "p1", "name": tenant}
        user = {"id": "u1", "name": "admin", "username": "admin", "roles": [{"name": one} for one in self.roles]}
        request.json({"access": {"token": token, "user": user, "serviceCatalog": []}})

    def _new(self) -> str:
        token = f"token-{next(self.numbers)}"
        self.good.add(token)
        return token


@contextmanager
def master(
    keystone: Keystone, credentials: Credentials = ADMIN, auth_url: str = ""
) -> Iterator[tuple[Backend, Server]]:
    """A client with `credentials` of a master with such a Keystone."""
    with serving(keystone) as server:
        url = auth_url.format(url=server.url)
        backend = connected(Master(server.url, replace(credentials, auth_url=url), timeout=10))
        yield backend, server
        backend.close()


def paths(server: Server) -> list[str]:
    return [one.path for one in server.asked]


@pytest.mark.parametrize(
    ("versions", "auth_url", "asked"),
    [
        (("v2.0", "v3.14"), "", "/keystone/v3/auth/tokens"),
        (("v2.0",), "", "/keystone/v2.0/tokens"),
        (("v2.0", "v3.14"), "{url}/keystone/v2.0", "/keystone/v2.0/tokens"),
        (("v2.0", "v3.14"), "{url}/keystone/v3/", "/keystone/v3/auth/tokens"),
        (("v3.14",), "{url}/keystone", "/keystone/v3/auth/tokens"),
    ],
)
def test_a_token_of_the_version_that_there_is(versions: tuple[str, ...], auth_url: str, asked: str) -> None:
    with master(Keystone(versions), auth_url=auth_url) as (backend, server):
        assert list(backend.clusters.list()) == []
        assert list(backend.nodes.list()) == []
        assert [one for one in paths(server) if "tokens" in one] == [asked]
        assert server.asked[-1].token == "token-0"  # noqa: S105 (of this server)


def test_a_version_can_be_demanded() -> None:
    credentials = Credentials(username="admin", password=PASSWORD, version="2")
    with master(Keystone(), credentials) as (backend, server):
        backend.clusters.list()
        assert paths(server)[1] == "/keystone/v2.0/tokens"
    with (
        master(Keystone(), Credentials(username="admin", password=PASSWORD, version="7")) as (backend, _),
        refused(Unauthorised, "OS_IDENTITY_API_VERSION", 2, 3),
    ):
        backend.clusters.list()


def test_an_application_credential_names_no_user() -> None:
    credentials = Credentials(application_credential_id="ac1", application_credential_secret=SECRET)
    with master(Keystone(), credentials) as (backend, server):
        backend.clusters.list()
        body = next(one.body for one in server.asked if one.path.endswith("/tokens"))
        assert body["auth"]["identity"]["methods"] == ["application_credential"]


@pytest.mark.parametrize("versions", [("v2.0",), ("v3.14",)])
def test_a_token_that_ran_out_is_replaced_once(versions: tuple[str, ...]) -> None:
    keystone = Keystone(versions)
    with master(keystone) as (backend, server):
        backend.clusters.list()
        keystone.good.clear()
        assert list(backend.clusters.list()) == []
        assert [one.token for one in server.asked if one.path == "/api/v1/clusters/"] == [
            "token-0", "token-0", "token-1",
        ]  # fmt: skip


@pytest.mark.parametrize(
    ("version", "path"), [("v2.0", "/keystone/v2.0/tokens"), ("v3.14", "/keystone/v3/auth/tokens")]
)
@pytest.mark.parametrize("year", [1999, 2099])
def test_one_token_is_asked_for_whatever_the_clock_says(version: str, path: str, year: int) -> None:
    """The clock of this machine may be ahead of the master's, which alone judges a token."""
    with master(Keystone((version,), year=year)) as (backend, server):
        backend.clusters.list()
        backend.releases.list()
        with refused(Unauthorised, "project admin: admin"):
            backend.plugins.list()
        assert [one for one in paths(server) if one.endswith("/tokens")] == [path]


def test_token_that_is_never_valid_is_not_requested_for_ever() -> None:
    keystone = Keystone()
    keystone.good = _Nothing()
    with master(keystone) as (backend, server):
        with refused(Unauthorised, "user admin", "project admin: admin"):
            backend.clusters.list()
        assert sum("tokens" in one for one in paths(server)) == 2


class _Nothing(set[str]):
    """Whatever is added, nothing is in it."""

    def add(self, _token: str, /) -> None:
        """Nothing is added."""


@pytest.mark.parametrize("versions", [("v2.0",), ("v3.14",)])
def test_a_wrong_password_is_told_and_not_shown(versions: tuple[str, ...]) -> None:
    credentials = Credentials(username="admin", password="wr0ng-password")  # noqa: S106 (it is wrong)
    with master(Keystone(versions), credentials) as (backend, _):
        with refused(Unauthorised, "user admin", "OS_PASSWORD") as caught:
            backend.clusters.list()
        assert "wr0ng" not in str(caught.value)


@pytest.mark.parametrize(("versions", "known"), [(("v2.0",), "admin"), (("v3.14",), "admin, other")])
def test_a_wrong_project_is_told_with_those_there_are(versions: tuple[str, ...], known: str) -> None:
    credentials = Credentials(username="admin", password=PASSWORD, project_name="nobodys")
    with (
        master(Keystone(versions), credentials) as (backend, _),
        refused(Unauthorised, "project nobodys", f"OS_PROJECT_NAME: {known}."),
    ):
        backend.clusters.list()


def test_what_is_forbidden_is_told_with_ones_roles() -> None:
    with (
        master(Keystone(roles=("reader", "auditor"))) as (backend, _),
        refused(Unauthorised, "project admin: auditor, reader"),
    ):
        backend.plugins.list()


def test_a_keystone_that_is_away_is_told() -> None:
    url = f"http://127.0.0.1:{closed_port()}/v3"
    with (
        master(Keystone(), auth_url=url) as (backend, _),
        refused(Unavailable, f"Keystone at {url}"),
    ):
        backend.clusters.list()


def test_what_is_no_keystone_is_told() -> None:
    def welcome(request: Request) -> None:
        request.text("<html>Welcome</html>")

    with (
        serving(welcome) as other,
        master(Keystone(), auth_url=f"{other.url}/v3") as (backend, _),
        refused(Unavailable, "Keystone"),
    ):
        backend.clusters.list()


@pytest.mark.parametrize("status", [302, 307])
def test_redirecting_keystone_gets_no_password_sent_elsewhere(status: int) -> None:
    with serving(lambda request: request.json({})) as other:

        def away(request: Request) -> None:
            request.text("", status, Location=f"{other.url}/v3/auth/tokens")

        with (
            serving(away) as keystone,
            master(Keystone(), auth_url=f"{keystone.url}/v3") as (backend, _),
            refused(Unavailable, "Keystone"),
        ):
            backend.clusters.list()
        assert other.asked == []
