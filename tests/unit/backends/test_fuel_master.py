"""What differs on a Fuel master: it knows no partial records, no parts of executions, no events, and takes no nodes.

The master is our own server, whose answers lose here whatever Nailgun does not say: the client takes it for one.
"""

from __future__ import annotations

import io
import json
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import requests
from executions import PATIENCE, Executions, executions, shell, stage
from opened import opened
from package_trees import role, task, write_package
from refusals import missing, refused

from fuelclient.backends.connected import connected
from fuelclient.backends.http.session import Session
from fuelclient.backends.local import LocalBackend
from fuelclient.backends.nailgun import NailgunBackend
from fuelclient.backends.plans import pictured, planned, simulated
from fuelclient.backends.studies import study_of
from fuelclient.errors import FuelError, InvalidDocument, InvalidGraph, Unsupported, UsageError
from fuelclient.model.graph import GraphDocument, Level, OwnerRef
from fuelclient.model.node import Node
from fuelclient.model.release import Release
from fuelclient.model.run import DryGraph, Event, EventKind, RunRequest
from fuelclient.model.task import Source, Task
from fuelclient.plan.preview import PreviewOptions
from fuelclient.settings.master import Master

pytest.importorskip("flask", reason="the server comes with the extra [server]")

from wsgi_transport import WsgiAdapter

from fuelclient.server.app import application

UNSAID = ("server", "clusters", "children", "request", "runner", "digest", "stop", "findings", "instance")


class NailgunAdapter(WsgiAdapter):
    """Answers without whatever Nailgun does not say."""

    def send(self, *arguments: Any, **options: Any) -> requests.Response:
        response = super().send(*arguments, **options)
        if response.content and "json" in response.headers.get("Content-Type", ""):
            data = json.loads(response.content)
            stripped = [_plain(one) for one in data] if isinstance(data, list) else _plain(data)
            plain = requests.Response()
            plain.status_code, plain.headers, plain.url = response.status_code, response.headers, response.url
            plain.request, plain.raw = response.request, io.BytesIO(json.dumps(stripped).encode())
            return plain
        return response


def _plain(data: Any) -> Any:
    if not isinstance(data, dict):
        return data
    dropped = (*UNSAID, "error") if "errors" in data else UNSAID
    return {key: value for key, value in data.items() if key not in dropped}


@pytest.fixture
def env(tmp_path: Path) -> Iterator[Executions]:
    """An environment with three nodes on which graphs really run."""
    made = executions(tmp_path)
    app = application(lambda: opened(LocalBackend(str(made.engine))))
    client = connected(Master("http://127.0.0.1:8000"), adapter=NailgunAdapter(app.wsgi_app))
    yield replace(made, backend=client)
    client.close()
    made.backend.close()


CLUSTER, RELEASE = OwnerRef(Level.CLUSTER, 1), OwnerRef(Level.RELEASE, 1)


def test_partial_records_are_written_out(env: Executions) -> None:
    whole = Task("conf", {"type": "shell", "parameters": {"cmd": "true", "timeout": 5}, "requires": ["start"]})
    env.backend.graphs.upload(RELEASE, GraphDocument((stage("start"), whole)))
    partial = Task("conf", {"parameters": {"timeout": 9}}, Source("mine.yaml", 3))
    uploaded = env.backend.graphs.upload(CLUSTER, GraphDocument((partial, stage("own"))))
    assert [(one.code, str(one.place)) for one in uploaded.findings] == [("G022", "mine.yaml:3")]
    stored, own = env.backend.graphs.get(CLUSTER).tasks
    assert own.id == "own"
    assert stored.attributes == {**whole.attributes, "version": "1.0.0", "parameters": {"cmd": "true", "timeout": 9}}
    (merged,) = (one for one in env.backend.graphs.merged(1) if one.id == "conf")
    assert merged.attributes["parameters"] == {"cmd": "true", "timeout": 9}


def test_a_partial_record_of_a_plugin_is_refused(env: Executions, tmp_path: Path) -> None:
    plugin = installed(env, tmp_path)
    with refused(InvalidGraph, "task a", codes=["G020"]):
        env.backend.graphs.upload(OwnerRef(Level.PLUGIN, plugin), GraphDocument((Task("a", {"x": 1}),)))


