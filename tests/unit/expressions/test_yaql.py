"""YAQL: parsed once, evaluated within limits, and its errors told in our words."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from typing import Any

import pytest
from refusals import refused

from fuelclient.expressions.errors import ExpressionError
from fuelclient.expressions.facts import Facts, Past, Views
from fuelclient.expressions.functions import UNDEFINED
from fuelclient.expressions.yaql_engine import MAX_LENGTH, parse
from fuelclient.expressions.yaql_syntax import MAX_DEPTH

NODES = {"1": {"uid": "1", "roles": ["db", "web"]}, "2": {"uid": "2", "roles": ["web"]}}
COMMON = {
    "debug": False,
    "password": "s3cret",
    "vips": {"public": {"ip": "10.0.0.1"}},
    "nodes": [{"uid": "1", "name": "a"}, {"uid": "2"}],
}


def value(text: str, node: int = 1, common: Any = None, past: Past | None = None, memoise: bool = True) -> Any:
    views = Views(Facts(common or COMMON, NODES), past or Past({}, {}), memoise=memoise)
    return parse(text).value(views.at("t", node))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("$.get(", "ends too early"),
        ("[1, 2", "ends too early"),
        ("1 1", 'cannot be read at character 3: "1"'),
        ("$.a %", 'cannot be read at character 5: "%"'),
        ('"open', "cannot be read at character 1"),
        (r"'\N{no such character}'", "cannot be read"),
        ("  ", "is empty"),
        ("changed()", "calls changed() with 0 arguments"),
        ("changed($.a, $.b)", "calls changed() with 2 arguments"),
        ("changedAny()", "takes at least one expression"),
        ("changed(x => 1)", "calls changed()"),
        ("$.debug or " * 800 + "false", "is nested more than 64 levels deep at character 702"),
        ("now()", "differs from run to run"),
        ("[1].select(random())", "differs from run to run"),
        ("1" * 301, "more than 300 digits"),
        ("'" + "x" * MAX_LENGTH + "'", "10000"),
    ],
)
def test_what_is_not_yaql_is_told_with_its_place(text: str, says: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse(text)
    assert says in str(caught.value)
    assert caught.value.text == text
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("$.no_such", 'the facts have no "no_such" there'),
        ("$.vips.private.ip", 'no "private" there. Use .get(name, default)'),
        ("$.nodes.values()", "function values"),
        ("$.fly()", "no function fly"),
        ("fly($)", "no function fly"),
        ("$.debug.ip", "named ip"),
        ("1 + $.password", "operator +"),
        ("$.nodes.select($.name)", 'no "name" there'),
        ("$.nodes.where($.uid = '3').first()", "no such element"),
        ("[1, 2].limit(0).single()", "no such element"),
        ("1 / 0", "zero"),
        ("int($.password)", "wrong type (ValueError)"),
        ("$.password.matches('(')", "wrong type"),
        ("let(1)", "not data (Context)"),
        ("sequence()", "more than 10000 elements"),
        ("range(10001).select($)", "more than 10000 elements"),
        ("'x' * 20000000", "a text has more than 16777216 characters"),
    ],
)
@pytest.mark.parametrize("memoise", [True, False])
def test_an_expression_without_a_value_says_why_and_no_secret(text: str, says: str, memoise: bool) -> None:
    with pytest.raises(ExpressionError) as caught:
        value(text, memoise=memoise)
    assert says in str(caught.value)
    assert "s3cret" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    "text", ["(" * 4990 + ")" * 4990, "[" * 4990, "$" + ".a" * 4990, "," * 9990, "not " * 2490, "1." * 4990]
)
def test_hostile_texts_end_soon(text: str) -> None:
    started = time.process_time()  # not how busy the machine is
    with pytest.raises(ExpressionError):
        value(text)
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("set(3, 1, 2)", [1, 2, 3]),
        ("{a => [1, $.nodes.uid]}", {"a": [1, ["1", "2"]]}),
        ("$.nodes.first().name", "a"),
        ("$.nodes.where($.get(name)).any($.name = 'a')", True),
        ("sequence().limit(3)", [0, 1, 2]),
        ("range(20000).limit(2)", [0, 1]),
        ("let(x => $.uid) -> $x + $.uid", "11"),
        ("changed($.roles[0]) and $.roles[0] = db", True),
        ("def(twice, $ * 2) -> twice(3)", 6),
        ("$node.uid + $common.vips.public.ip", "110.0.0.1"),
        ("$.roles.toYaml()", "- db\n- web\n"),
        ("[$.roles, $.roles].toYaml()", "- - db\n  - web\n- - db\n  - web\n"),
        ("$.vips.toJson()", '{"public": {"ip": "10.0.0.1"}}'),
        ("not $.debug", True),
        ("$.nodes.where($.uid = new($.uid)).uid", ["1"]),
    ],
)
@pytest.mark.parametrize("memoise", [True, False])
def test_values_are_plain_data(text: str, expected: Any, memoise: bool) -> None:
    result = value(text, memoise=memoise)
    assert result == expected
    assert type(result) is type(expected)


def test_an_error_in_an_old_value_means_that_it_is_undefined() -> None:
    """Even where only the end of a sequence fails; Nailgun lets the whole run fail there."""
    then = Facts({"nodes": [{"uid": "1", "name": "a"}, {"uid": "2"}]}, {"1": {"uid": "1"}})
    now = Facts({"nodes": [{"uid": "1", "name": "a"}]}, {"1": {"uid": "1"}})
    view = Views(now, Past({0: then}, {("t", "1"): 0})).at("t", 1)

    assert parse("changed($.nodes.select($.name))").value(view) is True
    assert parse("old($.nodes.select($.name)).isUndef()").value(view) is True
    assert parse("old($.nothing)").value(view) is UNDEFINED
    with refused(ExpressionError, "nothing"):
        parse("changed($.nothing)").value(view)


def test_late_failure_of_a_sequence_keeps_earlier_values() -> None:
    """Keeping the parts of an expression must not ask for more of a sequence than the expression does."""
    assert value("$.nodes.select($.name).first()") == "a"
    with refused(ExpressionError, "name"):
        value("$.nodes.select($.name).last()")


def test_expressions_are_parsed_once_and_from_any_thread() -> None:
    texts = [f"$.debug or {number} = {number}" for number in range(60)]
    result: list[Any] = []

    def work() -> None:
        result.extend((text, parse(text)) for text in texts)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(result) == 240
    assert all(parsed.text == text for text, parsed in result)
    assert parse(texts[0]) is parse(texts[0])


def test_the_library_is_not_imported_for_what_is_compiled() -> None:
    code = (
        "import sys; from fuelclient.expressions import evaluation, facts, render, yaql_engine\n"
        "assert 'yaql' not in sys.modules and 'yaml' not in sys.modules\n"
        "view = facts.Views(facts.Facts({'a': [1]})).at('t', None)\n"
        "assert yaql_engine.parse('$.a.select($ + 1)').value(view) == [2]\n"
        "assert yaql_engine.parse('$.a.sum() + 1').value(view) == 2, 'a child has it'\n"
        "assert 'yaql' not in sys.modules and 'yaml' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_keys_of_a_view_are_not_kept_for_other_nodes() -> None:
    """They are a view of their own, and read nothing before they are asked for."""
    views = Views(Facts({"common": 1}, {"1": {"own": 1}, "2": {}}))
    assert [parse("$.keys()").value(views.at("t", node)) for node in (1, 2)] == [["common", "own"], ["common"]]
    assert [parse("$.values().toList().len()").value(views.at("t", node)) for node in (1, 2)] == [2, 1]


NESTED = {
    "brackets": ("(", "7", ")"),
    "lists": ("[", "7", "]"),
    "operators before": ("not ", "7", ""),
    "operators between": ("", "7", " or 7"),
    "indexes": ("", "[7]", "[$]"),
    "calls": ("coalesce(", "7", ")"),
    "comparisons": ("changedAny(", "$", ")"),
    "in the library": ("def(f, 7) -> ", "7", ""),
}


@pytest.mark.parametrize("shape", NESTED)
def test_expressions_nest_to_one_depth_wherever_they_are_read(shape: str) -> None:
    begin, inner, end = NESTED[shape]

    def outcome(times: int, calls: int) -> str:
        if calls:
            return outcome(times, calls - 1)
        parse.cache_clear()
        try:
            return str(value(begin * times + inner + end * times))
        except ExpressionError as error:
            return str(error)

    most = next(times for times in range(1, 100) if "nested" in outcome(times, 0)) - 1
    assert most > MAX_DEPTH - 4
    assert f"is nested more than {MAX_DEPTH} levels deep at character " in outcome(most + 1, 0)
    for times in (most, most + 1, 300):
        assert outcome(times, 300) == outcome(times, 0)
