"""Laws of evaluation on facts: what is kept changes nothing, views are merged mappings, formatting never fails."""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Hashable, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuelclient.expressions.errors import ExpressionError
from fuelclient.expressions.evaluation import condition_of
from fuelclient.expressions.facts import Facts, Past, Views
from fuelclient.expressions.functions import difference, plain
from fuelclient.expressions.render import Master, formatted, render
from fuelclient.expressions.work import Work
from fuelclient.expressions.yaql_engine import parse
from fuelclient.model.task import Task

KEYS = ("a", "b", "c")
leaves: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(0, 2),
    st.sampled_from(["x", "y", "a"]),
    st.lists(st.integers(0, 2), max_size=3),
)
data: st.SearchStrategy[Any] = st.recursive(
    leaves,
    lambda inner: st.dictionaries(st.sampled_from(KEYS), inner, max_size=3) | st.lists(inner, max_size=2),
    max_leaves=8,
)
mappings = st.dictionaries(st.sampled_from(KEYS), data, max_size=3)
uids = ("1", "2", "master")
facts = st.builds(Facts, mappings, st.dictionaries(st.sampled_from(uids), mappings, max_size=3))


@st.composite
def pasts(draw: st.DrawFn) -> Past:
    moments: dict[Hashable, Facts] = {number: draw(facts) for number in range(draw(st.integers(0, 2)))}
    ran = st.sampled_from(list(moments)) if moments else st.nothing()
    last = st.dictionaries(st.tuples(st.sampled_from(("s", "t")), st.sampled_from(uids)), ran, max_size=6)
    return Past(moments, draw(last) if moments else {}, draw(st.sampled_from([(), ("1",)])))


roots = st.sampled_from(["$", "$", "$", "$node", "$common"])
atoms = st.one_of(
    roots,
    st.builds("{}.{}".format, roots, st.sampled_from(KEYS)),
    st.builds("{}.get({})".format, roots, st.sampled_from(KEYS)),
    st.builds("$.get({}, {{}}).get({})".format, st.sampled_from(KEYS), st.sampled_from(KEYS)),
    st.builds("$.get({}, [])".format, st.sampled_from(KEYS)),
    st.sampled_from(
        ["0", "1", "'x'", "null", "[1, 2]", "{a => 1}", "[$]", "{b => $}", "$.keys()", "$.values()", "$.containsKey(a)"]
    ),
)


def grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    single = st.sampled_from([
        "changed({})", "new({})", "old({})", "added({})", "deleted({})", "old({}).isUndef()", "not ({})", "[{}]",
        "{{a => {}}}", "({}).toJson()", "({}).len()", "({}).values()", "({}).select($)", "({}).where($ = new($.a))",
        "({}).a", "({}).get(b)", "({}).select([$, changed($.b)])", "let(v => {}) -> [$v, $]", "({}).first(null)",
        "({}).where($ != 1).any()", "[1, 2].select(new({}))", "({}).toYaml()", "coalesce({}, 1)", "({}).select($.a)",
    ])  # fmt: skip
    double = st.sampled_from([
        "({}) and ({})", "({}) or ({})", "({}) = ({})", "({}) in ({})", "changedAny({}, {})", "changedAll({}, {})",
        "[{}, {}]", "switch({} => 1, true => {})",
    ])  # fmt: skip
    return st.one_of(
        st.builds(str.format, single, inner),
        st.builds(str.format, double, inner, inner),
        st.builds("def(f, {}) -> [f($), {}]".format, inner, inner),
    )


expressions = st.recursive(atoms, grown, max_leaves=5)


def outcome(text: str, views: Views, task: str, uid: str) -> Any:
    """A value, or that there is none; the words of an error may differ by where it was met first."""
    try:
        return ("value", parse(text).value(views.at(task, uid)))
    except ExpressionError:
        return ("error",)


def assert_keeping_changes_nothing(now: Facts, past: Past, texts: list[str]) -> None:
    """Several expressions share what is kept, on nodes and tasks with different old facts, in any order."""
    kept = Views(now, past)
    places = [(task, uid) for uid in uids for task in ("s", "t")]
    for task, uid in [*places, *reversed(places)]:
        for text in texts:
            plainly = outcome(text, Views(now, past, memoise=False), task, uid)
            assert outcome(text, kept, task, uid) == plainly, (text, task, uid)


several = st.lists(expressions, min_size=1, max_size=4)


@given(facts, pasts(), several)
def test_what_is_kept_changes_no_value(now: Facts, past: Past, texts: list[str]) -> None:
    assert_keeping_changes_nothing(now, past, texts)


