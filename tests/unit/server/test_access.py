"""Who may do what: programs of this machine without authentication, and tokens with roles."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from executions import Executions
from http_api import Api
from refusals import refused

from fuelclient.backends.local import LocalBackend
from fuelclient.errors import FuelError, InvalidDocument, NotFound, UsageError
from fuelclient.server.access import Keystone, Loopback, conf_from, require_loopback
from fuelclient.server.app import application
from fuelclient.server.errors import HttpError

CONF = """\
[keystone_authtoken]
auth_url = http://127.0.0.1:9/v3
username = fuel
password = se%(cret
project_name = service
"""


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    path = tmp_path / "server.conf"
    path.write_text(CONF)
    return path


@pytest.fixture
def guarded(env: Executions, conf: Path) -> Iterator[Api]:
    """A server whose Keystone is away."""
    policy = Keystone({**conf_from(str(conf)), "http_request_max_retries": "0", "http_connect_timeout": "1"})
    app = application(lambda: LocalBackend(str(env.engine)), auth=policy)
    yield Api(app)
    app.extensions["fuelclient"].close()


@pytest.mark.parametrize("host", ["localhost:8000", "127.0.0.1", "[::1]:8000", "LOCALHOST"])
def test_programs_of_this_machine_may_do_everything(api: Api, host: str) -> None:
    assert api.ask("GET", "clusters", headers={"Host": host})
    assert api.ask("GET", "clusters", headers={"Host": host, "Origin": f"http://{host}"})


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "rebound.example.org"},
        {"Host": "10.20.0.2:8000"},
        {"Host": "[::1"},
        {"Origin": "http://example.org"},
        {"Origin": "null"},
        {"Origin": "http://[example.org"},
        {"Host": "localhost", "Origin": "http://127.0.0.1"},
    ],
)
def test_web_pages_are_refused(api: Api, headers: dict[str, str]) -> None:
    body = {"name": "x", "release_id": 1}
    assert "This server" in api.refusal("POST", "clusters", body, status=403, headers=headers)
    assert len(api.ask("GET", "clusters")) == 1


@pytest.mark.parametrize("host", ["0.0.0.0", "10.20.0.2", "::", "example.org", ""])  # noqa: S104 (that is the point)
def test_server_without_authentication_listens_on_this_machine(host: str) -> None:
    with refused(UsageError, "this machine"):
        require_loopback(host)


def test_the_version_needs_no_token(guarded: Api) -> None:
    assert guarded.ask("GET", "version")["auth_required"] is True
    assert guarded.ask("GET", "openapi.json")["components"]["securitySchemes"]


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X-Auth-Token": ""},
        {"X-Identity-Status": "Confirmed", "X-Roles": "admin"},  # only the middleware may say so
    ],
)
def test_without_a_token_nothing_is_told(guarded: Api, headers: dict[str, str]) -> None:
    answer = guarded.raw("GET", "clusters", headers=headers)
    assert answer.status_code == 401
    assert answer.get_json()["message"] == "The request you have made requires authentication."
    assert answer.headers["WWW-Authenticate"].startswith("Keystone uri=")


def test_a_keystone_that_is_away_is_told_in_json(guarded: Api) -> None:
    told = guarded.refusal("GET", "clusters", status=503, headers={"X-Auth-Token": "some-token"})
    assert "cannot be reached" in told


@pytest.mark.parametrize(
    ("roles", "method", "status"),
    [
        ("reader", "GET", 0),
        ("Reader,other", "HEAD", 0),
        ("admin", "DELETE", 0),
        ("member, admin", "POST", 0),
        ("reader", "POST", 403),
        ("member", "PUT", 403),
        ("manager", "DELETE", 403),
        ("", "GET", 403),
        ("service", "GET", 403),
    ],
)
def test_roles(roles: str, method: str, status: int) -> None:
    environ = {"HTTP_X_IDENTITY_STATUS": "Confirmed", "HTTP_X_ROLES": roles, "REQUEST_METHOD": method}
    found = 0
    try:
        Keystone({}).check(environ, is_open=False, reads=method in ("GET", "HEAD"))
    except HttpError as refused:
        found = refused.status
    assert found == status


PROJECT = {"HTTP_X_PROJECT_ID": "p1", "HTTP_X_PROJECT_NAME": "fuel", "HTTP_X_PROJECT_DOMAIN_NAME": "Default",
           "HTTP_X_PROJECT_DOMAIN_ID": "default"}  # fmt: skip


@pytest.mark.parametrize(
    ("project", "conf", "method", "changed", "status"),
    [
        ("fuel", {}, "POST", {}, 0),
        ("p1", {}, "POST", {}, 0),
        ("", {}, "POST", {"HTTP_X_PROJECT_ID": "p2"}, 0),
        ("other", {}, "POST", {}, 403),
        ("other", {}, "GET", {}, 0),
        ("p1", {}, "POST", {"HTTP_X_PROJECT_ID": "p2"}, 403),
        ("fuel", {}, "POST", {"HTTP_X_PROJECT_DOMAIN_NAME": "theirs", "HTTP_X_PROJECT_DOMAIN_ID": "d2"}, 403),
        ("fuel", {"project_domain_name": "theirs"}, "POST", {"HTTP_X_PROJECT_DOMAIN_NAME": "theirs"}, 0),
        ("fuel", {"project_domain_id": "default"}, "POST", {"HTTP_X_PROJECT_DOMAIN_NAME": "Renamed"}, 0),
        ("fuel", {"project_domain_id": "default"}, "POST", {"HTTP_X_PROJECT_DOMAIN_ID": "d2"}, 403),
    ],
)
def test_writers_of_one_project_only(
    project: str, conf: dict[str, str], method: str, changed: dict[str, str], status: int
) -> None:
    environ = {"HTTP_X_IDENTITY_STATUS": "Confirmed", "HTTP_X_ROLES": "admin", "REQUEST_METHOD": method}
    found = 0
    try:
        Keystone(conf, project).check({**environ, **PROJECT, **changed}, is_open=False, reads=method in ("GET", "HEAD"))
    except HttpError as refused:
        found = refused.status
    assert found == status


def test_a_token_of_no_project_is_of_none() -> None:
    environ = {"HTTP_X_IDENTITY_STATUS": "Confirmed", "HTTP_X_ROLES": "admin", "REQUEST_METHOD": "POST"}
    with pytest.raises(HttpError, match="admin in the project fuel"):
        Keystone({"project_domain_name": ""}, "fuel").check(environ, is_open=False, reads=False)


def test_a_body_is_read_only_of_a_request_with_a_token() -> None:
    assert [Keystone({}).admits(environ) for environ in ({}, {"HTTP_X_AUTH_TOKEN": "x"})] == [False, True]
    assert [Loopback().admits({"HTTP_HOST": host}) for host in ("localhost:8000", "example.org")] == [True, False]


def test_a_token_that_is_no_good() -> None:
    environ: dict[str, Any] = {"HTTP_X_IDENTITY_STATUS": "Invalid", "HTTP_X_ROLES": "admin", "REQUEST_METHOD": "GET"}
    with pytest.raises(HttpError) as caught:
        Keystone({}).check(environ, is_open=False, reads=True)
    assert caught.value.status == 401
    Keystone({}).check(environ, is_open=True, reads=True)


def test_the_service_user_is_read_from_a_file(conf: Path) -> None:
    assert conf_from(str(conf)) == {
        "auth_url": "http://127.0.0.1:9/v3", "username": "fuel", "password": "se%(cret", "project_name": "service",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "words", "absent"),
    [
        ("", "has no", ["auth_url", "username", "password", "project_name"]),
        (CONF.replace("password = se%(cret\n", ""), "has no", ["password"]),
        ("secret words", "INI file", []),
    ],
)
def test_files_without_a_service_user(tmp_path: Path, text: str, words: str, absent: list[str]) -> None:
    path = tmp_path / "server.conf"
    path.write_text(text)
    with refused(InvalidDocument, path, words) as caught:
        conf_from(str(path))
    keys = ("auth_url", "username", "password", "project_name")
    assert [key for key in keys if f"no {key}" in caught.value.message] == absent
    assert "secret" not in str(caught.value)


def test_a_file_that_there_is_not(tmp_path: Path) -> None:
    for path, kind in ((tmp_path / "no", NotFound), (tmp_path, InvalidDocument)):
        with pytest.raises(FuelError) as caught:
            conf_from(str(path))
        assert type(caught.value) is kind
