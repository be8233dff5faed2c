"""Whoever asks for what an expression decides, while others have all children, is told to try again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import fuel2
from executions import Executions, shell
from http_api import Api
from in_process_server import served_on_a_socket

from fuelclient.backends.local import LocalBackend
from fuelclient.errors import Unavailable
from fuelclient.expressions import child_process

LONG = {"yaql_exp": "[1].sum()"}
TASK = {"id": "a", "type": "shell", "version": "2.1.0", "roles": ["/.*/"], "parameters": {"cmd": "true"}}
RUN = {"cluster": 1, "graphs": [{"type": "default"}]}
STATED: dict[str, dict[str, Any]] = {
    "condition": {"condition": LONG},
    "requires": {"requires": [LONG]},
    "parameters": {"parameters": {"cmd": LONG}},
}


def no_turn(*_: Any) -> None:
    """What all children say who are busy with others."""
    raise Unavailable("2 expressions that take long are being evaluated already.", hint="Try again.")


@pytest.mark.parametrize("stated", STATED.values(), ids=STATED)
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "clusters/1/serialized_tasks/", None),
        ("PUT", "clusters/1/deploy/?nodes=1&dry_run=1", None),
        ("PUT", "clusters/1/deploy_tasks/?nodes=1", ["a"]),
        ("POST", "graphs/execute/", {**RUN, "dry_run": True}),
        ("POST", "graphs/execute/", RUN),
    ],
)
def test_a_request_without_a_turn_is_503(
    method: str, path: str, body: Any, stated: dict[str, Any], api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    api.ask("PUT", "clusters/1/deployment_tasks", [{**TASK, **stated}])
    monkeypatch.setattr(child_process, "answer", no_turn)
    answer = api.raw(method, path, body)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5"), answer.text
    assert "Try again" in answer.text


@pytest.mark.parametrize("path", ["clusters/1/deployment_graphs/default", "clusters/1/deployment_tasks"])
def test_an_upload_without_a_turn_stores_nothing(path: str, api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    api.ask("PUT", "clusters/1/deployment_tasks", [{**TASK, "id": "before"}])
    tasks = [{**TASK, **STATED["requires"]}]
    body = {"tasks": tasks} if path.endswith("default") else tasks
    with monkeypatch.context() as busy:
        busy.setattr(child_process, "answer", no_turn)
        answer = api.raw("PUT", path, body)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5"), answer.text
    assert [task["id"] for task in api.ask("GET", "clusters/1/deployment_tasks/own")] == ["before"]
    api.ask("PUT", path, body)


@pytest.fixture
def url(env: Executions, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a server, whose token is in the environment."""
    for client in served_on_a_socket(lambda: LocalBackend(str(env.engine))):
        monkeypatch.setenv("OS_TOKEN", client.session.master.credentials.token)  # type: ignore[attr-defined]  # its own
        yield client.target


LINES = (
    "graph upload --env 1 --type default --yes --file {graph}",
    "graph execute --env 1 --type long --noop --no-wait",
    "graph preview --env 1 --type long",
    "graph validate --env 1 --type long",
)


@pytest.mark.parametrize("line", LINES)
def test_a_client_of_a_server_without_a_turn_ends_with_3(
    line: str, url: str, env: Executions, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    env.graph(shell("a", requires=[LONG]), graph_type="long")
    graph = tmp_path / "graph.yaml"
    graph.write_text("- {id: a, type: shell, version: 2.1.0, roles: [/.*/], requires: [{yaql_exp: '[1].sum()'}]}\n")
    monkeypatch.setattr(child_process, "answer", no_turn)
    done = fuel2("--server", url, *line.format(graph=graph).split())
    assert done.code == 3, done
    assert "Try again" in done.err
