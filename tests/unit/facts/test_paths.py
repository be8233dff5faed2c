"""Facts by their paths."""

from __future__ import annotations

import pytest

from fuelclient.facts.paths import completions, values_at
from fuelclient.model.fact import DeploymentFacts

FACTS = DeploymentFacts({"a": {"x": 1, "y": 2}, "list": [1]}, {"1": {"a": {"x": 3}}, "2": {"b": {}}})


def test_a_node_sees_its_own_value_over_the_common_one() -> None:
    assert dict(values_at(FACTS, ["a"], "common")) == {"common": {"x": 1, "y": 2}, "1": {"x": 3, "y": 2}}
    assert dict(values_at(FACTS, ["a", "y"], "common")) == {"common": 2}
    assert dict(values_at(FACTS, ["b"], "common")) == {"2": {}}
    assert dict(values_at(FACTS, ["list", "0"], "common")) == {}


@pytest.mark.parametrize(
    ("text", "found"),
    [("", ["a.", "list"]), ("$.a.", ["$.a.x", "$.a.y"]), ("a.y", ["a.y"]), ("$.list.", []), ("$.none.x", [])],
)
def test_completions(text: str, found: list[str]) -> None:
    assert completions(FACTS.common, text) == found
