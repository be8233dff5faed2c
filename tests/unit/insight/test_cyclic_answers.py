"""What is answered about a graph with a cycle, and how it is drawn."""

from __future__ import annotations

import json
import random
import re
from itertools import pairwise
from pathlib import Path

import pytest
from command_line import CommandLine
from jsonschema import Draft202012Validator
from questioned import questioned_engine
from unit.insight.test_study import snapshot

from fuelclient.graph.dag import components, order
from fuelclient.model.snapshot import Snapshot
from fuelclient.model.task import Task
from fuelclient.plan.order import ordered_despite_cycles
from fuelclient.plan.preview import PreviewOptions
from fuelclient.plan.study import Study

SCHEMA = json.loads((Path(__file__).parents[3] / "docs" / "answers.schema.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def cyclic(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """Environment 1, in which cache -> keystone -> horizon -> cache."""
    engine = questioned_engine(tmp_path_factory.mktemp("cyclic"))
    override = "- {id: cache, requires: [netconfig, horizon]}\n"
    engine.ok("graph", "upload", "--env", 1, "--type", "default", "--file", "-", stdin=override)
    return engine


def test_a_query_is_answered_and_names_the_cycle(cyclic: CommandLine) -> None:
    done = cyclic.ok("graph", "query", "globals..horizon", "--env", 1)
    assert set(done.out.split()) == {"globals", "netconfig", "database", "cache", "keystone", "horizon"}
    assert done.out.split()[:2] == ["globals", "netconfig"]
    assert "cache -> keystone -> horizon -> cache" in done.err
    assert "graph validate --env 1 --type default" in done.err
    document = cyclic.ok("graph", "query", "1+keystone", "--env", 1, "-f", "json").json
    Draft202012Validator(SCHEMA).validate(document)
    assert document["cycles"] == [["cache", "keystone", "horizon"]]
    assert [row["task"] for row in document["selected"]] == ["database", "cache", "keystone"]


def test_what_needs_an_order_is_refused_with_a_caret(cyclic: CommandLine) -> None:
    done = cyclic("graph", "query", "heat or stage:deploy", "--env", 1)
    assert done.code == 2
    assert "cycle" in done.err
    assert "\n          ^\n" in done.err
    staged = cyclic.ok("graph", "query", "stage:pre_deployment/>=100", "--env", 1).out.split()
    assert staged == ["plugin1:pre_deployment#2", "plugin2:pre_deployment#2"]


def test_a_cycle_is_marked_in_every_picture(cyclic: CommandLine, tmp_path: Path) -> None:
    def drawn(form: str, *words: str) -> str:
        return cyclic.ok("graph", "render", *words, "--env", 1, "-f", form).out

    marked = [line.split("[")[0].strip() for line in drawn("dot").splitlines() if "color=red, penwidth" in line]
    assert sorted(marked) == ["cache -> keystone", "horizon -> cache", "keystone -> horizon"]
    assert drawn("txt").splitlines()[-1] == "cycle: cache -> keystone -> horizon -> cache"
    mermaid = drawn("mmd")
    links = [line.strip() for line in mermaid.splitlines() if re.search("--?>|-.->", line)]
    (style,) = re.findall(r"linkStyle ([\d,]+) ", mermaid)
    numbers = {name: number for number, name in re.findall(r'(t\d+)\["(.*)"\]', mermaid)}
    assert {re.sub(r" \S+ ", " ", links[int(number)]) for number in style.split(",")} == {
        f"{numbers[before]} {numbers[after]}"
        for before, after in (("cache", "keystone"), ("keystone", "horizon"), ("horizon", "cache"))
    }
    assert drawn("html").count('"cycle"]') == 3
    assert "penwidth" not in drawn("dot", "database+1")
    assert "cycle" not in drawn("txt", "globals..netconfig")


def test_other_questions_still_need_an_order(cyclic: CommandLine) -> None:
    assert cyclic("graph", "order", "--env", 1).code == 7


def _random(seed: int) -> Snapshot:
    chance = random.Random(seed)  # noqa: S311 (only a test)
    names = [f"t{number}" for number in range(8)]
    tasks = []
    for name in names:
        others = [other for other in names if other != name]
        requires = chance.sample(others, chance.choice((0, 1, 1, 2)))
        stated = {"type": "shell", "version": "2.0.0", "roles": ["web"], "requires": requires}
        tasks.append(Task(name, stated))
    return snapshot(*tasks)


def test_order_holds_between_instances_of_different_cycles() -> None:
    cyclic = 0
    for seed in range(150):
        expansion = Study(_random(seed), PreviewOptions()).expansion
        successors = expansion.edges.successors()
        found, rings = ordered_despite_cycles(expansion)
        stuck = order(successors, expansion.size).stuck
        assert bool(rings) == bool(stuck)
        cyclic += bool(rings)
        together = [set(component) for component in components(successors, stuck)]
        pairs = set(expansion.edges.pairs())
        for before, after in pairs:
            if not any({before, after} <= component for component in together):
                assert found.generation[before] < found.generation[after]
        for ring in rings:
            assert all(edge in pairs for edge in pairwise((*ring, ring[0])))
    assert 20 < cyclic < 150
