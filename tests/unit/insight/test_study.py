"""Questions about a merged graph: why, blame, lanes, roles."""

from __future__ import annotations

from dataclasses import replace

import pytest
from building import barriers
from command_line import tiny_engine

from fuelclient.backends.local import LocalBackend
from fuelclient.insight.blame import blame
from fuelclient.insight.lanes import ASCII, Lane, Reach, draw, lanes
from fuelclient.insight.relation import chain, stated
from fuelclient.insight.stats import holders, tasks_of_roles
from fuelclient.model.cluster import Cluster
from fuelclient.model.graph import Layer, Level, Owner
from fuelclient.model.node import Node
from fuelclient.model.release import Role
from fuelclient.model.snapshot import Snapshot
from fuelclient.model.task import Task
from fuelclient.plan.preview import PreviewOptions
from fuelclient.plan.study import Study, preview


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Study:
    fuel2 = tiny_engine(tmp_path_factory.mktemp("tiny"))
    backend = LocalBackend(str(fuel2.engine))
    studied = Study(backend.graphs.snapshot(1))
    backend.close()
    return studied


def index(result: Study, name: str) -> int:
    return next(place for place, task in enumerate(result.merged.tasks) if task.id == name)


def snapshot(*tasks: Task, nodes: int = 3) -> Snapshot:
    layer = Layer(Owner(Level.RELEASE, 1), tasks)
    holding = tuple(Node(number, f"node-{number}", 1, roles=("web",)) for number in range(1, nodes + 1))
    return Snapshot(Cluster(1, "c", 1), (layer,), holding, {"web": Role("web", ("web",))})


def test_rows_know_their_merged_tasks(tiny: Study) -> None:
    assert [tiny.task(row).id for row in range(len(tiny.rows))] == [row.task for row in tiny.rows]
    assert tiny.row_named("keystone") == next(n for n, row in enumerate(tiny.rows) if row.task == "keystone")
    assert tiny.row_named("nothing") is None


def test_before_and_after_mirror_each_other(tiny: Study) -> None:
    pairs = {(one, other) for one, following in enumerate(tiny.after) for other in following}
    assert pairs == {(one, other) for other, preceding in enumerate(tiny.before) for one in preceding}
    assert (index(tiny, "netconfig"), index(tiny, "keystone")) in pairs


def test_a_chain_names_field_and_layer(tiny: Study) -> None:
    [step] = chain(tiny.expansion, index(tiny, "netconfig"), index(tiny, "keystone"))
    assert (step.before, step.after) == ("netconfig@1", "keystone@1")
    [word] = step.statements
    assert str(word) == "keystone.requires: netconfig"
    assert word.place.layer == "release"
    assert chain(tiny.expansion, index(tiny, "keystone"), index(tiny, "netconfig")) == ()
    assert chain(tiny.expansion, index(tiny, "keystone"), index(tiny, "keystone")) == ()


def test_chain_passes_barriers_with_the_fewest_edges() -> None:
    base = {"type": "shell", "version": "2.0.0", "roles": ["web"]}
    tasks = (
        Task("a", base),
        Task("b", {**base, "cross_depends": [{"name": "a", "role": "*"}]}),
        Task("c", {**base, "requires": ["b"]}),
        Task("d", {**base, "requires": ["c"], "cross_depends": [{"name": "b", "role": "*"}]}),
    )
    studied = Study(snapshot(*tasks, nodes=8))
    assert barriers(studied.expansion.edges)
    steps = chain(studied.expansion, 0, 3)
    assert [(step.before_task, step.after_task) for step in steps] == [(0, 1), (1, 3)]
    assert [str(word) for step in steps for word in step.statements] == ["b.cross_depends: a", "d.cross_depends: b"]
    assert [str(word) for word in stated(studied.merged.tasks[2], studied.merged.tasks[3])] == ["d.requires: c"]


def test_a_cycle_is_a_study_with_findings() -> None:
    base = {"type": "shell", "version": "2.0.0", "roles": ["web"]}
    studied = Study(snapshot(Task("a", {**base, "requires": ["b"]}), Task("b", {**base, "requires": ["a"]})))
    assert studied.rows == ()
    assert "cycle" in studied.problem
    assert any(finding.code == "G050" for finding in studied.findings)


def test_a_study_has_the_preview_and_its_findings(tiny: Study) -> None:
    rows = preview(tiny.snapshot, PreviewOptions()).rows
    assert tiny.preview().rows == rows
    assert tiny.rows == tuple(replace(row, findings=()) for row in rows)
    assert [tuple(tiny.findings_of(number)) for number in range(len(rows))] == [row.findings for row in rows]
    assert tiny.findings == tiny.preview().findings == preview(tiny.snapshot, PreviewOptions()).findings


def test_a_graph_that_cannot_be_merged_is_a_study_with_findings() -> None:
    taken = snapshot(Task("a", {"roles": ["web"], "requires": ["b"]}), Task("b", {"type": "shell", "roles": ["web"]}))
    studied = Study(taken)
    assert (studied.rows, studied.order, studied.row_of) == ((), (), {})
    assert "cannot be merged" in studied.problem
    assert [finding.code for finding in studied.errors] == ["G020", "G046"]
    assert studied.errors == tuple(finding for finding in studied.findings if finding.is_error)


