"""The total order with its reasons, what a task holds up, and the figures of a graph."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from command_line import CommandLine
from questioned import questioned_engine

from fuelclient.insight.relation import positions
from fuelclient.insight.stats import impact, stats
from fuelclient.model.cluster import Cluster
from fuelclient.model.graph import Layer, Level, Owner
from fuelclient.model.node import Node
from fuelclient.model.release import Role
from fuelclient.model.snapshot import Snapshot
from fuelclient.model.task import Task
from fuelclient.plan.study import Study


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    return questioned_engine(tmp_path_factory.mktemp("questioned"))


def random_study(seed: int) -> Study:
    """Return the study of up to 12 tasks on three nodes, some linked across nodes."""
    chance = random.Random(seed)  # noqa: S311 - it is no secret
    tasks = []
    for number in range(chance.randint(2, 12)):
        before = [f"t{other}" for other in range(number) if chance.random() < 0.25]
        across = [{"name": f"t{other}"} for other in range(number) if chance.random() < 0.1]
        attributes = {"type": "shell", "version": "2.1.0", "roles": ["web"] if chance.random() < 0.8 else ["master"]}
        tasks.append(Task(f"t{number}", {**attributes, "requires": before, "cross_depends": across}))
    nodes = tuple(Node(number, f"node-{number}", 1, roles=("web",)) for number in (1, 2, 3))
    layer = Layer(Owner(Level.RELEASE, 1), tuple(tasks))
    return Study(Snapshot(Cluster(1, "c", 1), (layer,), nodes, {"web": Role("web", ("web",))}))


def test_example_of_the_specification_has_order_and_reasons(engine: CommandLine) -> None:
    rows = engine.ok("graph", "order", "--env", 1, "-f", "json").json["order"]
    assert [(row["stage"], row["layer"], row["because"]) for row in rows if ":" in row["task"]] == [
        ("pre_deployment/-101", "plugin plugin2-1.0.0", "stage"),
        ("pre_deployment/-100", "plugin plugin1-1.0.0", "priority"),
        ("pre_deployment/-99.9", "plugin plugin1-1.0.0", "priority"),
        ("pre_deployment", "plugin plugin1-1.0.0", "priority"),
        ("pre_deployment", "plugin plugin2-1.0.0", "plugin"),
        ("pre_deployment/0", "plugin plugin2-1.0.0", "file"),
        ("pre_deployment/100", "plugin plugin1-1.0.0", "priority"),
        ("pre_deployment/100.0", "plugin plugin2-1.0.0", "plugin"),
    ]


def test_reasons_name_predecessors_of_the_generation_before() -> None:
    for seed in range(100):
        studied = random_study(seed)
        generation = {row.task: row.first_generation for row in studied.rows}
        for position in positions(studied):
            before = {studied.merged.tasks[index].id for index in studied.before[position.index]}
            if not position.after:
                assert generation[position.task] in (0, None), (seed, position)
                continue
            assert position.after in before, (seed, position)
            assert position.because == "dependency"
            assert {position.after, position.task} >= {word.task for word in position.statements}


def test_an_impact_is_the_closure_of_the_edges() -> None:
    for seed in range(100):
        studied = random_study(seed)
        expansion = studied.expansion
        pairs = expansion.edges.pairs()
        for task in set(expansion.task_of):
            starts = {vertex for vertex, own in enumerate(expansion.task_of) if own == task}
            waiting = closure(pairs, starts) - starts
            free = closure({pair for pair in pairs if not starts & set(pair)}, roots(pairs, expansion.size) - starts)
            found = impact(expansion, {task})
            assert found.waiting_instances == len(waiting), (seed, task)
            assert {held.index for held in found.waiting} == {expansion.task_of[vertex] for vertex in waiting}
            for held in found.waiting:
                own = {vertex for vertex, index in enumerate(expansion.task_of) if index == held.index}
                assert held.only_through == own.isdisjoint(free - (own - waiting)), (seed, task, held)


def closure(pairs: set[tuple[int, int]], starts: set[int]) -> set[int]:
    reached = set(starts)
    while grown := {after for before, after in pairs if before in reached} - reached:
        reached |= grown
    return reached


def roots(pairs: set[tuple[int, int]], size: int) -> set[int]:
    return set(range(size)) - {after for _, after in pairs}


def test_a_longest_chain_has_one_instance_of_each_generation() -> None:
    for seed in range(100):
        studied = random_study(seed)
        figures = stats(studied)
        pairs = {
            (studied.expansion.name(before), studied.expansion.name(after))
            for before, after in studied.expansion.edges.pairs()
        }
        assert len(figures.longest) == figures.generations
        assert set(zip(figures.longest, figures.longest[1:], strict=False)) <= pairs
        assert figures.edges == sum(map(len, studied.after))


def test_a_graph_with_a_cycle_has_no_order(tmp_path: Path) -> None:
    engine = questioned_engine(tmp_path)
    cycle = "- {id: cache, requires: [horizon]}\n"
    engine.ok("graph", "upload", "--env", 1, "--type", "default", "--file", "-", stdin=cycle)
    for command in ("order", "stats"):
        done = engine("graph", command, "--env", 1)
        assert (done.code, done.out) == (7, "")
        assert "cycle" in done.err
    assert engine("graph", "impact", "cache", "--env", 1).code == 0
