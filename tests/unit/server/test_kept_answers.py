"""Lists of graphs are sent again without reading them until something that they rest on has changed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from executions import Executions, stage
from http_api import Api
from package_trees import task, write_package

from fuelclient.backends.local import LocalBackend
from fuelclient.engine.inventory.clusters import Clusters
from fuelclient.server import graphs
from fuelclient.server.routes import ThreadBackends

LISTS = ("graphs/", "clusters/1/deployment_graphs/", "graphs/?graph_types=default")


def task_ids(api: Api, path: str) -> list[str]:
    return [one["id"] for graph in api.ask("GET", path) for one in graph["tasks"]]


@pytest.fixture
def backends(env: Executions) -> Iterator[ThreadBackends]:
    made = ThreadBackends(lambda: LocalBackend(str(env.engine)))
    yield made
    made.close()


def answers_of(backends: ThreadBackends, key: str = "list") -> Any:
    """Ask twice for what differs each time it is made, and return both answers."""
    made = iter((b"made first", b"made again"))
    return [backends.kept(key, lambda: next(made)) for _ in range(2)]


@pytest.mark.parametrize("path", LISTS)
def test_a_list_shows_what_this_and_other_programs_have_stored(api: Api, env: Executions, path: str) -> None:
    env.graph(stage("a"))
    assert task_ids(api, path) == task_ids(api, path) == ["a"]
    env.graph(stage("b"))
    assert task_ids(api, path) == ["b"]
    api.ask("PUT", "clusters/1/deployment_tasks", [{"id": "c", "type": "stage"}])
    assert task_ids(api, path) == ["c"]


@pytest.mark.parametrize("path", LISTS)
def test_a_list_is_made_once(api: Api, env: Executions, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    env.graph(stage("a"))
    first = api.raw("GET", path).data
    monkeypatch.delattr(graphs, "graph_to")
    assert api.raw("GET", path).data == first
    env.graph(stage("b"))
    assert api.raw("GET", path).status_code == 500


def test_a_list_is_of_one_moment(api: Api, env: Executions, monkeypatch: pytest.MonkeyPatch) -> None:
    env.graph(stage("a"))
    read = Clusters.list

    def list_before_a_change(self: Clusters) -> Any:
        try:
            return read(self)
        finally:
            env.graph(stage("b"))

    path = "graphs/?clusters_ids=1&fetch_related=1"
    with monkeypatch.context() as others:
        others.setattr(Clusters, "list", list_before_a_change)
        assert "a" in task_ids(api, path)
    assert "b" in task_ids(api, path)


def test_a_list_shows_the_files_of_a_linked_plugin(api: Api, env: Executions, tmp_path: Path) -> None:
    package = write_package(tmp_path / "p", files={"deployment_tasks.yaml": [task("before")]})
    plugin = env.backend.plugins.install(package, link=True).plugin.id
    path = f"plugins/{plugin}/deployment_graphs/"
    assert task_ids(api, path) == ["before"]
    write_package(tmp_path / "p", files={"deployment_tasks.yaml": [task("after")]})
    assert task_ids(api, path) == ["after"]


def test_a_list_of_a_file_that_was_replaced_is_not_sent_again(api: Api, env: Executions) -> None:
    env.graph(stage("a"))
    assert task_ids(api, "graphs/") == ["a"]
    env.engine.rename(env.engine.with_name("moved.db"))
    assert "was removed or replaced" in api.refusal("GET", "graphs/", status=503)


def test_an_answer_is_made_once_for_a_state(env: Executions, backends: ThreadBackends) -> None:
    for key in ("list", "second", "third", "fourth"):
        assert answers_of(backends, key) == [b"made first"] * 2
    assert backends.kept("list", lambda: b"made anew") == b"made first"
    env.graph(stage("a"))
    assert backends.kept("list", lambda: b"made anew") == b"made anew"


def test_no_answer_of_an_earlier_connection_is_sent(env: Executions, backends: ThreadBackends) -> None:
    assert answers_of(backends) == [b"made first"] * 2
    backends.close()
    with closing(LocalBackend(str(env.engine))) as other:
        other.clusters.create("other", 1)
    assert backends.kept("list", lambda: b"made anew") == b"made anew"


def test_few_answers_are_kept_and_no_large_ones(backends: ThreadBackends) -> None:
    for number in range(20):
        backends.kept(number, lambda: b"small")
    assert backends.kept(0, lambda: b"x" * 10_000_000) == b"x" * 10_000_000
    assert backends.kept(0, lambda: b"made anew") == b"made anew"
