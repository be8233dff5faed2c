"""How two tasks are ordered: chains, stages, ties, and what would order them."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import CommandLine
from corpus import corpus
from questioned import questioned_engine

from fuelclient.insight.relation import Relation, relation
from fuelclient.model.cluster import Cluster
from fuelclient.model.graph import Layer, Level, Owner
from fuelclient.model.node import Node
from fuelclient.model.release import Role
from fuelclient.model.snapshot import Snapshot
from fuelclient.model.task import Task
from fuelclient.plan.study import Study, indices_of


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    return questioned_engine(tmp_path_factory.mktemp("questioned"))


def made(*tasks: Task, nodes: int = 2) -> Study:
    holding = tuple(Node(number, f"node-{number}", 1, roles=("web",)) for number in range(1, nodes + 1))
    layer = Layer(Owner(Level.RELEASE, 1), tasks)
    return Study(Snapshot(Cluster(1, "c", 1), (layer,), holding, {"web": Role("web", ("web",))}))


def task(name: str, **attributes: object) -> Task:
    return Task(name, {"type": "shell", "version": "2.1.0", "roles": ["web"], **attributes})


def between(studied: Study, first: str, second: str) -> Relation:
    return relation(studied.expansion, indices_of(studied.merged, first), indices_of(studied.merged, second))


def test_either_order_of_the_names_gives_the_same_answer() -> None:
    studied = made(task("a"), task("b", requires=["a"]), task("c", requires=["b"]))
    there, back = between(studied, "a", "c"), between(studied, "c", "a")
    assert there == back
    assert (there.before, there.after, there.because, there.same_node) == ("a", "c", "dependency", True)
    assert there.paths is not None
    assert (there.paths.count, there.paths.waypoints) == (1, ("b",))


def test_order_across_nodes_is_found_without_one_on_a_node() -> None:
    studied = made(task("a"), task("b", cross_depends=[{"name": "a", "role": ["web"], "policy": "any"}]))
    answer = between(studied, "b", "a")
    assert answer.same_node  # any means the lowest node, which has both
    one_by_one = made(task("a"), task("b"), task("c", roles=["master"], cross_depends=[{"name": "a"}]))
    answer = between(one_by_one, "a", "c")
    assert (answer.same_node, answer.chain[0].after) == (False, "c@master")


@pytest.mark.parametrize(
    ("before", "after", "override"),
    [
        ("heat", "horizon", "{id: horizon, requires: [keystone, heat]}"),
        ("agent", "heat", "{id: heat, cross_depends: [{name: agent}]}"),
    ],
)
def test_the_advice_orders_tasks_without_a_cycle(tmp_path: Path, before: str, after: str, override: str) -> None:
    engine = questioned_engine(tmp_path)
    assert not engine.ok("graph", "why", before, after, "--env", 1, "-f", "json").json["ordered"]
    engine.ok("graph", "upload", "--env", 1, "--type", "default", "--file", "-", stdin=f"- {override}\n")
    answer = engine.ok("graph", "why", before, after, "--env", 1, "-f", "json").json
    assert (answer["before"], answer["after"]) == (before, after)
    assert engine("graph", "validate", "--env", 1).code == 0


def test_a_task_on_no_node_has_no_order() -> None:
    studied = made(task("a"), task("b", roles=["absent"], requires=["a"]))
    assert between(studied, "a", "b").because == "nowhere"


def test_common_neighbours_are_the_nearest() -> None:
    studied = made(
        task("root"), task("fork", requires=["root"]), task("left", requires=["fork"]),
        task("right", requires=["fork"]), task("join", requires=["left", "right"]), task("end", requires=["join"]),
    )  # fmt: skip
    answer = between(studied, "left", "right")
    assert (answer.preceding.count, answer.preceding.nearest) == (2, ("fork",))
    assert (answer.following.count, answer.following.nearest) == (2, ("join",))


@pytest.mark.parametrize(
    ("first", "second", "because"),
    [
        ("plugin2:pre_deployment#3", "plugin1:pre_deployment#2", "priority"),
        ("plugin1:pre_deployment#1", "plugin2:pre_deployment#1", "plugin"),
        ("plugin2:pre_deployment#1", "plugin2:pre_deployment#4", "file"),
        ("plugin1:pre_deployment#2", "plugin2:pre_deployment#2", "plugin"),
        ("plugin1:pre_deployment#2", "globals", "dependency"),
    ],
)
def test_rules_of_stages(engine: CommandLine, first: str, second: str, because: str) -> None:
    answer = engine.ok("graph", "why", second, first, "--env", "prod", "-f", "json").json
    assert (answer["before"], answer["after"], answer["because"]) == (first, second, because)


def test_each_edge_has_its_field_layer_and_line(engine: CommandLine) -> None:
    answer = engine.ok("graph", "why", "keystone", "netconfig", "--env", 1, "-f", "json").json
    [step] = answer["chain"]
    assert step["statements"] == [
        {
            "task": "keystone", "attribute": "requires", "word": "netconfig", "layer": "cluster", "file": "<stdin>",
            "line": 3,
        }
    ]  # fmt: skip


def test_bad_names_are_refused(engine: CommandLine) -> None:
    assert engine("graph", "why", "keystone", "keystone", "--env", 1).code == 2
    done = engine("graph", "why", "keystone", "netconfg", "--env", 1)
    assert done.code == 5
    assert "Did you mean netconfig?" in done.err


def test_a_graph_with_a_cycle_has_answers_too(tmp_path: Path) -> None:
    engine = questioned_engine(tmp_path)
    cycle = "- {id: cache, requires: [horizon]}\n"
    engine.ok("graph", "upload", "--env", 1, "--type", "default", "--file", "-", stdin=cycle)
    done = engine.ok("graph", "why", "horizon", "cache", "--env", 1, "-f", "json")
    assert done.json["paths"]["count"] is None
    assert "G050" in done.err


@pytest.mark.corpus
def test_newton_has_the_known_waypoints(tmp_path: Path) -> None:
    fuel2 = CommandLine(tmp_path / "engine.db")
    fixture = corpus("fuel-web", "newton", "nailgun", "nailgun", "fixtures", "openstack.yaml")
    fuel2.ok("release", "import", fixture)
    puppet = corpus("fuel-library", "newton", "deployment", "puppet")
    fuel2.ok("graph", "upload", "--release", 2, "--type", "default", "--dir", puppet)
    fuel2.ok("env", "create", "prod", "--release", 2)
    answer = fuel2.ok("graph", "why", "keystone", "globals", "--env", 1, "-f", "json").json
    assert (answer["before"], answer["after"]) == ("globals", "keystone")
    assert answer["paths"]["waypoints"] == ["logging", "tools", "netconfig"]
    assert len(answer["paths"]["minimum_cut"]) == 1
    assert [step["after"].partition("@")[0] for step in answer["chain"]] == [
        "logging", "tools", "netconfig", "apache", "keystone",
    ]  # fmt: skip
