"""The vectors of expressions and rendering on facts: one file is one case."""

from __future__ import annotations

from typing import Any

import pytest
from case_files import case_files, paths_of

from fuelclient.expressions.errors import ExpressionError
from fuelclient.expressions.evaluation import condition_of
from fuelclient.expressions.facts import Facts, Past, Views
from fuelclient.expressions.functions import UNDEFINED
from fuelclient.expressions.render import Master, render
from fuelclient.expressions.yaql_engine import parse
from fuelclient.model.run import uid_of
from fuelclient.model.task import Task


def views_of(case: dict[str, Any], memoise: bool) -> Views:
    """The facts of a case; `old` is what its task saw when it last succeeded, on each node that is named there."""
    facts = Facts(case["facts"]["common"], case["facts"].get("nodes", {}))
    if "old" not in case:
        return Views(facts, memoise=memoise)
    old = Facts(case["old"]["common"], case["old"]["nodes"])
    return Views(facts, Past({"then": old}, {("task", uid): "then" for uid in old.nodes}), memoise=memoise)


def answer(check: str, given: Any, views: Views, node: int | str | None) -> Any:
    view = views.at("task", node)
    if check == "value":
        value = parse(given).value(view)
        return "undefined" if value is UNDEFINED else value
    if check == "condition":
        return condition_of(Task("task", {"condition": given}), view).holds
    assert check == "render"
    return render(given, view, Master())


@case_files("yaql")
@pytest.mark.parametrize("memoise", [True, False], ids=["memoised", "plain"])
def test_case(case: dict[str, Any], memoise: bool) -> None:
    assert (
        {"says", "recorded", "check", "facts", "asks"}
        <= set(case)
        <= {"says", "recorded", "check", "facts", "old", "asks"}
    )
    views = views_of(case, memoise)
    for ask in case["asks"]:
        node = ask.get("node", 1)
        if "error" in ask:
            with pytest.raises(ExpressionError) as caught:
                answer(case["check"], ask["given"], views, node)
            assert ask["error"] in str(caught.value)
        else:
            result = answer(case["check"], ask["given"], views, node)
            assert result == ask["expected"], (ask, uid_of(node))
            assert type(result) is type(ask["expected"])


def test_there_are_cases_for_all_vectors() -> None:
    vectors = {path.stem[:3] for path in paths_of("yaql")}
    assert {f"n{number}" for number in range(11, 19)} == {vector for vector in vectors if vector.startswith("n1")}
