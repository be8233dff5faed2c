"""The vectors of the expression language, of restrictions, limits and conflicts: one file is one case."""

from __future__ import annotations

from typing import Any

import pytest
from case_files import case_files

from fuelclient.expressions.errors import ExpressionError
from fuelclient.expressions.legacy import parse, rewrite
from fuelclient.expressions.restrictions import LimitKind, conflicting, expand_restrictions, unmet, violation


def outcome(case: dict[str, Any]) -> Any:
    """What the code under test gives for the inputs of a case."""
    check = case["check"]
    if check == "rewrite":
        return rewrite(case["expression"])
    if check == "restrictions":
        return unmet(expand_restrictions(case["restrictions"]), case["models"])
    if check == "limits":
        found = (violation(case["limits"], case["count"], case["models"], kind) for kind in LimitKind)
        return [message for message in found if message]
    if check == "conflicts":
        return list(conflicting(case["role"], case["others"], case["metadata"]))
    assert check == "expression"
    text = rewrite(case["expression"]) if case.get("rewritten") else case["expression"]
    return parse(text).evaluate(case["models"], strict=case["strict"])


@case_files("expressions")
def test_case(case: dict[str, Any]) -> None:
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
