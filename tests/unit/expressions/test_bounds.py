"""Whatever an expression calls has a limit: of steps if it is compiled, else of the process that evaluates it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hash_seeds import same_answer
from processes import eventually

from fuelclient import connect
from fuelclient.errors import Unavailable
from fuelclient.expressions import child_process, limits
from fuelclient.expressions.errors import ExpressionError
from fuelclient.expressions.facts import Facts, Views
from fuelclient.expressions.work import MAX_WORK, Work
from fuelclient.expressions.yaql_engine import parse

FACTS = {
    "names": ["b", "a"], "text": "x1y22\n", "word": "a" * 40 + "b", "number": 2**1023, "long": "x" * 6_000_000,
    "as long": "x" * 6_000_000,
    "many": list(range(5_000)), "words": [f"w{number}" for number in range(5_000)], "brackets": "(" * 50_000,
    "big": {str(number): [number] * 20 for number in range(2_000)},
}  # fmt: skip

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

MANY_WAYS = ".".join(["select([$, $])"] * 50)

ENDLESS = (
    "range(1, 100000).limit(9000).aggregate($1 * $2)",
    "pow(10, 100000000)",
    "range(60).aggregate($1 * $1, 3)",
    "round(5, -1000000000)",
    f"let(x => [1].{MANY_WAYS}.toList()) -> str($x).len()",
    f"let(x => [1].{MANY_WAYS}.toList()) -> {{$x => 1}}.len()",
    "[[].repeat()].flatten().len()",
    "[1].cycle().len()",
    "sequence().len()",
    "[1].selectMany([1].cycle()).len()",
    "range(9999).join(range(9999), false, 1).len()",
    "regex('((a+)+)\\\\1$').matches($.word + $.word)",
)

HOSTILE = {
    "pow(10, 5000)": "bits",
    "[pow(10, 5000)]": "bits",
    "$.number + $.number": "bits",
    "int('9' * 5000)": "ValueError",
    "shiftBitsLeft(1, 10000000000)": "memory",
    "'x' * 2000000000": "memory",
    "'x' * 20000000": "characters",
    "$.long + $.long + $.long": "characters",
    "('x' * 1000000).replace('x', 'y' * 1000000)": "memory",
    "[0] * 1000000000": "memory",
    f"[1].{MANY_WAYS}.first()": "elements",
    f"[1].{MANY_WAYS}.toSet().len()": "elements",
    f"changed([1].{MANY_WAYS})": "elements",
    f"[1].{MANY_WAYS}.toJson()": "elements",
    "range(30).aggregate($1 + $1, [1]).len()": "elements",
    "regex('x').replace('x' * 3000, 'y' * 1000000)": "memory",
    "$.many.select($common.big).toYaml().len()": "lines",
    "$.many.select($common.big).toJson().len()": "entries",
    "$.many.select([$common.long]).toYaml().len()": "elements",
    "dict($.words.select([$common.long + $, $common.big])).toYaml().len()": "elements",
    "$.many.select($common.long in $common.long).len()": "elements",
    "$.many.where($common.long = $common.get('as long')).len()": "elements",
    "$.words.select(a.matches($ + '(a{1,9}){1,9}')).len()": "elements",
    "$.many.select($common.long + 'x').toSet().len()": "elements",
    "$.many.select($common.many.select($common.many.select($).len())).len()": "elements",
    "a =~ $.brackets": "nested",
    "','.join(range(5000).select('x' * 100000))": "memory",
    "range(5000).select($common.long.substring($)).toList().len()": "memory",
    "'x'.repeat().join('')": "10000 elements",
    "[1].cycle().select($).any($ = 2)": "10000 elements",
    "def(twice, twice() + twice()) -> twice()": "nested",
    "range(30).toList() * 100000000": "memory",
    "$.many.zip($common.many).select($ * 100000).toList().len()": "memory",
    "generateMany(1, a.repeat()).first(0) + generateMany(1, a.repeat()).skip(3).first()": "memory",
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
def test_a_hostile_expression_ends_with_its_reason(text: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        value(text)
    assert HOSTILE[text] in caught.value.message


@pytest.mark.parametrize("text", [ENDLESS[0], *(pytest.param(text, marks=pytest.mark.slow) for text in ENDLESS[1:])])
def test_an_expression_without_an_end_is_stopped(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_seconds", 1)
    with pytest.raises(ExpressionError) as caught:
        value(text)
    assert "more than 1 seconds" in caught.value.message
    assert "EXPRESSION_SECONDS" in caught.value.hint


def test_the_expressions_of_one_plan_share_their_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_seconds", 1)
    views = Views(Facts(FACTS, {"1": {"uid": "1"}}))
    with pytest.raises(ExpressionError):
        parse(ENDLESS[0]).value(views.at("t", 1))
    with pytest.raises(ExpressionError) as caught:
        parse("range(3).sum()").value(views.at("t", 1))
    assert "the expressions of one plan" in caught.value.message
    assert value("range(3).sum()") == 3, "another plan has its own"


def test_the_work_bounds_the_memory_of_texts() -> None:
    work = Work()
    work.text("x" * 15_000_000)
    assert MAX_WORK // work.done * 15_000_000 * 4 <= 256 * 2**20, "a character takes up to four bytes"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("regex('(a+)+$').matches($.word)", False),
        ("$.word =~ '(a|aa)+$'", False),
        ("$.word !~ '(a*)*c'", True),
        ("'x1y22' =~ '[0-9]{2}'", True),
        ("regex('[0-9]+').search('x1y22')", "1"),
        ("regex('([a-z])([0-9]+)').search('x1y22', $2.value + $3.value)", "x1"),
        ("regex('([0-9]+)').search('é1', $1)", {"value": "1", "start": 1, "end": 2}),
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
        ("regex('(a+)+$').search($.word)", None),
        ("regex('(a*)*c').searchAll($.word + 'é')", []),
        ("regex('(a|aa)+;').split('x' + $.word)", ["x" + "a" * 40 + "b"]),
        ("$.word.replace(regex('(a+)+c'), '')", "a" * 40 + "b"),
        ("$.word.replaceBy(regex('(a+)+c'), x)", "a" * 40 + "b"),
        ("[[1, [2]], 3].flatten()", [1, 2, 3]),
        ("{a => {b => 1}}.mergeWith({a => {c => 2}})", {"a": {"b": 1, "c": 2}}),
        ("old([[$.names]].flatten()).isUndef()", True),
    ],
)
def test_what_is_bounded_means_what_it_meant(text: str, expected: Any) -> None:
    assert value(text) == expected


def test_a_set_in_sets_is_sorted_once() -> None:
    """Sorted at each reading, the innermost of 30 would be sorted a billion times."""
    assert value("range(60).aggregate(set($1), [].toSet()).len()") == 1


SLOW = r"regex('((a+)+)\\1$').matches($.word + $.word)"
SHORT = "{a => $.names.first()}.mergeWith({b => 1})"


def test_a_child_that_was_killed_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_seconds", 1)
    pool = child_process._pool(os.getpid())
    assert value(SHORT) == {"a": "b", "b": 1}
    first = pool._waiting[-1]._process
    assert value(SHORT) == {"a": "b", "b": 1}
    assert pool._waiting[-1]._process is first, "it waits for the next expression"
    first.kill()
    assert value(SHORT) == {"a": "b", "b": 1}
    second = pool._waiting[-1]._process
    assert second is not first
    with pytest.raises(ExpressionError):
        value(SLOW)
    assert second.returncode is not None, "it would compute on"


@pytest.mark.parametrize("kill", [signal.SIGKILL, signal.SIGTERM])
def test_an_evaluation_ends_with_its_parent(kill: signal.Signals) -> None:
    """A preview or a server that is killed leaves no process behind that computes for another minute."""
    facts = {"word": FACTS["word"]}
    code = (
        "from fuelclient.expressions.facts import Facts, Views\n"
        "from fuelclient.expressions.yaql_engine import parse\n"
        f"parse({SLOW!r}).value(Views(Facts({facts!r}, {{}})).at('t', None))"
    )
    with subprocess.Popen([sys.executable, "-c", code]) as parent:
        child = _busy_child(parent.pid)
        parent.send_signal(kill)
    assert eventually(lambda: not child.exists())


def _busy_child(parent: int) -> Path:
    assert eventually(lambda: _children(parent))
    child = Path("/proc") / _children(parent)[0]
    assert eventually(lambda: (child / "statm").exists() and _seconds_of(child) > 0.5)
    return child


def _children(pid: int) -> list[str]:
    found: list[str] = []
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(FileNotFoundError, ProcessLookupError):  # the thread has ended
            found += children.read_text(encoding="ascii").split()
    return found


def _seconds_of(process: Path) -> float:
    user, system = (process / "stat").read_text(encoding="ascii").rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def test_a_child_outlives_the_thread_that_needed_it() -> None:
    with ThreadPoolExecutor(1) as threads:
        assert threads.submit(value, SHORT).result() == {"a": "b", "b": 1}
    assert child_process._pool(os.getpid())._waiting[-1]._process.poll() is None


def test_two_expressions_at_a_time_are_in_children(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight hostile expressions would otherwise take all processors from other requests."""
    monkeypatch.setattr(limits, "_seconds", 0.2)
    pool = child_process._pool(os.getpid())
    with pool._free, pool._free:
        with pytest.raises(Unavailable) as caught:
            value(SHORT)
        assert "2 expressions that take long are being evaluated" in caught.value.message
        assert value("$.names.len()") == 2, "what is compiled does not wait"
    monkeypatch.setattr(limits, "_seconds", 60)
    assert value(SHORT) == {"a": "b", "b": 1}


