"""Fuel's expression language: what is an error, where, and in which words; and what evaluation guarantees."""

from __future__ import annotations

from typing import Any

import pytest
from call_count import calls
from refusals import refused

from fuelclient.errors import InvalidDocument
from fuelclient.expressions.errors import ExpressionError, UndefinedValue
from fuelclient.expressions.legacy import MAX_DEPTH, parse, parse_condition, rewrite

MODELS: dict[str, dict[str, Any]] = {
    "settings": {"common": {"debug": {"value": False}}, "list": ["a", 1], "nothing": None, "text": "abc", "n": 3},
    "cluster": {"mode": "ha_compact", "id": 7},
}


def value(text: str, *, strict: bool = True) -> Any:
    return parse(text).evaluate(MODELS, strict=strict)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-12", -12),
        ("'it said \"no\"'", 'it said "no"'),
        ('"it\'s"', "it's"),
        ("'Größe' != 'size'", True),
        ("1 and 'x'", "x"),
        ("0 and settings:no.such", 0),
        ("null or 0 or ''", ""),
        ("'x' or settings:no.such", "x"),
        ("not not 1", True),
        ("1 == 1 == true", True),
        ("1 == true", True),
        ("'1' == 1", False),
        ("1 in settings:list", True),
        ("'1' in settings:list", False),
        ("'mode' in cluster:mode or 'ha' in cluster:mode", True),
        ("'debug' in settings:common", True),
        ("settings:list in settings:common", False),
        ("not (1 in settings:list)", False),
        ("not 'z' in settings:list", False),
        ("not (not 'z' in settings:list)", True),
        ("not cluster:mode == 'multinode'", False),
        ("0 or 1 and 0 or 3", 3),
        ("1 in settings:list in settings:list", True),  # true is equal to 1
        ("cluster:mode\n  ==\t'ha_compact'\r\n", True),
        ("((((cluster:id))))", 7),
    ],
)
def test_values(text: str, expected: Any) -> None:
    found = value(text)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("text", "position", "words"),
    [
        ("1 # 2", 2, 'found "#"'),
        ("settings:a == true; true", 18, 'found ";"'),
        ("1 = 2", 2, "=="),
        ("1 && 2", 2, '"and"'),
        ("!settings:a", 0, '"not"'),
        ("1 not in 'x'", 2, 'Write "not (x in y)"'),
        ("settings: a", 0, "settings:storage"),
        ("settings:a == enabled", 14, 'quotes: "enabled"'),
        ("settings:a == 'on", 14, "a quote that is never closed"),
        ("settings:a == TRUE", 14, "lower case: true"),
        ("1 2", 2, '"and", "or", "==", "!=", "in" or the end'),
        ("1 == ", 4, "found the end where a value"),
        ("()", 1, 'found ")" where a value'),
        ("1)", 1, 'found ")"'),
        ("(1", 2, 'found the end where a closing ")"'),
        ("or 1", 0, 'found "or" where a value'),
        ("orange", 0, 'found "orange"'),
        ("1 \x1b[31m", 2, 'found "?"'),
        ("9" * 301, 0, "300 digits"),
    ],
)
def test_what_is_no_expression_is_told_with_its_place(text: str, position: int, words: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse(text)
    assert caught.value.text == text
    assert caught.value.position == position
    assert caught.value.expected
    assert words in str(caught.value)
    assert f"at character {position + 1}:" in str(caught.value)
    assert str(caught.value).isprintable()


def test_errors_are_documents_that_cannot_be_used() -> None:
    with pytest.raises(InvalidDocument):
        parse("")
    with refused(ValueError, "settings:no"):
        value("settings:no")


@pytest.mark.parametrize("path", ["settings:no", "settings:nothing.below", "settings:text.below", "settings:list.0"])
def test_undefined_values(path: str) -> None:
    with pytest.raises(UndefinedValue) as caught:
        value(f"1 == {path}")
    assert caught.value.path == path
    assert f'"1 == {path}"' in caught.value.hint
    assert value(path, strict=False) is None


@pytest.mark.parametrize("strict", [True, False])
def test_an_unknown_model_is_always_an_error(strict: bool) -> None:
    with pytest.raises(ExpressionError, match='No model with name "release" defined') as caught:
        value("release:version == 1", strict=strict)
    assert caught.value.hint.endswith("cluster, settings.")


@pytest.mark.parametrize("text", ["1 in 2", "1 in true", "1 in settings:n", "1 in 'abc'", "null in settings:text"])
@pytest.mark.parametrize("strict", [True, False])
def test_nothing_can_be_looked_for_in_a_number(text: str, strict: bool) -> None:
    with refused(ExpressionError, f'"{text}"') as caught:
        value(text, strict=strict)
    assert caught.type is ExpressionError, "everything it reads is defined"


def test_nothing_is_in_what_is_undefined() -> None:
    assert value("'a' in settings:no", strict=False) is False
    with pytest.raises(ExpressionError, match="null"):
        value("'a' in settings:nothing")


def test_paths_are_all_that_can_be_read() -> None:
    text = "'settings:quoted' == 'x' or (cluster:mode in settings:a-b.c) and not settings:a-b.c"
    assert parse(text).paths() == {"cluster:mode", "settings:a-b.c"}
    assert parse("1").paths() == frozenset()


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("settings:additional_components.heat", "settings:heat.enabled"),
        ("settings:storage.images_ceph", "settings:storage.images_ceph"),
        ("settings:common", "settings:common"),
        ("settings:commons.x.value", "settings:commons.x"),
        ("my_settings:common.x.value", "my_settings:common.x.value"),
        ("settings:a.value_of", "settings:a.value_of"),
        ("settings:a.value=='settings:a.value'", "settings:a=='settings:a.value'"),
        ("not(settings:common.x.value)or settings:y.value", "not(settings:x)or settings:y"),
    ],
)
def test_conditions_are_rewritten_for_facts(condition: str, expected: str) -> None:
    assert rewrite(condition) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("(" * 100_000 + "1" + ")" * 100_000, "200001 characters"),
        ("1 or " * 200_000, "1000000 characters"),
        ("x" * 1_000_000, "1000000 characters"),
        ("not " * 2_400 + "1", f"nested more than {MAX_DEPTH} operators deep"),
        ("1" + " == 1" * 1_900, f"nested more than {MAX_DEPTH} operators deep"),
        ("(not " * 1_600 + "1" + ")" * 1_600, f"nested more than {MAX_DEPTH} operators deep"),
        ("(" * 9_999, "found the end where a value"),
        ("x" * 9_999, "quotes"),
        ("1 '" + "x" * 9_000, "a quote that is never closed"),
    ],
    ids=["parentheses", "megabyte", "megabyte-word", "not", "equal", "mixed", "open", "word", "quote"],
)
def test_hostile_texts_give_one_clear_error_soon(text: str, words: str) -> None:
    caught: list[ExpressionError] = []

    def refused() -> None:
        with pytest.raises(ExpressionError) as told:
            parse(rewrite(text))
        caught.append(told.value)

    assert calls(refused) < 1_000_000
    assert words in str(caught[0])
    assert len(str(caught[0])) < 400


