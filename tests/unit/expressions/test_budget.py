"""An expression may do a lot of work, and no more: counted, so that every machine refuses the same ones."""

from __future__ import annotations

import pytest
from refusals import refused

from fuelclient.expressions import budget
from fuelclient.expressions.errors import ExpressionError
from fuelclient.expressions.facts import Facts, Views
from fuelclient.expressions.yaql_engine import parse

CALLS = "range(9999).select(range(9999).sum()).sum() > 0"
ELEMENTS = "range(9999).select(list(range(9999)).toSet()).len()"


def views() -> Views:
    return Views(Facts({"names": list("abc")}, {"1": {"uid": "1"}, "2": {"uid": "2"}}))


@pytest.mark.parametrize("text", [CALLS, ELEMENTS, f"old({CALLS}).isUndef()", f"changed({CALLS})"])
def test_work_without_an_end_is_an_error_that_says_so(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "MAX_WORK", 50_000)
    with refused(ExpressionError, f'"{text}"', "calls", "elements"):
        parse(text).value(views().at("t", 1))


def test_expression_unfinished_on_one_node_is_not_begun_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "MAX_WORK", 50_000)
    seen = views()
    text = "range(9999).select($ + range(9999).sum()).sum() > int($.uid)"
    with refused(ExpressionError, f'"{text}"', "calls", "elements"):
        parse(text).value(seen.at("t", 1))
    assert budget.spent() > 50_000
    budget.begin()
    with refused(ExpressionError, f'"{text}"', "calls", "elements"):
        parse(text).value(seen.at("t", 2))
    assert budget.spent() == 0, "nothing was evaluated again"


def test_each_evaluation_has_a_budget_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "MAX_WORK", 5_000)
    for number in range(50):
        assert parse(f"range(100).select($ + {number}).len() + {number}").value(views().at("t", 1)) == 100 + number


@pytest.mark.slow
def test_a_filter_of_ten_thousand_elements_is_within_the_limit() -> None:
    nodes = [{"uid": str(number), "roles": ["compute"]} for number in range(9_999)]
    view = Views(Facts({"nodes": nodes})).at("t", None)
    result = parse("$.nodes.where(compute in $.roles and $.uid != '7').select($.uid).len()").value(view)
    assert result == 9_998
