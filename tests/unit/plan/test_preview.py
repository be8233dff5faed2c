"""Previews: their findings with place and hint, and what cannot be previewed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from building import CLUSTER, RELEASE, layer, plugin, roles, snapshot, task
from refusals import missing

from fuelclient.errors import CycleDetected, UsageError
from fuelclient.model.finding import Severity
from fuelclient.model.graph import Layer
from fuelclient.model.node import Node
from fuelclient.model.snapshot import Snapshot
from fuelclient.model.task import Source, Task
from fuelclient.plan.preview import PreviewOptions
from fuelclient.plan.study import Study, preview

FILE = Source("t.yaml", 3, {"type": 4, "roles": 5, "tasks": 6, "cross_depends": 7, "requires": 8, "tags": 9})
KNOWN = roles("db", "web")


def _env(
    *tasks: Task, layers: Sequence[Layer] = (), nodes: Sequence[Node] = (), primary: Sequence[str] = ()
) -> Snapshot:
    return snapshot([layer(RELEASE, *tasks), *layers], nodes, KNOWN, primary)


def _found(taken: Snapshot, assume: str = "db=1") -> list[tuple[str, str, str, str]]:
    options = PreviewOptions(assume=assume)
    told = preview(taken, options).findings
    assert told == Study(taken, options).findings, "both ways of asking give the same answer"
    return [(str(finding.severity), finding.code, str(finding.place), finding.hint) for finding in told]


def test_a_task_without_roles_runs_nowhere() -> None:
    assert _found(_env(task("a", source=FILE, type="reboot"))) == [("warning", "G040", "t.yaml:4", "Give it roles.")]


def test_a_task_that_a_group_lists_needs_no_roles() -> None:
    group = task("g", type="group", roles=["web"], tasks=["a"])

    assert _found(_env(task("a", source=FILE, type="reboot"), group)) == [("info", "G042", "t.yaml:3", "")]


def test_a_group_without_roles_places_nothing() -> None:
    findings = _found(_env(task("g", source=FILE, type="group", tasks=["a"]), task("a", type="reboot", roles=["db"])))

    assert findings == [("warning", "G040", "t.yaml:4", "Give it roles.")]


def test_undefined_role_is_a_warning_with_the_nearest_name() -> None:
    assert _found(_env(task("a", source=FILE, type="reboot", roles=["wbe"]))) == [
        ("warning", "G041", "t.yaml:5", "Did you mean web?")
    ]


def test_a_misspelt_role_among_good_ones_is_a_warning() -> None:
    """The task runs, but not where its author meant it to: nothing else would tell."""
    taken = _env(task("a", source=FILE, type="reboot", roles=["db", "wbe", "/w.*/"]))

    assert _found(taken) == [("warning", "G041", "t.yaml:5", "Did you mean web?")]
    assert preview(taken, PreviewOptions(assume="db=1")).rows[0].nodes == (1,)


def test_a_role_that_a_node_has_is_known() -> None:
    taken = _env(task("a", type="reboot", roles=["stranger", "db"]), nodes=[Node(1, "n", roles=("stranger",))])

    assert preview(taken, PreviewOptions()).findings == ()


def test_the_attribute_that_places_is_the_one_that_is_blamed() -> None:
    assert _found(_env(task("a", source=FILE, type="reboot", tags=["wbe"], roles=["db"]))) == [
        ("warning", "G041", "t.yaml:9", "Did you mean web?")
    ]


@pytest.mark.parametrize("name", ["web", "/w.*/", "/primary-w/", "primary-web"])
def test_a_role_that_nobody_has_here_is_worth_a_note(name: str) -> None:
    taken = _env(task("a", source=FILE, type="reboot", roles=[name]), primary=["web"])

    assert _found(taken) == [("info", "G042", "t.yaml:5", "")]


@pytest.mark.parametrize("name", ["db", "*", "master", "/.*/", "primary-db"])
def test_a_task_that_runs_somewhere_is_good(name: str) -> None:
    assert _found(_env(task("a", source=FILE, type="reboot", roles=[name]), primary=["db"]), "db=2") == []


def test_a_group_that_lists_an_unknown_task_is_an_error() -> None:
    taken = _env(
        task("netconfig", type="reboot", roles=["db"]),
        task("g", source=FILE, type="group", roles=["db"], tasks=["netconfg"]),
    )

    assert _found(taken) == [("error", "G043", "t.yaml:6", "Did you mean netconfig?")]
    assert _found(taken, "web=1") == [("info", "G042", "release", "")]


def test_two_variants_on_one_node_are_an_error_of_the_later() -> None:
    layers = [
        layer(plugin(name), task("t", source=Source(f"{name}.yaml", 9), type="reboot", roles=["db"])) for name in "ab"
    ]
    ((severity, code, place, hint),) = _found(_env(layers=layers), "db=3")

    assert (severity, code, place) == ("error", "G044", "b.yaml:9")
    assert hint
    (finding,) = Study(_env(layers=layers), PreviewOptions(assume="db=3")).findings
    for part in ("task t", "plugin a-1.0.0", "plugin b-1.0.0", "node 1 and 2 more"):
        assert part in finding.message
    assert _found(_env(layers=[*layers, layer(CLUSTER, task("t", type="reboot", roles=["db"]))])) == []


@pytest.mark.parametrize(
    "entry",
    [
        {"yaql_exp": "$.x"},
        [{"yaql_exp": "$.x"}],
        [{"name": {"yaql_exp": "$"}}],
        [{"name": "a", "role": {"yaql_exp": "$"}}],
    ],
)
def test_what_is_computed_from_facts_is_left_out_and_said(entry: object) -> None:
    assert _found(_env(task("a", source=FILE, type="reboot", roles=["db"], cross_depends=entry))) == [
        ("info", "G033", "t.yaml:7", "")
    ]


def test_names_that_are_computed_from_facts_are_said_too() -> None:
    taken = _env(task("a", source=FILE, type="reboot", roles=["db"], requires=["a", {"yaql_exp": "$.x"}]))

    assert _found(taken) == [("info", "G033", "t.yaml:8", "")]


def test_offline_nodes_are_named() -> None:
    nodes = [Node(number, "n", roles=("db",), online=number != 2) for number in (1, 2)]
    previewed = preview(_env(nodes=nodes), PreviewOptions()).findings

    (finding,) = previewed
    assert (finding.severity, finding.code) == (Severity.WARNING, "G045")
    assert finding.message.endswith(": 2")


def test_master_merges_nothing_if_two_plugins_define_a_task() -> None:
    layers = [
        layer(plugin(name), task("t", source=Source(f"{name}.yaml", 9), type="reboot", roles=[role]))
        for name, role in (("a", "db"), ("b", "web"))
    ]
    own = layer(CLUSTER, task("t", type="reboot", roles=["db"]))
    for chosen in (layers, [*layers, own]):
        taken = _env(layers=chosen)
        assert _found(taken, "db=1,web=1") == []
        previewed = preview(replace(taken, unique_tasks=True), PreviewOptions(assume="db=1,web=1"))
        ((code, place, message),) = [
            (one.code, str(one.place), one.message) for one in previewed.findings if one.is_error
        ]
        assert (code, place) == ("G049", "b.yaml:9")
        assert "plugin a-1.0.0" in message
        assert "plugin b-1.0.0" in message
        assert {row.task for row in previewed.rows} == {"t"}


def test_a_row_has_the_findings_of_its_task() -> None:
    previewed = preview(
        _env(task("a", type="reboot"), task("b", type="reboot", roles=["db"])), PreviewOptions(assume="db=1")
    )

    assert {row.task: [finding.code for finding in row.findings] for row in previewed.rows} == {"a": ["G040"], "b": []}


def test_unmergeable_task_is_left_out_of_the_preview() -> None:
    taken = _env(task("a", type="reboot"), layers=[layer(CLUSTER, task("b", source=FILE, requires=["a"]))])
    previewed = preview(taken, PreviewOptions())

    assert [row.task for row in previewed.rows] == ["a"]
    assert [(one.code, one.task, str(one.place)) for one in previewed.findings if one.is_error] == [
        ("G020", "b", "t.yaml:3")
    ]
    assert "G020" in [finding.code for finding in Study(taken, PreviewOptions()).findings]


def test_a_cycle_is_raised_by_a_preview_and_told_by_findings() -> None:
    taken = _env(
        task("a", type="reboot", roles=["db"], requires=["b"]), task("b", type="reboot", roles=["db"], requires=["a"])
    )
    options = PreviewOptions(assume="db=1")
    with pytest.raises(CycleDetected) as caught:
        preview(taken, options)

    told = Study(taken, options).findings
    assert [finding.code for finding in told] == ["G050", "G050", "G050"]
    assert told == caught.value.findings


def test_wrong_request_is_raised_before_any_finding() -> None:
    with pytest.raises(UsageError):
        preview(_env(), PreviewOptions(assume="db"))
    with missing("role", "bd", "db"):
        assert Study(_env(), PreviewOptions(assume="bd=1")).findings
    with missing("node", "4"):
        preview(_env(nodes=[Node(1, "n")]), PreviewOptions(node_ids=(4,)))


def test_some_nodes_are_all_there_are() -> None:
    """Who is not selected is not waited for."""
    nodes = [Node(1, "n", roles=("db",)), Node(2, "n", roles=("web",))]
    taken = _env(
        task("a", type="reboot", roles=["db"]),
        task("b", type="reboot", roles=["web"], cross_depends=[{"name": "a"}]),
        nodes=nodes,
    )
    rows = {row.task: (row.nodes, row.first_generation) for row in preview(taken, PreviewOptions(node_ids=(2,))).rows}

    assert rows == {"a": ((), None), "b": ((2,), 0)}


def test_a_release_alone_changes_nothing() -> None:
    taken = _env(
        task("a", type="reboot", roles=["db"]), layers=[layer(CLUSTER, task("b", type="reboot", roles=["db"]))]
    )
    rows = preview(taken, PreviewOptions(assume="db=1")).rows

    assert {row.task: row.is_changed for row in rows} == {"a": False, "b": True}


def test_an_empty_graph_has_an_empty_preview() -> None:
    previewed = preview(snapshot([]), PreviewOptions())

    assert (previewed.rows, previewed.instances, previewed.generations, previewed.nodes) == ((), 0, 0, 0)


def test_a_node_filter_that_only_runs_obey_is_told() -> None:
    """Nodes that are named are those of the run, too; and of several layers the last one's filter counts."""
    filters = {"release": "$.status = ready", "own": "$.id = 2"}
    stating = replace(layer(RELEASE, task("a", type="stage")), metadata={"node_filter": filters["release"]})
    own = replace(layer(CLUSTER), metadata={"node_filter": filters["own"]})
    nodes = [Node(1, "one", roles=("db",)), Node(2, "two", roles=("db",))]
    for layers, options, told in (
        ([stating], PreviewOptions(), [filters["release"]]),
        ([stating], PreviewOptions(assume="db=1"), [filters["release"]]),
        ([stating, own], PreviewOptions(), [filters["own"]]),
        ([stating], PreviewOptions(node_ids=(1,)), []),
        ([layer(RELEASE, task("a", type="stage"))], PreviewOptions(), []),
    ):
        found = [one for one in Study(snapshot(layers, nodes, KNOWN, ()), options).findings if one.code == "G067"]
        assert [one.message.partition("all nodes: ")[2] for one in found] == told
        assert all(one.severity is Severity.INFO for one in found)
