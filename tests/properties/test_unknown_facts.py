"""Facts without one of their names: only a condition that names it may have no verdict."""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from building import tasks_from
from corpus import corpus

from fuelclient.expressions.errors import ExpressionError
from fuelclient.expressions.evaluation import Expressions
from fuelclient.expressions.facts import Facts, Past
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.task import Task

pytestmark = pytest.mark.corpus

Path = tuple[str, ...]

WHOLE = "changed($)"
"""What compares all facts with those of the last success."""


@functools.cache
def recorded(case: str) -> tuple[DeploymentFacts, tuple[tuple[Task, str], ...]]:
    """The facts of a case, and its instances with conditions."""
    record = json.loads(corpus("oracles", "expansion", f"case-{case}.json").read_text(encoding="utf-8"))
    tasks = {task.id: task for task in tasks_from(record["tasks"]) if "condition" in task.attributes}
    skipped = [(task, node) for task, node, why in record["expected"]["skipped"] if why == "condition"]
    running = [(task, node) for task, node, kind in record["expected"]["vertices"] if kind != "skipped"]
    instances = sorted(((tasks[task], node) for task, node in (*skipped, *running) if task in tasks), key=_by_node)
    return DeploymentFacts(record["facts"]["common"], record["facts"]["nodes"]), tuple(instances)


def _by_node(instance: tuple[Task, str]) -> tuple[str, str]:
    return instance[1], instance[0].id


def paths(value: Mapping[str, Any], depth: int) -> Iterator[Path]:
    for name, below in value.items():
        yield (name,)
        if depth > 1 and isinstance(below, Mapping):
            yield from ((name, *rest) for rest in paths(below, depth - 1))


def without(value: Any, path: Path) -> Any:
    """A copy of a mapping without what is at `path`."""
    name, *rest = path
    made = dict(value)
    if rest and isinstance(made.get(name), Mapping):
        made[name] = without(made[name], tuple(rest))
    elif not rest:
        made.pop(name, None)
    return made


def verdicts(case: str, facts: DeploymentFacts) -> list[bool | str]:
    """The verdict of each instance after a run that saw all facts, or the message of a condition that has none."""
    full, instances = recorded(case)
    past = Past({1: Facts(full.common, full.nodes)}, {(task.id, node): 1 for task, node in instances})
    evaluation = Expressions(facts, past)
    verdicts: list[bool | str] = []
    for task, node in instances:
        try:
            verdicts.append(evaluation.condition(task, int(node) if node.isdigit() else node)[0])
        except ExpressionError as error:
            verdicts.append(error.message)
    return verdicts


def check(case: str, name: str, facts: DeploymentFacts) -> tuple[int, int]:
    """Return how many conditions have no verdict without a name, and how many see that something was removed."""
    missed, changed = 0, 0
    for (task, _), verdict in zip(recorded(case)[1], verdicts(case, facts), strict=True):
        condition = str(task.attributes["condition"])
        if isinstance(verdict, str):
            is_computed = name.startswith("node-") and 'concat("node-"' in condition
            assert name in condition or is_computed, (task.id, verdict)
            missed += 1
        else:
            changed += verdict and WHOLE in condition
    return missed, changed


def common_paths(case: str, depth: int) -> list[Path]:
    return list(paths(recorded(case)[0].common, depth))


@pytest.mark.parametrize("case", ["1", "4b"])
def test_after_a_run_that_saw_the_same_nothing_is_unknown(case: str) -> None:
    known = verdicts(case, recorded(case)[0])
    assert {type(verdict) for verdict in known} == {bool}
    wholes = [WHOLE in str(task.attributes["condition"]) for task, _ in recorded(case)[1]]
    assert not any(verdict for verdict, whole in zip(known, wholes, strict=True) if whole)


@pytest.mark.parametrize("case", [pytest.param("1", marks=pytest.mark.slow), "4b"])
def test_common_fact_is_missing_only_where_it_is_named(case: str) -> None:
    full, _ = recorded(case)
    removed = {path[-1]: DeploymentFacts(without(full.common, path), full.nodes) for path in common_paths(case, 1)}
    counts = [check(case, name, facts) for name, facts in removed.items()]
    missed, changed = map(sum, zip(*counts, strict=True))
    assert missed > 5
    assert changed > 5 or case == "4b"  # which asks for no changes


@pytest.mark.parametrize("case", [pytest.param("1", marks=pytest.mark.slow), "4b"])
def test_a_name_of_each_node_is_missed_only_where_it_is_named(case: str) -> None:
    full, _ = recorded(case)
    changed = 0
    for name in full.nodes["1"]:
        parts = {uid: without(part, (name,)) for uid, part in full.nodes.items()}
        changed += check(case, name, DeploymentFacts(full.common, parts))[1]
    assert changed > 5 or case == "4b"


@pytest.mark.slow
@pytest.mark.parametrize("case", ["1", "4a", "4b"])
def test_any_name_is_missed_only_where_it_is_named(case: str) -> None:
    full, _ = recorded(case)
    for path in common_paths(case, 3):
        check(case, path[-1], DeploymentFacts(without(full.common, path), full.nodes))


def test_the_facts_stay_as_they_are() -> None:
    full, _ = recorded("1")
    before = copy.deepcopy(full)
    verdicts("1", DeploymentFacts(without(full.common, ("storage", "pg_num")), full.nodes))
    assert full == before
