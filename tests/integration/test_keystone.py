"""A real Keystone before our server: who gets in, who may write, and what is said to everybody else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

pytest.importorskip("keystonemiddleware", reason="the server comes with the extra [server]")

from command_line import Done, tiny_engine
from integration.cached_environments import Absent
from integration.keystone_server import PASSWORD, installed
from integration.keystone_site import SECRETS, Site, server, site
from processes import eventually

from fuelclient.backends.base import Backend
from fuelclient.backends.connected import connected
from fuelclient.settings.master import Master

pytestmark = pytest.mark.slow

UNAVAILABLE, UNAUTHORISED = 3, 4
SHORT = 10
"""Seconds that the tokens live whose end a test waits for."""


@pytest.fixture(scope="session", autouse=True)
def _keystone_is_installed() -> None:
    try:
        installed()
    except Absent as error:
        pytest.skip(f"Keystone cannot be had: {error}")


@pytest.fixture(scope="session")
def shared(_keystone_is_installed: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site that all tests use which leave it as it was."""
    with site(tmp_path_factory.mktemp("keystone")) as found:
        yield found


def names(done: Done) -> list[str]:
    """The environments of a listing."""
    assert done.code == 0, done
    return [one["name"] for one in json.loads(done.out)]


def asked(at: Site, token: str) -> tuple[int, Any]:
    """The status and the JSON of an answer of the server, without any client of ours."""
    headers = {"X-Auth-Token": token} if token else {}
    answer = requests.get(f"{at.url}/api/v1/clusters/", headers=headers, timeout=60)
    assert answer.headers["Content-Type"] == "application/json"
    return answer.status_code, answer.json()


def backend(at: Site) -> Backend:
    """A client in this process, which keeps its token."""
    return connected(Master(at.url, at.credentials))


def test_an_administrator_reads_and_writes(shared: Site) -> None:
    assert "prod" in names(shared.admin("env", "list", "-f", "json"))
    assert shared.admin("env", "create", "another", "--release", 1).code == 0
    assert names(shared.admin("env", "list", "-f", "json")) == ["prod", "another"]
    assert shared.admin("env", "delete", 2).code == 0


def test_a_reader_reads_and_does_not_write(shared: Site) -> None:
    assert names(shared.user("reader", "env", "list", "-f", "json")) == ["prod"]
    refused = shared.user("reader", "graph", "delete", "--env", 1, "--type", "default")
    assert refused.code == UNAUTHORISED, refused
    assert "needs the role admin" in refused.err
    assert "User reader has these roles in project admin: reader." in refused.err
    assert shared.admin("graph", "download", "--env", 1, "--cluster", "--file", "-").code == 0


@pytest.mark.parametrize("name", ["admin", "reader", "stranger"])
def test_a_wrong_password(shared: Site, name: str) -> None:
    refused = shared.fuel2("env", "list", username=name, password="wr0ng-one")  # noqa: S106 (it is wrong)
    assert refused.code == UNAUTHORISED, refused
    assert f"does not accept user {name} with this password" in refused.err
    assert "OS_PASSWORD" in refused.err
    assert "wr0ng-one" not in refused.err
    assert refused.out == ""


def test_a_user_without_roles(shared: Site) -> None:
    refused = shared.user("nobody", "env", "list")
    assert refused.code == UNAUTHORISED, refused
    assert "User nobody has no role in project admin. The user has no role in any project." in refused.err


def test_another_project_is_told_with_those_there_are(shared: Site) -> None:
    refused = shared.fuel2("env", "list", username="admin", password=PASSWORD, project_name="service")
    assert refused.code == UNAUTHORISED, refused
    assert "no role in project service. Choose one with OS_PROJECT_NAME: admin." in refused.err


def test_roles_that_allow_nothing(shared: Site) -> None:
    status, told = asked(shared, shared.token("nailgun", SECRETS["nailgun"], "service"))
    assert (status, told["message"]) == (403, "This needs the role reader in the project of the token.")
    assert asked(shared, shared.token(project=None))[0] == 403
    refused = shared.fuel2("env", "list", username="nailgun", password=SECRETS["nailgun"], project_name="service")
    assert refused.code == UNAUTHORISED, refused
    assert "User nailgun has these roles in project service: service." in refused.err


def test_no_credentials(shared: Site) -> None:
    refused = shared.fuel2("env", "list")
    assert refused.code == UNAUTHORISED, refused
    assert "needs credentials. Set OS_USERNAME, OS_PASSWORD and OS_PROJECT_NAME" in refused.err
    status, told = asked(shared, "")
    assert (status, told["message"]) == (401, "The request you have made requires authentication.")


def test_an_application_credential(shared: Site) -> None:
    made = shared.client().application_credentials.create("of-a-test")
    good = {"application_credential_id": made.id, "application_credential_secret": made.secret}
    assert names(shared.fuel2("env", "list", "-f", "json", **good)) == ["prod"]
    refused = shared.fuel2("env", "list", **{**good, "application_credential_secret": "no-s3cr3t"})
    assert refused.code == UNAUTHORISED, refused
    assert "does not accept the application credential. Check OS_APPLICATION_CREDENTIAL_ID" in refused.err
    assert "no-s3cr3t" not in refused.err


