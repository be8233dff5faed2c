"""Groups order the old tasks of their roles where Fuel adapts old tasks, and nowhere else."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from building import RELEASE, layer, task
from hypothesis import given
from hypothesis import strategies as st

from fuelclient.environment.layers import snapshot
from fuelclient.graph.references import check_parameters
from fuelclient.model.cluster import Cluster
from fuelclient.model.environment import Environment
from fuelclient.model.finding import Severity
from fuelclient.model.graph import DEFAULT_TYPE
from fuelclient.model.node import Node
from fuelclient.model.release import Release
from fuelclient.model.task import Task
from fuelclient.plan.expand import Expansion
from fuelclient.plan.study import Study

SETTINGS = {"editable": {"common": {"propagate_task_deploy": {"value": False, "type": "checkbox"}}}}
NAMES = ("one", "two", "three")
STAGES = (
    task("pre_deployment_start", type="stage"),
    task("pre_deployment_end", type="stage", requires=["pre_deployment_start"]),
    task("deploy_start", type="stage", requires=["pre_deployment_end"]),
    task("deploy_end", type="stage", requires=["deploy_start"]),
)


def environment(version: str, *, adapts: bool) -> Environment:
    roles = {name: {"name": name, "description": name} for name in NAMES}
    release = Release(1, "r", version, "Ubuntu", metadata={"roles_metadata": roles, "attributes_metadata": SETTINGS})
    both = Node(6, "n6", roles=("one", "two"))
    nodes = (*(Node(number, f"n{number}", roles=(NAMES[number % 3],)) for number in range(1, 6)), both)
    own = {"common": {"propagate_task_deploy": {"value": adapts}}}
    return Environment(Cluster(1, "c", 1), release, nodes=nodes, own_settings=own)


def group(name: str, **relations: Any) -> Task:
    return task(name, type="group", roles=[name], **relations)


def member(name: str, role: str, version: str = "1.0.0", **more: Any) -> Task:
    return task(name, type="reboot", roles=[role], version=version, requires=["deploy_start"], **more)


def expansion(members: Environment, *tasks: Task, graph_type: str = DEFAULT_TYPE) -> Expansion:
    return Study(snapshot(members, [layer(RELEASE, *STAGES, *tasks)], graph_type)).expansion


def orders(made: Expansion, before: str, after: str) -> bool:
    """Whether every instance of a task precedes every one of the other."""
    own = [[v for v, t in enumerate(made.task_of) if made.tasks[t].id == name] for name in (before, after)]
    return set(product(*own)) <= made.edges.pairs()


@pytest.mark.parametrize(
    ("version", "adapts", "graph_type", "joins"),
    [
        ("newton-10.0", True, "default", True), ("newton-10.0", False, "default", False),
        ("newton-10.0", True, "other", False), ("liberty-8.0", False, "default", True),
        ("2015.1.0-7.0", False, "default", True), ("2014.2.2-6.1", False, "default", True),
        ("mitaka-9.0", False, "default", False),
    ],
)  # fmt: skip
@pytest.mark.parametrize("told", ["requires", "required_for"])
def test_where_groups_order_old_tasks(version: str, adapts: bool, graph_type: str, joins: bool, told: str) -> None:
    relations = (
        {"one": {"required_for": ["two"]}, "two": {}} if told == "required_for" else {"two": {"requires": ["one"]}}
    )
    tasks = [*(group(name, **relations.get(name, {})) for name in NAMES), member("a", "one"), member("b", "two")]
    members = environment(version, adapts=adapts)
    made = expansion(members, *tasks, graph_type=graph_type)
    assert orders(made, "a", "b") is joins
    lost = Study(snapshot(members, [layer(RELEASE, *STAGES, *tasks)], graph_type)).findings
    warned = [finding.task for finding in lost if finding.code == "G027"]
    assert warned == ([] if joins else ["b"])


def test_lost_orders_are_one_finding_at_the_first_old_task() -> None:
    row = [group("one"), group("two", requires=["one"]), group("three", requires=["two", "one"])]
    old, new = [member(name, "three") for name in "abc"], member("n", "two", "2.0.0")
    given = snapshot(environment("mitaka-9.0", adapts=False), [layer(RELEASE, *row, new, *old)], DEFAULT_TYPE)
    (found,) = [one for one in Study(given).findings if one.code == "G027"]
    assert (found.task, found.message.count("three requires")) == ("a", 2)
    assert "task a and 2 more: relations" in found.message
    assert "two requires" not in found.message


def test_new_tasks_and_earlier_stages_wait_for_no_group() -> None:
    members = environment("newton-10.0", adapts=True)
    early = task(
        "early", type="reboot", roles=["two"], requires=["pre_deployment_start"], required_for=["pre_deployment_end"]
    )
    tasks = [group("one"), group("two", requires=["one"]), member("a", "one"), member("new", "two", "2.0.0"), early]
    made = expansion(members, *tasks, member("b", "two"))
    assert orders(made, "a", "b")
    assert not orders(made, "a", "new")
    assert not orders(made, "a", "early")


@pytest.mark.parametrize(("version", "waits"), [("newton-10.0", True), ("liberty-8.0", False)])
def test_new_tasks_in_an_old_graph_end_the_order_by_roles(version: str, waits: bool) -> None:
    members = environment(version, adapts=True)
    made = expansion(
        members, group("one"), group("two", requires=["one"]), member("a", "one", "2.0.0"), member("b", "two")
    )
    assert orders(made, "a", "b") is waits


@pytest.mark.parametrize("adapts", [True, False])
def test_what_a_stage_orders_belongs_to_no_group(adapts: bool) -> None:
    members = environment("liberty-8.0", adapts=adapts)
    entry = Task("p:pre", {"type": "reboot", "roles": ["two"], "stage": "pre_deployment/5"}, legacy=True)
    tasks = [*STAGES, group("one"), group("two", requires=["one"]), member("a", "one"), entry]
    assert not Study(snapshot(members, [layer(RELEASE, *tasks)], DEFAULT_TYPE)).problem


def test_an_order_goes_through_a_group_without_tasks() -> None:
    members = environment("newton-10.0", adapts=True)
    tasks = [group("one"), group("two", requires=["one"]), group("three", requires=["two"])]
    assert orders(expansion(members, *tasks, member("a", "one"), member("b", "three")), "a", "b")


@given(
    st.lists(st.tuples(st.sampled_from(["a", "b", "c", "d"]), st.sets(st.sampled_from(NAMES), min_size=1)), max_size=6)
)
def test_groups_in_a_row_never_close_a_cycle(stated: list[tuple[str, set[str]]]) -> None:
    """Also if a task belongs to several groups: it counts where it is first."""
    members = environment("liberty-8.0", adapts=False)
    tasks = {name: task(name, type="reboot", groups=sorted(of), requires=["deploy_start"]) for name, of in stated}
    row = [group("one"), group("two", requires=["one"]), group("three", requires=["two"])]
    assert not Study(snapshot(members, [layer(RELEASE, *STAGES, *row, *tasks.values())], DEFAULT_TYPE)).problem


def test_what_a_master_of_an_old_release_fills_in_is_named() -> None:
    for version, is_old in (("liberty-8.0", True), ("mitaka-9.0", False)):
        members = environment(version, adapts=False)
        upload = task("upload_core_repos", type="puppet", roles=["one"])
        drafted = Study(snapshot(members, [layer(RELEASE, upload)], DEFAULT_TYPE))
        found = [finding for finding in drafted.findings if finding.code == "G046"]
        assert ["including Fuel 8.0" in finding.hint for finding in found] == [is_old]


@pytest.mark.parametrize(
    ("stated", "told"),
    [
        (task("upload_nodes_info", type="upload_file", parameters={"path": "/a"}), (Severity.WARNING, True)),
        (task("upload_mine", type="upload_file", parameters={"path": "/a"}), (Severity.ERROR, False)),
        (
            task("upload_nodes_info", type="upload_file", version="2.0.0", parameters={"path": "/a"}),
            (Severity.ERROR, False),
        ),
    ],
)
def test_a_file_does_not_say_which_master_fills_in_its_tasks(stated: Task, told: tuple[Severity, bool]) -> None:
    """Only Fuel up to 8.0 does, and only for tasks of certain names, which are old."""
    assert {(one.severity, "including Fuel 8.0" in one.hint) for one in check_parameters(stated)} == {told}
