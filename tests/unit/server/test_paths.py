"""Every path: both of its forms, wrong methods, and the shape of errors."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import NoReturn

import jsonschema
import pytest
from executions import Executions, executions, shell
from http_api import Api

from fuelclient import __version__
from fuelclient.errors import Unavailable
from fuelclient.server.app import application, routes
from fuelclient.server.routes import Route

ROUTES = routes(auth_required=False)
READING = [route for route in ROUTES if route.method == "GET"]
REFUSED = "nodes/{node_id}/disks/defaults"
"""What the engine never answers: it divides no disks."""
FILLED = {
    "{cluster_id}": "1", "{release_id}": "1", "{node_id}": "1", "{graph_id}": "1", "{sequence_id}": "1",
    "{transaction_id}": "1", "{graph_type}": "default", "{name}": "compute", "{level}": "own",
    "{vip_id}": "1",
}  # fmt: skip


def filled(path: str) -> str:
    for part, value in FILLED.items():
        path = path.replace(part, value)
    return path


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """A server that has one of everything but a plugin; for reading only."""
    env = executions(tmp_path_factory.mktemp("full"))
    env.graph(shell("a"))
    env.backend.sequences.create(1, "seq", ["default"])
    env.backend.networks.create_vip(1, "public", "172.16.0.3")
    env.run()
    yield Api(application(lambda: env.backend))
    env.backend.close()


@pytest.mark.parametrize(
    "route",
    [one for one in READING if "{plugin_id}" not in one.path and one.path != REFUSED],
    ids=lambda one: one.path,
)
def test_both_forms_of_a_path_answer_what_the_document_says(full: Api, route: Route) -> None:
    plain, slashed = (full.raw("GET", f"{filled(route.path)}{end}") for end in ("", "/"))

    assert (plain.status_code, slashed.status_code) == (200, 200), plain.text
    assert plain.data == slashed.data
    assert plain.mimetype in route.mimetypes
    schema = route.answers[200]
    if plain.mimetype == "application/json" and schema is not None:
        jsonschema.validate(plain.get_json(), schema)


def test_default_disks_are_refused_with_a_reason(full: Api) -> None:
    assert "disks" in full.refusal("GET", filled(REFUSED), status=501)


@pytest.mark.parametrize("end", ["", "/"])
def test_unknown_method_of_a_path_is_refused_with_the_known(api: Api, end: str) -> None:
    for path in ("clusters/1/deployment_graphs", "version", "clusters/1/deployment_tasks/own"):
        for method in ("POST", "DELETE", "PATCH", "OPTIONS"):
            answer = api.raw(method, path + end)
            assert answer.status_code == 405, (method, path)
            assert "GET" in answer.headers["Allow"]
            assert f"method {method}" in api.plain(method, path + end, status=405)


@pytest.mark.parametrize(
    "path",
    ["", "nope", "clusters/one", "clusters/-1", "clusters/1/deployment_graphs/bad.type", "clusters//1",
     "nodes/1/volumes", f"clusters/{'9' * 5000}", "clusters/1/deployment_tasks/other"],
)  # fmt: skip
def test_a_path_that_there_is_not_is_told_in_plain_text(api: Api, path: str) -> None:
    assert f"/api/v1/{path}" in api.plain("GET", path, status=404)


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("clusters/99", "Cluster not found"),
        ("clusters/0", "Cluster not found"),
        ("clusters/9999999999", "Cluster not found"),
        ("clusters/99/attributes", "Cluster not found"),
        ("clusters/99/deployment_graphs", "Cluster not found"),
        ("clusters/99/deployment_tasks", "Cluster not found"),
        ("clusters/99/serialized_tasks", "Cluster not found"),
        ("clusters/99/deploy_tasks/graph.gv", "Cluster not found"),
        ("releases/99", "Release not found"),
        ("releases/99/roles", "Release not found"),
        ("releases/99/deployment_tasks", "Release not found"),
        ("releases/1/roles/nope", "Role 'nope' is not found for the release 1"),
        ("releases/1/tags/nope", "Tag 'nope' is not found for the release 1"),
        ("plugins/99", "Plugin not found"),
        ("plugins/99/deployment_graphs/default", "Plugin not found"),
        ("nodes/99", "Node not found"),
        ("graphs/99", "DeploymentGraph not found"),
        ("sequences/99", "DeploymentSequence not found"),
        ("transactions/99", "Transaction not found"),
        ("transactions/99/deployment_history", "Transaction not found"),
        ("clusters/1/deployment_graphs/nope", "Graph with type: nope is not defined"),
    ],
)
def test_what_does_not_exist_is_told_in_nailguns_words(api: Api, path: str, told: str) -> None:
    assert api.refusal("GET", path, status=404) == told


def test_an_error_has_the_fields_of_nailgun(api: Api) -> None:
    assert api.ask("GET", "clusters/99", status=404) == {
        "message": "Cluster not found",
        "errors": ["Environment 99 does not exist. Known: 1."],
    }


def test_the_version_says_what_clients_ask_first(api: Api) -> None:
    found = api.ask("GET", "version")
    assert (found["auth_required"], found["server"]) == (False, f"fuelclient {__version__}")


def test_the_document_has_every_route(api: Api) -> None:
    found = api.ask("GET", "openapi.json")
    assert found["openapi"] == "3.1.0"
    told = {(path, method) for path, entry in found["paths"].items() for method in entry if method != "parameters"}
    assert told == {(f"/api/v1/{route.path}/", route.method.lower()) for route in ROUTES}
    names = [found["paths"][path][method]["operationId"] for path, method in told]
    assert len(names) == len(set(names))


def test_a_backend_that_is_away_is_503() -> None:
    def away() -> NoReturn:
        raise Unavailable("The engine is away.", hint="Wait.")

    assert Api(application(away)).refusal("GET", "clusters", status=503) == "The engine is away. Wait."


def test_defect_is_answered_without_traceback_and_logged_with(caplog: pytest.LogCaptureFixture) -> None:
    def broken() -> NoReturn:
        raise RuntimeError("secret words")

    with caplog.at_level(logging.INFO, logger="fuelclient.server"):
        told = Api(application(broken)).refusal("GET", "clusters", status=500)

    assert "secret" not in told
    failed = next(one for one in caplog.records if one.levelno == logging.ERROR)
    request_id = failed.getMessage().split()[0]
    assert request_id in told
    assert failed.exc_info is not None
    assert any(f"{request_id} GET /api/v1/clusters 500 " in one.getMessage() for one in caplog.records)


def test_the_log_has_one_line_to_a_request_whatever_is_asked(api: Api, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="fuelclient.server"):
        api.raw("GET", "a%0ab%1b[31m?password=x")

    (line,) = [one.getMessage() for one in caplog.records]
    assert "/api/v1/a\\nb\\x1b[31m 404" in line
    assert "password" not in line


def test_limits_of_bodies(env: Executions) -> None:
    small = Api(application(lambda: env.backend, body_bytes=200))
    told = small.ask("POST", "clusters", {"name": "x" * 300, "release_id": 1}, status=413)["message"]
    assert "exceeds the capacity limit" in told


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "Empty request received"),
        (b" \n", "Empty request received"),
        (b"{", "Invalid json received: request:1: this is not JSON"),
        (b"name: x", "Invalid json received"),
        (b"\xff", "Invalid json received"),
        (b'{"name": NaN}', "Invalid json received"),
        (b"[" * 200, "nested deeper than 100 levels"),
        (b'{"name": "\\ud800"}', "Invalid json received"),
        (b"[]", "[] is not of type 'object'"),
        (b"{}", "'name' is a required property"),
        (b'{"name": 1, "release_id": 1}', "deque(['name']): 1 is not of type 'string'"),
        (b'{"name": "a", "release_id": 1.5}', "deque(['release_id']): 1.5 is not of type 'integer'"),
        (b'{"name": "a", "release_id": true}', "deque(['release_id']): True is not of type 'integer'"),
        (
            b'{"name": "a", "release_id": 1, "x": 1}',
            "Additional properties are not allowed ('x' was unexpected)",
        ),
    ],
)  # fmt: skip
def test_bodies_that_are_refused(api: Api, content: bytes, told: str) -> None:
    assert told in api.refusal("POST", "clusters", status=400, data=content)


def test_a_whole_number_may_be_written_with_a_point(api: Api) -> None:
    assert api.ask("POST", "clusters", {"name": "a", "release_id": 1.0}, status=201)["release_id"] == 1
    assert "[99]" in api.refusal("POST", "clusters/1/unassignment", [{"id": 99.0}], status=400)
    task = {"id": "t", "type": "shell", "parameters": {"timeout": 1.0}}
    told = api.ask("POST", "clusters/1/deployment_graphs/x", {"tasks": [task]})
    assert isinstance(told["tasks"][0]["parameters"]["timeout"], float)  # what is somebody else's stays as it is


def test_all_errors_of_a_body_are_told(api: Api) -> None:
    found = api.ask("POST", "clusters", {"name": 1, "release_id": "x", "y": 0}, status=400)
    assert len(found["errors"]) == 3


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("graphs/?clusters_ids=abc", "Comma-separated numbers list expected"),
        ("graphs/?clusters_ids=99999999999999999999", "Comma-separated numbers list expected"),
        ("graphs/?fetch_related=maybe", "fetch_related must be 0 or 1, not 'maybe'"),
        ("nodes/?cluster_id=x", "cluster_id must be a whole number from 1 to 9223372036854775807, not 'x'"),
        ("transactions/?statuses=lost", "Statuses parameter could only be one of: pending, ready, running, error"),
        (f"clusters/1/deployment_tasks?graph_type={'%0D' * 100_001}", "graph_type is longer than 100000 characters"),
        ("clusters/1/deployment_tasks?graph_type=%00", "graph_type contains a NUL character"),
    ],
)
def test_query_parameters_that_are_refused(api: Api, path: str, told: str) -> None:
    assert api.refusal("GET", path, status=400) == told


@pytest.mark.parametrize("path", ["nodes?cluster_id=", "nodes?other=1", "graphs?clusters_ids=1,,1,&fetch_related=T"])
def test_query_parameters_that_say_nothing(api: Api, path: str) -> None:
    assert api.ask("GET", path)