def test_errors_are_the_findings_that_are_errors() -> None:
    """Those of the merge, of patterns, of groups and of parameters, without the warnings beside them."""
    unknown = Task("g", {"type": "group", "roles": ["web"], "tasks": ["nowhere"]})
    refused = {"type": "shell", "roles": ["web"], "requires": ["/(a)\\1/", "missing"], "parameters": {"cmd": ["x"]}}
    studied = Study(snapshot(unknown, Task("a", refused), Task("b", {"requires": ["a"]})))
    errors = studied.errors
    assert [finding.code for finding in errors] == ["G020", "G015", "G043", "G046"]
    assert errors == tuple(finding for finding in studied.findings if finding.is_error)
    assert "G030" in {finding.code for finding in studied.findings}


def test_blame_says_what_was_replaced(tiny: Study) -> None:
    rows = {row.attribute: row for row in blame(tiny.merged.tasks[index(tiny, "keystone")])}
    timeout = rows["parameters.timeout"]
    assert (timeout.value, timeout.origin.owner.label, timeout.changed) == (99, "cluster", True)
    assert [(below.value, below.origin.owner.label) for below in timeout.overrode] == [(1, "release")]
    assert rows["parameters.cmd"].origin.owner.label == "release"
    assert not rows["parameters.cmd"].changed


def test_blame_says_what_a_replacement_dropped() -> None:
    release = Layer(Owner(Level.RELEASE, 1), (
        Task("a", {"type": "shell", "roles": ["web"], "requires": ["b"], "parameters": {"cmd": "x", "timeout": 1}}),
    ))  # fmt: skip
    over = Task("a", {"type": "shell", "roles": ["web"], "parameters": {"cmd": "y"}})
    cluster = Layer(Owner(Level.CLUSTER, 1), (over,))
    studied = Study(Snapshot(Cluster(1, "c", 1), (release, cluster), (), {"web": Role("web", ("web",))}))
    rows = {row.attribute: row for row in blame(studied.merged.tasks[0])}
    assert rows["requires"].removed
    assert rows["parameters.timeout"].removed
    assert [below.value for below in rows["parameters.timeout"].overrode] == [1]
    assert [below.value for below in rows["parameters.cmd"].overrode] == ["x"]
    assert not rows["type"].changed


def test_roles_bring_tasks_and_have_holders(tiny: Study) -> None:
    result = tasks_of_roles(tiny.merged.tasks, tiny.snapshot)
    names = {role: {tiny.merged.tasks[task].id for task in tasks} for role, tasks in result.items()}
    assert names == {"controller": {"netconfig", "keystone", "banner"}, "compute": {"netconfig"}}
    assert holders(tiny.snapshot.nodes)["controller"].pending == (1,)


def test_lanes_meet_where_they_lead() -> None:
    rows = list(lanes([[1, 2, 3], [3], [3], []]))
    assert [draw(row, ASCII, 9) for row in rows] == ["*-.-.", "*-+-+", "  *-+", "    *"]
    assert [(row.column, row.opened, row.joined) for row in rows] == [
        (0, (1, 2), ()), (0, (), (2,)), (1, (), (2,)), (2, (), ()),
    ]  # fmt: skip


def test_many_lanes_are_folded() -> None:
    row = Lane(0, 0, frozenset(range(1, 30)))
    assert draw(row, ASCII, 3) == "* | | ~+27"


def test_reduction_keeps_reachability_and_nothing_else() -> None:
    reach = Reach([{1, 2, 3}, {3}, {3}, {4}, set()])
    assert reach.reduced() == [[1, 2], [3], [3], [4], []]
    assert reach.reduced([0, 3, 4]) == [[3], [4], []]
    assert (reach.ancestors(3), reach.descendants(0), reach.against) == (3, 4, 0)
    assert Reach([{1}, {0}]).against == 1


def test_a_graph_is_studied_despite_its_cycles() -> None:
    base = {"type": "shell", "version": "2.0.0", "roles": ["web"]}
    tasks = [
        Task("start", base),
        Task("a", {**base, "requires": ["start", "b"]}),
        Task("b", {**base, "requires": ["a"]}),
        Task("end", {**base, "requires": ["b"]}),
    ]
    studied = Study(snapshot(*tasks), despite_cycles=True)
    assert [row.task for row in studied.rows] == ["start", "a", "b", "end"]
    assert studied.cycles == ((1, 2),)
    assert "cycle" in studied.problem
    assert any(finding.code == "G050" for finding in studied.findings)
    ordered = snapshot(tasks[0], Task("a", {**base, "requires": ["start"]}))
    one, other = Study(ordered, despite_cycles=True), Study(ordered)
    assert (one.rows, one.order, one.findings, one.cycles) == (other.rows, other.order, other.findings, ())
