"""Whatever an expression calls has a limit: of numbers, texts, steps, or of the process that evaluates it apart."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hash_seeds import same_answer
from processes import eventually

from fuelclient import connect
from fuelclient.expressions import budget, library, limits
from fuelclient.expressions.errors import ExpressionError
from fuelclient.expressions.facts import Facts, Views
from fuelclient.expressions.yaql_engine import parse

FACTS = {"names": ["b", "a"], "text": "x1y22\n", "word": "a" * 40 + "b"}

SETS = (
    "['aa','bb','cc','dd'].toSet().join(',')",
    "set(x, 10, 9, true, null, [1]).toList()",
    "set(a, b, c).union(set(d, e)).select($)",
    "(set(a, b, c) - set(b)).join('')",
    "set(a, b, c).symmetricDifference(set(c, d)).join('')",
    "set(a, b, c).add(d, e).remove(a).join('')",
    "set(q, r, s).intersect(set(r, s, t)).join('')",
    "[q, r, s, q].toSet().first()",
    "str(set(a, b, c))",
    "set(a, b) + set(c)",
    "{a => set(x, y, z).join('')}",
    "characters(digits => true).join('')",
)

MANY_WAYS = ".".join(["select([$, $])"] * 60)

HOSTILE = {
    "pow(10, 100000000)": "bits",
    "pow(10, 5000)": "bits",
    "range(1, 100000).limit(9000).aggregate($1 * $2)": "bits",
    "range(60).aggregate($1 * $1, 3)": "bits",
    "shiftBitsLeft(1, 10000000000)": "bits",
    "round(5, -1000000000)": "digits",
    "int('9' * 5000)": "digits",
    "'x' * 2000000000": "characters",
    "2000000000 * 'x'": "characters",
    "('x' * 1000000).replace('x', 'y' * 1000000)": "characters",
    "range(9999).select('x' * 100000).join('')": "elements",
    "[0] * 1000000000": "elements",
    "('x' * 100000).trim('y' * 100000)": "trimmed",
    f"[1].{MANY_WAYS}.first()": "elements",
    f"[1].{MANY_WAYS}.toSet().len()": "elements",
    f"[1].{MANY_WAYS} = [1].{MANY_WAYS}": "elements",
    f"let(x => [1].{MANY_WAYS}.toList()) -> str($x).len()": "elements",
    f"let(x => [1].{MANY_WAYS}.toList()) -> {{$x => 1}}.len()": "elements",
    "range(30).aggregate($1 + $1, [1]).len()": "elements",
    "regex('a' * 20000).matches(x)": "regular expression",
    "regex('x').replace('x' * 3000, 'y' * 1000000)": "elements",
    "[[].repeat()].flatten().len()": "elements",
    "str(a.repeat())": "not data",
    "[1].cycle().len()": "elements",
    "sequence().len()": "elements",
    "[1].selectMany([1].cycle()).len()": "elements",
    "range(9999).join(range(9999), false, 1).len()": "elements",
}


def value(text: str, facts: Any = None) -> Any:
    return parse(text).value(Views(Facts(facts or FACTS, {"1": {"uid": "1"}})).at("t", 1))


@pytest.mark.parametrize("text", SETS)
def test_sets_have_one_order_under_every_hash_seed(text: str) -> None:
    code = (
        "import sys; from fuelclient.expressions.facts import Facts, Views\n"
        "from fuelclient.expressions.yaql_engine import parse\n"
        f"for text in {SETS!r}: print(parse(text).value(Views(Facts({{}})).at('t', None)))"
    )
    if text == SETS[0]:
        assert same_answer(code, seeds=4).splitlines()[0] == "aa,bb,cc,dd"
    assert value(text) == value(text)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_expression_ends_with_its_reason(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "MAX_WORK", 300_000)
    with pytest.raises(ExpressionError) as caught:
        value(text)
    assert HOSTILE[text] in caught.value.message


def test_the_work_bounds_the_memory_of_texts() -> None:
    budget.begin()
    budget.spend_text(15_000_000)
    assert budget.MAX_WORK // budget.spent() * 15_000_000 * 4 <= 256 * 2**20, "a character takes up to four bytes"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("regex('(a+)+$').matches($.word)", False),
        ("$.word =~ '(a|aa)+$'", False),
        ("$.word !~ '(a*)*c'", True),
        ("'x1y22' =~ '[0-9]{2}'", True),
        ("regex('[0-9]+').search('x1y22')", "1"),
        ("regex('([a-z])([0-9]+)').search('x1y22', $2.value + $3.value)", "x1"),
        ("regex('(?P<n>[0-9]+)').search('é1', $n)", {"value": "1", "start": 1, "end": 2}),
        ("regex('[0-9]+').searchAll('x1y22')", ["1", "22"]),
        ("regex('[0-9]+').split('x1y22z', 1)", ["x", "y22z"]),
        ("'a-b_c'.split(regex('[-_]'))", ["a", "b", "c"]),
        ("regex('[0-9]').replace('x1y22', '#')", "x#y##"),
        ("regex('([0-9])').replace('x1y22', '<\\\\1>', 2)", "x<1>y<2>2"),
        ("'x1'.replaceBy(regex('[0-9]'), str(int($1.value) + 1))", "x2"),
        ("regex('A.C', ignoreCase => true, dotAll => true).matches('a\\nc')", True),
        ("regex('b(?=c)').matches(abc)", True),
        ("regex('(.)\\\\1').search(xaab)", "aa"),
        ("regex('2$').matches($.text)", True),
        ("[[1, [2]], 3].flatten()", [1, 2, 3]),
        ("{a => {b => 1}}.mergeWith({a => {c => 2}})", {"a": {"b": 1, "c": 2}}),
        ("old([[$.names]].flatten()).isUndef()", True),
    ],
)
def test_what_is_bounded_means_what_it_meant(text: str, expected: Any) -> None:
    assert value(text) == expected


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param(
            "regex('((a+)+)\\\\1$').matches($.word + $.word)", "seconds of processor time", marks=pytest.mark.slow
        ),
        ("generateMany(1, a.repeat()).first(0) + generateMany(1, a.repeat()).skip(3).first()", "memory"),
    ],
)
def test_what_no_count_bounds_ends_apart(text: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_seconds", 1)
    with pytest.raises(ExpressionError) as caught:
        value(text)
    assert says in caught.value.message


def test_a_set_in_sets_is_sorted_once() -> None:
    """Sorted at each reading, the innermost of 30 would be sorted a billion times."""
    assert value("range(60).aggregate(set($1), set()).len()") == 1
    assert budget.spent() < 10_000


@pytest.mark.slow
def test_killed_evaluation_process_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_seconds", 1)
    views = Views(Facts(FACTS, {"1": {"uid": "1"}, "2": {"uid": "2"}}))
    text = "{a => $.uid}.mergeWith({b => $.names.first()})"
    assert [parse(text).value(views.at("t", node)) for node in (1, 2)] == [{"a": uid, "b": "b"} for uid in "12"]
    first = views.apart.process
    slow = r"regex('((a+)+)\\1$').matches($.word + $.word)"
    for node in (1, 2):
        with pytest.raises(ExpressionError):
            parse(slow).value(views.at("t", node))
    assert first.returncode is not None, "it was killed, and not asked again for the second node"
    assert parse(text).value(views.at("t", 2)) == {"a": "2", "b": "b"}
    last = views.apart.process
    assert last is not first
    del views
    gc.collect()
    assert last.returncode is not None, "it ended with its views"


SLOW = r"regex('((a+)+)\\1$').matches($.word + $.word)"


def test_an_evaluation_ends_with_its_parent(tmp_path: Path) -> None:
    """A preview or a server that is killed leaves no process behind that computes for another minute."""
    code = (
        "from fuelclient.expressions.facts import Facts, Views\n"
        "from fuelclient.expressions.yaql_engine import parse\n"
        f"parse({SLOW!r}).value(Views(Facts({FACTS!r}, {{}})).at('t', None))"
    )
    with subprocess.Popen([sys.executable, "-c", code]) as parent:
        children = Path(f"/proc/{parent.pid}/task/{parent.pid}/children")
        assert eventually(children.read_text)
        child = Path("/proc") / children.read_text().split()[0]
        assert eventually(lambda: (child / "statm").exists() and _seconds_of(child) > 0.5)
        parent.kill()
    assert eventually(lambda: not child.exists())


def _seconds_of(process: Path) -> float:
    user, system = (process / "stat").read_text(encoding="ascii").rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def test_a_process_apart_may_outlive_the_thread_that_started_it() -> None:
    views = Views(Facts(FACTS, {"1": {"uid": "1"}}))
    text = "{a => $.names.first()}.mergeWith({b => 1})"
    with ThreadPoolExecutor(1) as pool:
        pool.submit(parse(text).value, views.at("t", None)).result()
    assert eventually(lambda: views.apart.process.poll() is not None)
    views.shared.clear()
    assert parse(text).value(views.at("t", None)) == {"a": "b", "b": 1}


@pytest.mark.slow
@pytest.mark.parametrize("text", ["{a => 1}.mergeWith({b => 2})", "range(999).select(range(99).len()).len()"])
def test_two_evaluations_take_long_at_a_time(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight hostile expressions would otherwise hold the eight threads of a server until all of them have ended."""
    monkeypatch.setattr(budget, "SHORT_WORK", 1_000)
    monkeypatch.setattr(budget, "PATIENCE", 0.1)
    expected = value(text)
    for _ in range(3):  # an evaluation gives its turn back, also after an error
        with pytest.raises(ExpressionError):
            value(f"{text} + foo")
    budget.take_turn()
    assert value(text) == expected
    budget.take_turn()
    try:
        with pytest.raises(ExpressionError) as caught:
            value(text)
        assert "2 expressions that take long are being evaluated" in caught.value.message
        assert value("range(9).len()") == 9, "short ones do not wait"
    finally:
        budget.give_turn_back()
        budget.give_turn_back()
    assert value(text) == expected


@pytest.mark.parametrize(("engine", "server"), [("engine.db", None), (None, "http://127.0.0.1:9")])
def test_the_setting_holds_for_every_backend(
    engine: str | None, server: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "_seconds", 60)
    monkeypatch.setenv("FUEL_EXPRESSION_SECONDS", "7")
    with connect(engine, server=server):
        assert limits.seconds() == 7


def test_every_function_of_the_library_is_known() -> None:
    """A new version of the library may bring functions whose work has to be counted first."""
    names: set[str] = set()
    layer = library.bounded_context()
    while layer is not None:
        names |= {library.key_of(definition.payload) for each in layer._functions.values() for definition in each}
        layer = layer.parent
    known = Path(__file__).with_name("yaql_functions.txt").read_text(encoding="utf-8").split()
    assert sorted(names) == known