@pytest.mark.slow
@settings(max_examples=3000)
@given(facts, pasts(), several)
def test_what_is_kept_changes_no_value_of_many(now: Facts, past: Past, texts: list[str]) -> None:
    assert_keeping_changes_nothing(now, past, texts)


legacy = st.builds(
    "{} {} {}".format,
    st.sampled_from(["settings:a", "settings:b.c", "settings:common.a.value", "'x'", "cluster:a"]),
    st.sampled_from(["==", "!=", "in", "and", "or"]),
    st.sampled_from(["settings:a", "settings:c", "settings:b", "true", "'x'"]),
)


@given(facts, st.lists(legacy, min_size=1, max_size=3))
def test_what_is_kept_changes_no_legacy_condition(now: Facts, texts: list[str]) -> None:
    kept = Views(now)
    for uid in (*uids, *uids):
        for text in texts:
            task = Task("t", {"condition": text})
            result: list[bool | None] = []
            for views in (kept, Views(now, memoise=False)):
                try:
                    result.append(condition_of(task, views.at("t", uid)).holds)
                except ExpressionError:
                    result.append(None)
            assert result[0] == result[1], (text, uid)


@given(facts, pasts(), st.lists(st.tuples(st.sampled_from(["a", "b"]), expressions), min_size=1, max_size=3))
def test_what_is_kept_changes_no_task(now: Facts, past: Past, stated: list[tuple[str, str]]) -> None:
    attributes = {"parameters": {key: [{"yaql_exp": text}, "{CLUSTER_ID}"] for key, text in stated}}
    task = Task("t", {**attributes, "condition": {"yaql_exp": stated[0][1]}})
    kept = Views(now, past)

    def seen(views: Views, uid: str) -> list[Any]:
        result: list[Any] = []
        for look in (
            lambda: render(task.attributes, views.at("t", uid), MASTER),
            lambda: condition_of(task, views.at("t", uid)),
        ):
            try:
                result.append(look())
            except ExpressionError:
                result.append("error")
        return result

    for uid in (*uids, *uids):
        assert seen(kept, uid) == seen(Views(now, past, memoise=False), uid)


MASTER = Master("10.0.0.1")


def merged(left: Mapping[str, Any], right: Mapping[str, Any]) -> dict[str, Any]:
    """The union, computed without any shortcut."""
    result = dict(left)
    for key, value in right.items():
        both = isinstance(value, dict) and isinstance(result.get(key), dict)
        result[key] = merged(result[key], value) if both else value
    return result


@given(facts, st.sampled_from(uids))
def test_a_view_is_the_merged_mapping(now: Facts, uid: str) -> None:
    view = Views(now).at("t", uid).new
    expected = merged(now.common, now.nodes.get(uid, {}))

    assert plain(view, Work()) == expected
    assert view == expected
    assert len(view) == len(expected)
    assert list(view) == list(expected)
    assert {key: key in view for key in KEYS} == {key: key in expected for key in KEYS}
    assert [plain(view.get(key), Work()) for key in KEYS] == [expected.get(key) for key in KEYS]


@given(data, data)
def test_differences_of_equal_values_are_empty(left: Any, right: Any) -> None:
    result = difference(left, left, Work())
    assert result in (([], []), ({}, {}), (None, None))
    assert (difference(left, right, Work()) == result) == (left == right and type(left) is type(right)) or isinstance(
        left, str
    )


@given(st.lists(st.integers(0, 3), max_size=6), st.lists(st.integers(0, 3), max_size=6))
def test_a_list_is_what_stayed_and_what_was_added(old: list[int], new: list[int]) -> None:
    added, deleted = difference(old, new, Work())
    rest = Counter(new)
    rest.subtract(added)
    gone = Counter(old)
    gone.subtract(deleted)
    assert rest == gone
    assert min([*rest.values(), 0]) == min([*gone.values(), 0]) == 0


pieces = st.sampled_from(
    [*"{}.[]!:_ a", "{CLUSTER_ID}", "CLUSTER_ID", "SETTINGS", "MASTER_IP", "__class__", "{{", "}}"]
)
words = st.lists(pieces, max_size=9).map("".join)


@given(words)
def test_formatting_agrees_with_python_and_never_fails(text: str) -> None:
    names = {"CLUSTER_ID": 1, "MASTER_IP": "m", "SETTINGS": {"MASTER_IP": "m"}}
    result = formatted(text, names)

    if result != text:
        bare = {name: value for name, value in names.items() if name != "SETTINGS"}
        if "SETTINGS" not in text:
            assert result == string.Formatter().vformat(text, (), bare)
    assert "class '" not in result