def installed(env: Executions, tmp_path: Path) -> int:
    """The id of a plugin that was installed on the master's machine."""
    files = {"node_roles.yaml": {"watcher": role()}, "deployment_tasks.yaml": [task("watch", role=["watcher"])]}
    local = LocalBackend(str(env.engine))
    record = {"os": "ubuntu", "version": "tiny-1.0", "mode": ["ha"]}
    path = write_package(tmp_path / "monitor", releases=[record], files=files)
    found = local.plugins.install(path).plugin.id
    local.close()
    return found


def test_where_a_plugin_is_enabled_the_environments_say(env: Executions, tmp_path: Path) -> None:
    local = LocalBackend(str(env.engine))
    release = local.releases.create([Release(0, "Ubuntu", "tiny-1.0", "Ubuntu")])[0]
    other = local.clusters.create("ubuntu", release.id).id
    plugin = installed(env, tmp_path)
    assert env.backend.plugins.get(plugin).clusters == ()
    env.backend.plugins.enable(plugin, other)
    assert env.backend.plugins.get(plugin).clusters == (other,)
    assert local.plugins.get(plugin).clusters == (other,)
    assert {"watcher"} <= set(env.backend.roles.of_cluster(other))
    env.backend.plugins.disable(plugin, other)
    assert local.plugins.get(plugin).clusters == ()
    local.close()


def test_releases_are_made_one_by_one_and_all_or_none(env: Executions) -> None:
    made = env.backend.releases.create([Release(0, "A", "1.0"), Release(0, "B", "1.0")])
    assert [one.name for one in made] == ["A", "B"]
    before = env.backend.releases.list()
    bad = Release(0, "D", "1.0", metadata={"roles_metadata": ["no mapping"]})
    with refused(FuelError, "roles_metadata"):
        env.backend.releases.create([Release(0, "C", "1.0"), bad])
    assert env.backend.releases.list() == before


def test_a_refusal_in_words_only_is_still_an_error_of_its_kind(env: Executions) -> None:
    with pytest.raises(InvalidDocument):
        env.backend.clusters.set_settings(1, {"common": 1})
    with missing("environment", 99):
        env.backend.graphs.list(99)
    with missing("graph type", "nope", "default"):
        env.backend.graphs.get(CLUSTER, "nope")


def test_what_a_master_cannot_do_it_says(env: Executions) -> None:
    backend = env.backend
    for act in (
        lambda: backend.nodes.create([Node(0, "a")]),
        lambda: backend.runs.resume(1),
        lambda: backend.runs.stop(1, kill=True),
        lambda: backend.runs.logs(1, "a", "1"),
        lambda: backend.plugins.install("monitor.rpm"),
        lambda: backend.plugins.selection(1, 1),
    ):
        with pytest.raises(Unsupported) as caught:
            act()
        assert caught.value.hint


# Executions


def test_a_run_is_followed_by_looking(env: Executions) -> None:
    env.graph(stage("start"), shell("a", requires=["start"]), shell("b", requires=["a"]))
    begun = env.backend.runs.begin(RunRequest(1, node_ids=(1, 2)))
    (child,) = begun.children
    deadline = time.monotonic() + PATIENCE
    seen: list[Event] = []
    while not (seen and seen[-1].kind is EventKind.RUN and seen[-1].run_id == begun.id
               and seen[-1].status == "ready"):  # fmt: skip
        assert time.monotonic() < deadline, seen
        seen += env.backend.runs.events(begun.id, after=len(seen))
    assert [event.id for event in seen] == list(range(1, len(seen) + 1))
    assert {event.parent_id for event in seen} == {begun.id}
    told = [(one.task, one.node, one.status) for one in seen if one.kind is EventKind.INSTANCE]
    for node in (1, 2):
        mine = [(name, status) for name, where, status in told if where == node]
        assert mine == [("a", "running"), ("a", "ready"), ("b", "running"), ("b", "ready")]
    assert ("start", None, "skipped") in told
    assert {one.graph_type for one in seen if one.run_id == child.id} == {"default"}
    assert env.backend.runs.events(begun.id, after=len(seen)) == []
    assert env.backend.runs.events(begun.id, limit=2) == seen[:2]


def test_the_parts_of_an_execution_are_found(env: Executions) -> None:
    env.graph(shell("a"))
    env.graph(shell("b"), graph_type="more")
    found = env.run("default", "more", node_ids=(1,))
    assert [(one.graph_type, one.parent_id) for one in found.children] == [("default", found.id), ("more", found.id)]
    rows = {(row.task, row.graph_type) for row in env.rows(found.id) if row.node == 1}
    assert {("a", "default"), ("b", "more")} <= rows
    assert env.backend.runs.settings(found.id) == env.backend.clusters.settings(1)
    known = simulated(env.backend, RunRequest(1, node_ids=(1,)))[0]
    assert known.known == 1