FIRST = """
import threading
from fuelclient.errors import Unavailable
from fuelclient.expressions.child_process import answer
from fuelclient.expressions.facts import Facts, Views

def ask():
    together.wait()
    try:
        answer({text!r}, {facts!r}, Views(Facts({{}})))
    except Unavailable:
        pass

together = threading.Barrier(8)
for _ in range(8):
    threading.Thread(target=ask, daemon=True).start()
threading.Event().wait()
"""


def test_the_first_expressions_share_two_children() -> None:
    """A server's first requests come at the same time."""
    facts = {"new": {"word": FACTS["word"]}, "old": {}, "node": {}, "common": {}}
    with subprocess.Popen([sys.executable, "-c", FIRST.format(text=SLOW, facts=facts)]) as parent:
        try:
            _busy_child(parent.pid)
            assert eventually(lambda: all(_seconds_of(Path("/proc") / child) > 0.5 for child in _children(parent.pid)))
            assert len(_children(parent.pid)) == child_process.AT_ONCE
        finally:
            parent.kill()


def test_few_wait_for_a_child(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server has eight threads; other requests need some of them."""
    pool = child_process._pool(os.getpid())
    with pool._places, pool._places, pool._places, pool._places:
        with pytest.raises(Unavailable) as caught:
            value(SHORT)
        assert "Try again" in caught.value.hint
    assert value(SHORT) == {"a": "b", "b": 1}


def test_waiting_for_a_turn_is_not_computing() -> None:
    """An expression that had no turn is not one that takes too long: a server answers 503, not 400."""
    views = Views(Facts(FACTS, {}), memoise=False)
    view = views.at("t", None)
    views.waited = limits.seconds()
    assert parse(SHORT).value(view) == {"a": "b", "b": 1}
    pool = child_process._pool(os.getpid())
    with pool._free, pool._free, pytest.raises(Unavailable):
        parse(SHORT).value(view)
    assert 2 * limits.seconds() > views.waited > limits.seconds() > views.computed > 0
    views.computed = limits.seconds()
    with pool._free, pool._free, pytest.raises(ExpressionError, match="EXPRESSION_SECONDS"):
        parse(SHORT).value(view)


@pytest.mark.parametrize(("engine", "server"), [("engine.db", None), (None, "http://127.0.0.1:9")])
def test_the_setting_holds_for_every_backend(
    engine: str | None, server: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "_seconds", 60)
    monkeypatch.setenv("FUEL_EXPRESSION_SECONDS", "7")
    with connect(engine, server=server):
        assert limits.seconds() == 7