def test_a_token(shared: Site) -> None:
    assert names(shared.fuel2("env", "list", "-f", "json", token=shared.token())) == ["prod"]
    refused = shared.fuel2("env", "list", token="no-token")  # noqa: S106 (it is none)
    assert refused.code == UNAUTHORISED, refused
    assert "The token in OS_TOKEN was used: it may have expired" in refused.err


def test_a_revoked_token(shared: Site) -> None:
    token = shared.token()
    assert asked(shared, token)[0] == 200
    shared.client().tokens.revoke_token(token)
    assert asked(shared, token)[0] == 401
    assert shared.fuel2("env", "list", token=token).code == UNAUTHORISED


def test_a_revoked_token_is_replaced_by_who_has_a_password(shared: Site) -> None:
    client: Any = backend(shared)
    assert len(client.clusters.list()) == 1
    keystone = client.session._token_source
    assert keystone is not None
    before = keystone.token()
    shared.client().tokens.revoke_token(before)
    assert asked(shared, before)[0] == 401
    assert len(client.clusters.list()) == 1
    assert keystone.token() != before
    client.close()


def test_a_user_who_has_left(shared: Site) -> None:
    token = shared.token("leaver", SECRETS["leaver"])
    assert asked(shared, token)[0] == 200
    people = shared.client().users
    people.update(next(one for one in people.list() if one.name == "leaver"), enabled=False)
    assert asked(shared, token)[0] == 401
    assert shared.user("leaver", "env", "list").code == UNAUTHORISED


def test_a_version_that_keystone_has_no_more(shared: Site) -> None:
    old = shared.keystone.url.replace("/v3", "/v2.0")
    refused = shared.fuel2("env", "list", username="admin", password=PASSWORD, auth_url=old)
    assert refused.code == UNAVAILABLE, refused
    assert f"There is no Keystone at {old}. Check OS_AUTH_URL and its version." in refused.err


def test_writers_of_one_project_only(shared: Site, tmp_path: Path) -> None:
    client = shared.client()
    role = next(one for one in client.roles.list() if one.name == "admin")
    user = next(one for one in client.users.list() if one.name == "admin")
    other = client.projects.create("elsewhere", "default")
    client.roles.grant(role, user=user, project=other)
    tiny_engine(tmp_path)
    place = Site(shared.keystone, tmp_path, "")
    with server(place, SECRETS["nailgun"], "--keystone-project", "admin") as narrow:
        assert narrow.admin("env", "create", "another", "--release", 1).code == 0
        token = narrow.token(project="elsewhere")
        assert asked(narrow, token)[0] == 200
        refused = narrow.fuel2("env", "delete", 2, token=token)
        assert refused.code == UNAUTHORISED, refused
        assert "needs the role admin in the project admin, and the token is for another" in refused.err
        assert narrow.admin("env", "delete", 2).code == 0
    with server(place, SECRETS["nailgun"], "--keystone-project", other.id) as narrow:
        assert narrow.fuel2("env", "create", "third", "--release", 1, token=token).code == 0
        assert narrow.admin("env", "delete", 1).code == UNAUTHORISED
    client.projects.delete(other)


def test_a_service_user_with_a_wrong_password(shared: Site, tmp_path: Path) -> None:
    with server(Site(shared.keystone, tmp_path, ""), "wr0ng-service") as wrong:
        status, told = asked(wrong, shared.token())
        assert status == 503
        assert "cannot be reached, or refuses its service user" in told["message"]
        refused = wrong.fuel2("env", "list", token=shared.token())
        assert refused.code == UNAVAILABLE, refused
        assert "refuses its service user" in refused.err
        assert "wr0ng-service" not in wrong.log()


def test_expired_tokens_and_a_restarted_keystone(tmp_path: Path) -> None:
    with site(tmp_path, expiration=SHORT) as short:
        client = backend(short)
        assert len(client.clusters.list()) == 1
        token = short.token()
        assert eventually(lambda: asked(short, token)[0] == 401, 10 * SHORT)
        refused = short.fuel2("env", "list", token=token)
        assert refused.code == UNAUTHORISED, refused
        assert "it may have expired" in refused.err
        assert len(client.clusters.list()) == 1  # a new token, by itself
        client.close()
        token = short.token()
        short.keystone.stop()
        _is_told(short, token)
        short.keystone.start()
        assert names(short.admin("env", "list", "-f", "json")) == ["prod"]


def _is_told(at: Site, token: str) -> None:
    """Everybody hears that Keystone is away."""
    status, told = asked(at, token)
    assert status == 503
    assert "Keystone of this server cannot be reached" in told["message"]
    refused = at.fuel2("env", "list", token=token)
    assert refused.code == UNAVAILABLE, refused
    assert "Keystone of this server cannot be reached" in refused.err
    refused = at.admin("env", "list")
    assert refused.code == UNAVAILABLE, refused
    assert f"Keystone at {at.keystone.url} cannot be reached. Check OS_AUTH_URL." in refused.err
