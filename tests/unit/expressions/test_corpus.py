"""Every condition of real releases and plugins is read, and has the value that a real Nailgun gave it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import yaml
from corpus import corpus

from fuelclient.expressions.legacy import parse, rewrite
from fuelclient.expressions.restrictions import LimitKind, expand_restrictions, violation

pytestmark = pytest.mark.corpus

# the last two are read by the restrictions of network interfaces only
MODELS_OF_NAILGUN = ("settings", "cluster", "version", "networking_parameters", "interface", "nic_attributes")
NOTHING_SET: dict[str, dict[str, Any]] = {model: {} for model in MODELS_OF_NAILGUN}
NO_HA: dict[str, dict[str, Any]] = {
    "cluster": {"mode": "multinode"},
    "settings": {
        "storage": {"osd_pool_size": {"value": 2}},
        "neutron_advanced_configuration": {"neutron_l3_ha": {"value": True}},
    },
}


def values_of(key: str, data: object) -> Iterator[Any]:
    """Everything that stands under `key` anywhere in `data`."""
    if isinstance(data, Mapping):
        for name, value in data.items():
            if name == key:
                yield value
            yield from values_of(key, value)
    elif isinstance(data, list):
        for item in data:
            yield from values_of(key, item)


def result(key: str, *parts: str) -> list[Any]:
    """What stands under `key` in the YAML documents below a directory of the corpus; broken ones are left out."""
    values: list[Any] = []
    for path in sorted(corpus(*parts).rglob("*.yaml")):
        try:
            data = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
        except yaml.YAMLError:
            continue
        values.extend(values_of(key, data))
    return values


def test_the_legacy_conditions_of_the_library_are_read() -> None:
    conditions = [value for value in result("condition", "fuel-library", "9.0") if isinstance(value, str)]
    assert len(conditions) == 45
    assert all(parse(rewrite(condition)).paths() for condition in conditions)


@pytest.mark.parametrize("where", ["fuel-web", "plugins", "plugins-branches", "fpb-examples", "release-plugins"])
def test_restrictions_and_conditions_are_read(where: str) -> None:
    conditions = {value for value in result("condition", where) if isinstance(value, str)}
    for value in result("restrictions", where):
        conditions.update(restriction.condition for restriction in expand_restrictions(value))
    values = {condition: parse(condition).evaluate(NOTHING_SET, strict=False) for condition in conditions}
    assert {bool(value) for value in values.values()} == {True, False}


def test_the_limits_of_the_releases_are_evaluated() -> None:
    limits = result("limits", "fuel-web")
    assert limits
    for stated in limits:
        too_few = violation(stated, 0, NO_HA, LimitKind.MIN)
        assert bool(too_few) == ("min" in stated)
        if stated.get("min") == "settings:storage.osd_pool_size.value":
            assert too_few.startswith("at least 2 nodes")
        if any("Neutron L3 HA" in override["message"] for override in stated.get("overrides", ())):
            assert too_few.startswith("Neutron L3 HA requires at least 2")


def united(low: Mapping[str, Any], high: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of a node over the common ones, as the recordings describe it."""
    union = dict(low)
    for key, value in high.items():
        below = union.get(key)
        union[key] = united(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
    return union


@pytest.mark.parametrize(("case", "count"), [("4b", 96), ("6a", 90)])
def test_recorded_conditions_skip_the_same_task_instances(case: str, count: int) -> None:
    recorded = json.loads(corpus("oracles", "expansion", f"case-{case}.json").read_text(encoding="utf-8"))
    conditions = {task["id"]: task["condition"] for task in recorded["tasks"] if isinstance(task.get("condition"), str)}
    skipped = {(task, node) for task, node, reason in recorded["expected"]["skipped"] if reason == "condition"}
    instances = {(task, node) for task, node, _ in recorded["expected"]["vertices"] if task in conditions and node}
    assert len(instances) == count
    false = set()
    for task, node in instances:
        facts = united(recorded["facts"]["common"], recorded["facts"]["nodes"][node])
        models = {"settings": facts, "cluster": facts["cluster"]}
        if not parse(rewrite(conditions[task])).evaluate(models, strict=False):
            false.add((task, node))
    assert false == {instance for instance in skipped if instance in instances}
