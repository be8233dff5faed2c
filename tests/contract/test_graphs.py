"""What every backend does with graphs; see `test_backend` for the other nouns."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from package_trees import role, task, write_package
from refusals import missing, refused

from fuelclient.backends.base import Backend
from fuelclient.errors import InvalidGraph, NotFound, UsageError
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.model.graph import GraphDocument, Level, OwnerRef
from fuelclient.model.node import Node
from fuelclient.model.release import Release
from fuelclient.model.task import Source, Task

NOUNS = {Level.RELEASE: "release", Level.PLUGIN: "plugin", Level.CLUSTER: "environment"}
RELEASE = Release(
    0,
    "Mitaka",
    "mitaka-9.0",
    "Ubuntu",
    metadata={
        "roles_metadata": {"controller": {"tags": ["controller", "database"]}, "compute": {}},
        "tags_metadata": {"controller": {"has_primary": True}, "database": {"has_primary": False}},
    },
)
LEGACY = {
    "role": ["controller"],
    "stage": "post_deployment",
    "type": "shell",
    "parameters": {"cmd": "true", "timeout": 5},
}
WATCHER = {"node_roles.yaml": {"watcher": role(has_primary=True, fault_tolerance="5%")}}


def stage(name: str, **attributes: object) -> Task:
    """A task that needs nothing else."""
    return Task(name, {"type": "stage", **attributes}, Source("tasks.yaml", 3, {"type": 4}))


def graph(*names: str, name: str | None = None) -> GraphDocument:
    """A document of such tasks."""
    return GraphDocument(tuple(stage(one) for one in names), name)


def tasks_with_errors(error: InvalidGraph) -> list[str]:
    """The tasks that the errors of a refused graph are about."""
    return [finding.task for finding in error.findings if isinstance(finding, Finding) and finding.is_error]


class TestGraph:
    """The behaviour of graphs that front ends rely on."""

    @pytest.fixture
    def plugin(self, backend: Backend, cluster: OwnerRef, tmp_path: Path) -> OwnerRef:
        """A plugin that is enabled on the environment."""
        installed = backend.plugins.install(write_package(tmp_path / "monitor", files=WATCHER))
        backend.plugins.enable(installed.plugin.id, cluster.id)
        return OwnerRef(Level.PLUGIN, installed.plugin.id)

    # What a change does to the layers above it

    def test_upload_that_orphans_a_record_names_environments(
        self, backend: Backend, release: OwnerRef, cluster: OwnerRef
    ) -> None:
        other = OwnerRef(Level.CLUSTER, backend.clusters.create("stage", release.id).id)
        backend.graphs.upload(release, graph("a", "b"))
        for owner in (cluster, other):
            backend.graphs.upload(owner, GraphDocument((Task("a", {"x": 1}, Source("override.yaml", 7)),)))
        backend.clusters.create("apart", release.id)
        assert backend.graphs.upload(release, graph("a")).findings == ()
        (finding,) = backend.graphs.upload(release, graph("b")).findings
        assert str(finding).startswith("override.yaml:7: warning: in environments ")
        assert f"{cluster.id} (prod), {other.id} (stage), task a has no type" in finding.message
        assert (finding.code, finding.task) == ("G021", "a")
        assert backend.graphs.upload(release, graph("c")).findings == ()  # it was so before
        assert backend.graphs.delete(release, "default") == ()

    def test_a_deletion_tells_it_too(self, backend: Backend, kind: str, release: OwnerRef, cluster: OwnerRef) -> None:
        backend.graphs.upload(release, graph("a"), "extra")
        backend.graphs.upload(cluster, GraphDocument((Task("a", {"x": 1}),)), "extra")
        told = backend.graphs.delete(release, "extra")
        if kind == "local":  # the answer to a deletion has no body
            (finding,) = told
            assert (finding.severity, finding.code) == (Severity.WARNING, "G021")
            assert f"in environment {cluster.id} (prod), task a" in finding.message
        assert backend.graphs.delete(cluster, "extra") == ()

    def test_a_plugins_graph_counts_where_it_is_enabled(
        self, backend: Backend, cluster: OwnerRef, plugin: OwnerRef
    ) -> None:
        backend.graphs.upload(plugin, graph("mine"))
        backend.graphs.upload(cluster, GraphDocument((Task("mine", {"x": 1}),)))
        (finding,) = backend.graphs.upload(plugin, graph("other")).findings
        assert f"in environment {cluster.id} (prod), task mine" in finding.message
        backend.graphs.upload(plugin, graph("mine"))
        told = backend.graphs.delete(plugin, "default")
        assert [one.code for one in told] == ["G021"]

    def test_a_new_version_of_a_package_tells_it_too(self, backend: Backend, cluster: OwnerRef, tmp_path: Path) -> None:
        def install(version: str, name: str) -> tuple[int, tuple[Finding, ...]]:
            files = {"deployment_tasks.yaml": [task(name)]}
            done = backend.plugins.install(write_package(tmp_path / version, "lma", version, files=files))
            return done.plugin.id, tuple(one for one in done.findings if one.code == "G021")

        first, _ = install("1.0.0", "mine")
        backend.plugins.enable(first, cluster.id)
        backend.graphs.upload(cluster, GraphDocument((Task("mine", {"x": 1}),)))
        same, (finding,) = install("1.0.1", "other")
        assert (same, finding.task) == (first, "mine")
        install("1.0.2", "mine")
        beside, _ = install("2.0.0", "other")
        assert [one.code for one in backend.plugins.enable(beside, cluster.id)] == ["P080", "G021"]

    # One layer

    @pytest.mark.parametrize("noun", ["release", "plugin", "cluster"])
    def test_a_graph_comes_back_as_it_was_uploaded(
        self, backend: Backend, noun: str, request: pytest.FixtureRequest
    ) -> None:
        owner: OwnerRef = request.getfixturevalue(noun)
        tasks: tuple[Task, ...] = (
            stage("b", requires=[], condition=False, custom=None),
            Task("a", {"parameters": {"z": 0, "a": {"ü": [None]}}, "type": "shell"}, Source("x/tasks.yaml", 9)),
        )
        uploaded = backend.graphs.upload(owner, GraphDocument(tasks, "named", {"on_stop": {}}), "custom")
        assert uploaded.created
        found = backend.graphs.get(owner, "custom")
        assert found == uploaded.graph
        assert (found.tasks, found.name, found.metadata, found.type) == (tasks, "named", {"on_stop": {}}, "custom")
        assert [list(task.attributes) for task in found.tasks] == [list(task.attributes) for task in tasks]
        assert found.owner == backend.graphs.owner(owner)

    def test_a_second_upload_replaces_the_tasks_only(self, backend: Backend, release: OwnerRef) -> None:
        first = backend.graphs.upload(release, GraphDocument(graph("a", "b").tasks, "n", {"on_error": {"x": 1}}))
        second = backend.graphs.upload(release, graph("c"))
        assert not first.created
        assert not second.created
        assert second.graph.id == first.graph.id
        assert [task.id for task in second.graph.tasks] == ["c"]
        assert (second.graph.name, second.graph.metadata) == ("n", {"on_error": {"x": 1}})
        third = backend.graphs.upload(release, GraphDocument((), "m", {"on_error": {}}))
        assert (third.graph.tasks, third.graph.name, third.graph.metadata) == ((), "m", {"on_error": {}})

    def test_a_graph_with_errors_is_refused_with_all_of_them(self, backend: Backend, release: OwnerRef) -> None:
        backend.graphs.upload(release, graph("old", name="old"))
        read = Finding(Severity.ERROR, "G001", "unreadable", Place("tasks.yaml", 1))
        bad = GraphDocument(
            (stage("a"), stage("a"), Task("p", {"requires": []}), Task("s", {"type": "shell", "stage": "no_stage"})),
            "new",
            findings=(read,),
        )
        with refused(InvalidGraph, "default graph", codes=["G001", "G005", "G020", "G011"]) as caught:
            backend.graphs.upload(release, bad)
        errors = [finding for finding in caught.value.findings if finding.is_error]
        assert read in errors
        assert {getattr(finding, "task", "") for finding in errors} == {"", "a", "p", "s"}
        kept = backend.graphs.get(release)
        assert (kept.name, [task.id for task in kept.tasks]) == ("old", ["old"])

    def test_a_refused_graph_of_a_new_type_leaves_no_type(self, backend: Backend, release: OwnerRef) -> None:
        with pytest.raises(InvalidGraph):
            backend.graphs.upload(release, GraphDocument((Task("p", {}),)), "custom")
        with missing("graph type", "custom"):
            backend.graphs.get(release, "custom")

    def test_warnings_come_with_the_upload(self, backend: Backend, release: OwnerRef) -> None:
        warning = Finding(Severity.WARNING, "G008", "odd")
        uploaded = backend.graphs.upload(release, GraphDocument(graph("a").tasks, findings=(warning,)))
        assert warning in uploaded.findings

    def test_a_partial_record_needs_something_below_it(
        self, backend: Backend, release: OwnerRef, cluster: OwnerRef, plugin: OwnerRef
    ) -> None:
        partial = GraphDocument((Task("base", {"requires": ["x"]}), Task("extra", {"requires": []})))
        with pytest.raises(InvalidGraph):
            backend.graphs.upload(release, partial)
        with refused(InvalidGraph, f"environment {cluster.id}", codes=["G020", "G020"]) as caught:
            backend.graphs.upload(cluster, partial)
        assert tasks_with_errors(caught.value) == ["base", "extra"]
        backend.graphs.upload(release, graph("base"))
        with refused(InvalidGraph, f"environment {cluster.id}", codes=["G020"]) as caught:
            backend.graphs.upload(cluster, partial)
        assert tasks_with_errors(caught.value) == ["extra"]
        backend.graphs.upload(plugin, graph("extra"))
        assert backend.graphs.upload(cluster, partial).graph.tasks == partial.tasks
        with pytest.raises(InvalidGraph):
            backend.graphs.upload(cluster, partial, "another")

    @pytest.mark.parametrize("graph_type", ["", "a b", "ä", "a/b"])
    def test_a_type_that_no_url_can_name_is_refused(self, backend: Backend, release: OwnerRef, graph_type: str) -> None:
        with refused(UsageError, repr(graph_type), "graph type"):
            backend.graphs.upload(release, graph("a"), graph_type)

    def test_an_unknown_type_or_owner_is_not_found(self, backend: Backend, release: OwnerRef) -> None:
        with missing("graph type", "defualt", "default"):
            backend.graphs.get(release, "defualt")
        for owner in (OwnerRef(level, 42) for level in Level):
            for act in (backend.graphs.get, backend.graphs.owner):
                with missing(NOUNS[owner.level], 42):
                    act(owner)
            with missing(NOUNS[owner.level], 42):
                backend.graphs.upload(owner, graph("a"))

    def test_a_deleted_graph_is_gone_and_can_come_again(self, backend: Backend, cluster: OwnerRef) -> None:
        first = backend.graphs.upload(cluster, graph("a"), "custom")
        backend.graphs.delete(cluster, "custom")
        with pytest.raises(NotFound):
            backend.graphs.delete(cluster, "custom")
        again = backend.graphs.upload(cluster, graph("a"), "custom")
        assert again.created
        assert again.graph.id != first.graph.id

    def test_the_list_can_be_narrowed(
        self, backend: Backend, cluster: OwnerRef, plugin: OwnerRef, tmp_path: Path
    ) -> None:
        backend.plugins.install(write_package(tmp_path / "other", "other", "1.0.0"))
        backend.graphs.upload(plugin, graph("b", "a", name="mine"), "custom")
        everything = backend.graphs.list()
        assert [summary.id for summary in everything] == sorted(summary.id for summary in everything)
        assert [summary.owner.label for summary in everything] == [
            "release", "cluster", "plugin monitor-1.2.3", "plugin other-1.0.0", "plugin monitor-1.2.3",
        ]  # fmt: skip
        assert (everything[-1].type, everything[-1].name, everything[-1].task_ids) == ("custom", "mine", ("b", "a"))
        mine = backend.graphs.list(cluster.id)
        assert [summary.owner.label for summary in mine] == [
            "release", "cluster", "plugin monitor-1.2.3", "plugin monitor-1.2.3",
        ]  # fmt: skip
        assert [summary.type for summary in backend.graphs.list(cluster.id, [Level.PLUGIN])] == ["default", "custom"]
        with missing("environment", 42):
            backend.graphs.list(42)

    # Environments

    def test_layers_merge(self, backend: Backend, release: OwnerRef, cluster: OwnerRef, plugin: OwnerRef) -> None:
        backend.graphs.upload(release, graph("a", "b", "c"))
        backend.graphs.upload(plugin, graph("b", "d"))
        backend.graphs.upload(cluster, GraphDocument((Task("a", {"requires": ["b"]}), stage("e"))))
        merged = backend.graphs.layers(cluster.id, list(Level))
        assert [(task.id, task.owner.label) for task in merged.tasks] == [
            ("a", "cluster"), ("b", "plugin monitor-1.2.3"), ("c", "release"),
            ("d", "plugin monitor-1.2.3"), ("e", "cluster"),
        ]  # fmt: skip
        assert merged.tasks[0].task.attributes == {"type": "stage", "requires": ["b"]}
        only = backend.graphs.layers(cluster.id, [Level.RELEASE])
        assert [task.id for task in only.tasks] == ["a", "b", "c"]

    def test_a_type_is_known_when_any_layer_has_it(self, backend: Backend, cluster: OwnerRef, plugin: OwnerRef) -> None:
        backend.graphs.upload(plugin, graph("a"), "custom")
        assert backend.graphs.layers(cluster.id, [Level.CLUSTER], "custom").tasks == ()
        assert [layer.owner.level for layer in backend.graphs.snapshot(cluster.id, "custom").layers] == [Level.PLUGIN]
        with missing("graph type", "costum", "custom"):
            backend.graphs.layers(cluster.id, list(Level), "costum")
        with pytest.raises(NotFound) as caught:
            backend.graphs.snapshot(cluster.id, "zzz")
        assert caught.value.known == ("custom", "default")

    def test_the_default_type_is_always_there(self, backend: Backend, release: OwnerRef, cluster: OwnerRef) -> None:
        for owner in (release, cluster):
            backend.graphs.delete(owner, "default")
        assert backend.graphs.layers(cluster.id, list(Level)).tasks == ()
        assert backend.graphs.snapshot(cluster.id).layers == ()

    @pytest.mark.usefixtures("plugin")
    def test_a_snapshot_has_all_that_a_plan_needs(self, backend: Backend, cluster: OwnerRef, tmp_path: Path) -> None:
        old = write_package(tmp_path / "a", "aaa", "0.1.0", "1.0.0", files={"tasks.yaml": [LEGACY]})
        backend.plugins.enable(backend.plugins.install(old).plugin.id, cluster.id)
        other = {"deployment_tasks.yaml": [task("y")]}
        backend.plugins.install(write_package(tmp_path / "d", "disabled", files=other))
        backend.nodes.create([Node(1, "a", cluster.id, pending_roles=("watcher",)), Node(2, "free")])

        snapshot = backend.graphs.snapshot(cluster.id)

        stored = backend.clusters.get(cluster.id)
        assert replace(stored, fuel_version="") == snapshot.cluster  # only a list of environments has the version
        assert snapshot.graph_type == "default"
        assert [node.id for node in snapshot.nodes] == [1]
        assert list(snapshot.roles) == ["controller", "compute", "watcher"]
        assert snapshot.primary_tags == {"controller", "watcher"}
        assert [(layer.owner.label, layer.cwd, dict(layer.fault_tolerance)) for layer in snapshot.layers] == [
            ("release", "", {}),
            ("plugin aaa-0.1.0", "/etc/fuel/plugins/aaa-0.1.0/", {}),
            ("plugin monitor-1.2.3", "/etc/fuel/plugins/monitor-1.2/", {"watcher": "5%"}),
            ("cluster", "", {}),
        ]
        with missing("environment", 42):
            backend.graphs.snapshot(42)
