"""What is told of a cycle: its edges, the layer that closed it, and fixes that work when they are applied."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from building import CLUSTER, RELEASE, layer, plugin, roles, snapshot, task

from fuelclient.graph.merge import merge_layers
from fuelclient.model.graph import Layer
from fuelclient.model.node import Node
from fuelclient.model.snapshot import Snapshot
from fuelclient.model.task import Source, Task
from fuelclient.plan.expand import Statement, expand
from fuelclient.plan.fleet import fleet_of
from fuelclient.plan.order import CycleReport, cycle_reports
from fuelclient.plan.preview import PreviewOptions
from fuelclient.plan.study import Study


def shell(name: str, **attributes: Any) -> Task:
    return task(name, type="shell", roles=["db"], source=Source(f"{name}.yaml", 1, {"requires": 3}), **attributes)


def taken(*layers: Layer, nodes: int = 2) -> Snapshot:
    return snapshot(layers, [Node(number, f"n{number}", roles=("db",)) for number in range(1, nodes + 1)], roles("db"))


def reports(given: Snapshot) -> list[CycleReport]:
    return cycle_reports(given, expand(merge_layers(given.layers).tasks, fleet_of(given)))


def applied(given: Snapshot, fix: tuple[Statement, ...]) -> Snapshot:
    """Return the snapshot after a person removed the words of a fix from the documents of its layers."""
    layers = []
    for one in given.layers:
        tasks = []
        for each in one.tasks:
            attributes = dict(each.attributes)
            for drop in (drop for drop in fix if drop.task == each.id and drop.attribute in attributes):
                attributes[drop.attribute] = [
                    item
                    for item in attributes[drop.attribute]
                    if (item["name"] if isinstance(item, dict) else item) != drop.word
                ]
            tasks.append(replace(each, attributes=attributes))
        layers.append(replace(one, tasks=tuple(tasks)))
    return replace(given, layers=tuple(layers))


def works(given: Snapshot, fix: tuple[Statement, ...]) -> bool:
    return all(finding.code != "G050" for finding in Study(applied(given, fix), PreviewOptions()).findings)


def test_a_cycle_that_a_plugin_closes() -> None:
    given = taken(
        layer(RELEASE, shell("a"), shell("b", requires=["a"]), shell("c", requires=["b"])),
        layer(plugin("extra"), shell("x", requires=["c"], required_for=["a"])),
        layer(CLUSTER, shell("y", requires=["x"])),
    )
    (report,) = reports(given)
    assert report.names == ("a@1", "b@1", "c@1", "x@1")
    assert (report.closed_by, report.only_with_it, report.tasks) == ("plugin extra-1.0.0", True, 4)
    assert [[(drop.task, drop.attribute, drop.word) for drop in fix] for fix in report.fixes] == [
        [("b", "requires", "a")],
        [("c", "requires", "b")],
        [("x", "requires", "c")],
        [("x", "required_for", "a")],
    ]
    assert all(works(given, fix) for fix in report.fixes)
    assert report.findings[0].place.layer == "plugin extra-1.0.0"
    drawn = report.drawn()
    assert [line.split()[-1] for line in drawn.splitlines()[0:8:2]] == list(report.names)
    assert "b.yaml:3" in drawn


def test_two_sets_of_tasks_are_two_reports() -> None:
    given = taken(
        layer(RELEASE, shell("a", requires=["b"]), shell("b", requires=["a"]), shell("c"), shell("d", requires=["c"])),
        layer(CLUSTER, task("c", requires=["d"])),
    )
    told = reports(given)
    assert [report.names for report in told] == [("a@1", "b@1"), ("c@1", "d@1")]
    assert [(report.closed_by, report.only_with_it) for report in told] == [("release", True), ("cluster", True)]
    assert all(works(given, (*one, *other)) for one in told[0].fixes for other in told[1].fixes)
    heads = [finding for finding in Study(given).findings if finding.code == "G050" and not finding.task]
    assert len(heads) == 2
    assert all("verified" in head.hint for head in heads)


def test_a_fix_of_several_statements_has_none_too_many() -> None:
    """Two rings that share one task: no single statement removes both."""
    given = taken(
        layer(
            RELEASE,
            shell("a", requires=["b", "c"]),
            shell("b", cross_depends=[{"name": "a", "role": "self"}]),
            shell("c", requires=["/^a$/"]),
        )
    )
    (report,) = reports(given)
    (fix,) = report.fixes
    assert len(fix) == 2
    assert works(given, fix)
    assert not any(works(given, (drop,)) for drop in fix)
    assert report.closed_by == ""


def test_an_order_that_two_tasks_state_goes_only_with_both() -> None:
    given = taken(layer(RELEASE, shell("a", required_for=["b"]), shell("b", requires=["a"], required_for=["a"])))
    (report,) = reports(given)
    assert sorted(len(fix) for fix in report.fixes) == [1, 2]
    assert all(works(given, fix) for fix in report.fixes)


def test_a_task_that_waits_for_itself_on_other_nodes() -> None:
    given = taken(layer(RELEASE, shell("a", cross_depends=[{"name": "a", "role": "db"}])), nodes=3)
    (report,) = reports(given)
    assert report.fixes
    assert all(works(given, fix) for fix in report.fixes)


def test_a_graph_with_an_order_has_no_report() -> None:
    assert reports(taken(layer(RELEASE, shell("a"), shell("b", requires=["a"])))) == []
