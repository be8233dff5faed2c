"""Facts without one of their names: a condition has the verdict that it has with all of them, or none."""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from building import tasks_from
from corpus import corpus

from fuelclient.errors import UnknownFact
from fuelclient.expressions.evaluation import Expressions
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.task import Task

pytestmark = pytest.mark.corpus

Path = tuple[str, ...]


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


def verdicts(case: str, facts: DeploymentFacts) -> list[bool | None]:
    full, instances = recorded(case)
    evaluation = Expressions(facts, expected=full)
    verdicts: list[bool | None] = []
    for task, node in instances:
        try:
            verdicts.append(evaluation.condition(task, int(node) if node.isdigit() else node)[0])
        except UnknownFact as error:
            assert error.path.startswith(("$", "..."))  # noqa: PT017
            verdicts.append(None)
    return verdicts


@functools.cache
def known(case: str) -> tuple[bool | None, ...]:
    return tuple(verdicts(case, recorded(case)[0]))


def wrong(case: str, facts: DeploymentFacts) -> tuple[int, int]:
    """How many verdicts are wrong, and how many unknown."""
    after = verdicts(case, facts)
    differing = sum(a is not None and a != b for a, b in zip(after, known(case), strict=True))
    return differing, after.count(None)


def common_paths(case: str, depth: int) -> list[Path]:
    return list(paths(recorded(case)[0].common, depth))


def check(case: str, removed: list[Path]) -> int:
    full, _ = recorded(case)
    affected = 0
    for path in removed:
        differing, unknown = wrong(case, DeploymentFacts(without(full.common, path), full.nodes))
        assert differing == 0, path
        affected += bool(unknown)
    return affected


@pytest.mark.parametrize("case", ["1", "4b"])
def test_no_verdict_is_wrong_without_a_name_of_the_common_part(case: str) -> None:
    assert None not in known(case)
    assert check(case, common_paths(case, 1)) > 5


@pytest.mark.parametrize("case", ["1", "4b"])
def test_no_verdict_is_wrong_without_a_name_of_each_node(case: str) -> None:
    full, _ = recorded(case)
    affected = 0
    for name in full.nodes["1"]:
        parts = {uid: without(part, (name,)) for uid, part in full.nodes.items()}
        differing, unknown = wrong(case, DeploymentFacts(full.common, parts))
        assert differing == 0, name
        affected += bool(unknown)
    assert affected > 1 or case == "4b"  # which reads settings only


@pytest.mark.slow
@pytest.mark.parametrize("case", ["1", "4a", "4b"])
def test_no_verdict_is_wrong_without_any_name(case: str) -> None:
    assert check(case, [path for path in common_paths(case, 3) if len(path) > 1]) > 5


def test_the_facts_stay_as_they_are() -> None:
    full, _ = recorded("1")
    before = copy.deepcopy(full)
    wrong("1", DeploymentFacts(without(full.common, ("storage", "pg_num")), full.nodes))
    assert full == before