def test_what_is_allowed_is_evaluated_without_deep_recursion() -> None:
    assert parse("0 or " * 1_900 + "2").evaluate({}) == 2
    assert parse("1 and " * 1_600 + "2").evaluate({}) == 2
    assert parse("(" * 4_900 + "1" + ")" * 4_900).evaluate({}) == 1
    assert parse("not " * (MAX_DEPTH - 1) + "1").evaluate({}) is False


@pytest.mark.parametrize(
    "condition", ["settings:common.debug.value = 1", "settings:additional_components.murano.value == a", "settings:a ="]
)
def test_wrong_condition_is_reported_in_its_own_words(condition: str) -> None:
    with pytest.raises(ExpressionError) as unreadable:
        parse_condition(condition)
    with pytest.raises(ExpressionError) as plain:
        parse(condition)
    assert (unreadable.value.text, unreadable.value.position) == (condition, plain.value.position)


def test_failing_condition_is_reported_in_its_own_words() -> None:
    condition = "1 in settings:common.debug.value"
    with pytest.raises(ExpressionError, match=r"settings:common\.debug\.value"):
        parse_condition(condition).evaluate({"settings": {"debug": 5}}, strict=False)
    assert parse_condition(condition).evaluate({"settings": {}}, strict=False) is False
    with pytest.raises(ExpressionError, match="in null"):
        parse_condition(condition).evaluate({"settings": {}}, strict=False, as_master=True)
