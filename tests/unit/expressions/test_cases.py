"""The vectors of the expression language, of restrictions, limits and conflicts: one file is one case."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from fuelclient.expressions.errors import ExpressionError
from fuelclient.expressions.legacy import parse, rewrite
from fuelclient.expressions.restrictions import check_limits, conflicting, expand_restrictions, unmet

CASES = sorted((Path(__file__).resolve().parents[2] / "cases" / "expressions").glob("*.yaml"))


def outcome(case: dict[str, Any]) -> Any:
    """What the code under test gives for the inputs of a case."""
    check = case["check"]
    if check == "rewrite":
        return rewrite(case["expression"])
    if check == "restrictions":
        return unmet(expand_restrictions(case["restrictions"]), case["models"])
    if check == "limits":
        return [violation.message for violation in check_limits(case["limits"], case["count"], case["models"])]
    if check == "conflicts":
        return list(conflicting(case["role"], case["others"], case["metadata"]))
    assert check == "expression"
    text = rewrite(case["expression"]) if case.get("rewritten") else case["expression"]
    return parse(text).evaluate(case["models"], strict=case["strict"])


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_case(path: Path) -> None:
    case = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert case["name"]
    assert case["source"]
    if "error" in case:
        with pytest.raises(ExpressionError) as caught:
            outcome(case)
        assert case["error"] in str(caught.value)
    else:
        result = outcome(case)
        assert result == case["expected"]
        assert type(result) is type(case["expected"])


def test_there_are_cases() -> None:
    assert len(CASES) >= 30