def test_a_run_is_stopped_with_its_environment(env: Executions) -> None:
    env.graph(shell("a", "sleep 60"))
    begun = env.backend.runs.begin(RunRequest(1))
    env.until(begun.id, lambda _: any(row.status == "running" for row in env.rows(begun.id)))
    assert env.backend.runs.stop(begun.id).id == begun.id
    local = LocalBackend(str(env.engine))
    local.runs.stop(begun.id, kill=True)  # a master would wait for the commands
    local.close()
    assert env.ended(begun.id).status == "error"


def test_a_plan_knows_what_the_last_run_saw(env: Executions) -> None:
    env.graph(shell("a", condition={"yaql_exp": "changed($.roles)"}), shell("b"))
    env.run(node_ids=(1,))
    (graph,) = planned(env.backend, RunRequest(1, node_ids=(1, 2)))
    told = {(one.task, one.node): one.runs for one in graph.instances}
    assert told == {("a", 1): False, ("a", 2): True, ("b", 1): True, ("b", 2): True}
    assert "G035" not in [one.code for one in graph.findings]
    (forced,) = planned(env.backend, RunRequest(1, node_ids=(1, 2), force=True))
    assert all(one.runs for one in forced.instances)
    assert pictured(env.backend, RunRequest(1, node_ids=(1,))).startswith("digraph")


def test_a_dry_run_is_decided_as_the_engine_plans_it(env: Executions) -> None:
    some, never = {"yaql_exp": "$.uid = '2'"}, {"yaql_exp": "false"}
    env.graph(stage("start"), shell("a", condition=some), shell("b"), shell("c", condition=never, requires=["b"]))
    request = RunRequest(1, node_ids=(1, 2), dry_run=True)
    (part,) = env.backend.runs.begin(request).children
    decided = env.backend.runs.decided(part, request)
    with closing(LocalBackend(str(env.engine))) as engine:
        (plan,) = planned(engine, request)
    assert {(one.task, one.node): one.runs for one in plan.instances if one.node is not None} == {
        key: runs for key, runs in decided.items() if key[1] is not None
    }
    assert decided["a", 1] is False
    assert decided["a", 2] is True
    assert DryGraph("default", plan, decided).disagreements == ()
    assert DryGraph("default", plan, {**decided, ("b", 2): False}).disagreements == ("b/2",)


def test_preview_follows_dependencies_computed_from_facts(env: Executions) -> None:
    asks = [{"yaql_exp": "switch($.uid = '2' => 'a', true => 'nothing')"}]
    env.graph(shell("b", requires=asks), shell("c", requires=[{"yaql_exp": "$.no.such.fact"}]), shell("a"))
    snapshot = env.backend.graphs.snapshot(1)
    seen = study_of(env.backend, snapshot).preview()
    assert {row.task: row.requires for row in seen.rows}["b"] == ("a",)
    assert [finding.task for finding in seen.findings if finding.code == "G033"] == ["c"]
    assumed = study_of(env.backend, snapshot, PreviewOptions(assume="compute=2")).preview()
    assert {finding.task for finding in assumed.findings if finding.code == "G033"} == {"c"}


class Nothing(requests.adapters.BaseAdapter):
    """A master to which nothing may be sent."""

    def send(self, request: requests.PreparedRequest, *_: Any, **__: Any) -> requests.Response:
        raise AssertionError(request.url)

    def close(self) -> None: ...


def test_a_number_is_refused_as_a_name_before_a_master_stores_it() -> None:
    master = NailgunBackend(Session(Master("http://127.0.0.1:8000"), adapter=Nothing()))
    writes: dict[str, Callable[[], object]] = {
        "an environment": lambda: master.clusters.create("7", 1),
        "an environment ": lambda: master.clusters.rename(1, "7"),
        "a node": lambda: master.nodes.update(1, name="7"),
        "a sequence": lambda: master.sequences.create(1, "7", ["default"]),
        "a sequence ": lambda: master.sequences.update(1, name="7"),
    }
    for noun, write in writes.items():
        with refused(UsageError, f"name of {noun.strip()}: a number"):
            write()
