"""An expression may do a lot of work, and no more: counted, so that every machine refuses the same ones."""

from __future__ import annotations

import json

import pytest
import yaml
from refusals import refused

from fuelclient.expressions import work
from fuelclient.expressions.errors import ExpressionError
from fuelclient.expressions.facts import Facts, Views
from fuelclient.expressions.work import TooMuchWork, Work
from fuelclient.expressions.yaql_engine import parse

CALLS = "$.many.where($common.many.all($ >= 0)).len()"
ELEMENTS = "$.many.select($common.many.toList() + [$]).len()"


def views() -> Views:
    return Views(Facts({"many": list(range(9_999))}, {"1": {"uid": "1"}, "2": {"uid": "2"}}))


@pytest.mark.parametrize("text", [CALLS, ELEMENTS, f"changed({CALLS})", f"new({CALLS})"])
def test_work_without_an_end_is_an_error_that_says_so(text: str) -> None:
    with refused(ExpressionError, f'"{text}"', "calls", "elements"):
        parse(text).value(views().at("t", 1))


def test_expression_unfinished_on_one_node_is_not_begun_again(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = views()
    text = f"$.uid = '1' and {CALLS}"
    with refused(ExpressionError, f'"{text}"', "calls", "elements"):
        parse(text).value(seen.at("t", 1))
    monkeypatch.setattr(work, "MAX_WORK", 0)  # on node 2 there would be nothing to count
    with refused(ExpressionError, f'"{text}"', "500000 calls", "elements"):
        parse(text).value(seen.at("t", 2))


def test_each_evaluation_has_a_budget_of_its_own() -> None:
    for number in range(50):
        assert parse(f"$.many.select($ + {number}).len() + {number}").value(views().at("t", 1)) == 9_999 + number


def test_a_filter_of_ten_thousand_elements_is_within_the_limit() -> None:
    nodes = [{"uid": str(number), "roles": ["compute"]} for number in range(9_999)]
    view = Views(Facts({"nodes": nodes})).at("t", None)
    conditions = " and ".join(["compute in $.roles and $.uid != '7'"] * 5)
    assert parse(f"$.nodes.where({conditions}).select($.uid).len()").value(view) == 9_998


NETWORKS = {f"net{k}": {f"key{i}": "a value of many characters" for i in range(10)} for k in range(4)}
LARGE = {
    "nodes": [{"uid": str(number), **NETWORKS} for number in range(9500)],
    "named": [{"name": f"node-{number}", "pattern": f"node-{number}0+$"} for number in range(1000)],
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$.nodes.toJson()", json.dumps(LARGE["nodes"])),
        ("$.nodes.toYaml()", yaml.dump(json.loads(json.dumps(LARGE["nodes"])), Dumper=yaml.CSafeDumper)),
        ("$.named.where($.name.matches($.pattern))", []),
    ],
    ids=["toJson", "toYaml", "matches"],
)
def test_what_is_written_or_matched_for_many_nodes_is_within_the_limit(text: str, expected: object) -> None:
    assert parse(text).value(Views(Facts(LARGE)).at("t", None)) == expected


def test_one_more_than_the_limit_is_refused() -> None:
    done = Work()
    done.spend(work.MAX_WORK)
    with pytest.raises(TooMuchWork):
        done.spend(1)
