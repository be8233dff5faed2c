"""Which roles a node may take: the forms of restrictions, limits and conflicts, and what they decide."""

from __future__ import annotations

from typing import Any

import pytest

from fuelclient.errors import InvalidDocument
from fuelclient.expressions.errors import UndefinedValue
from fuelclient.expressions.restrictions import (
    LimitKind,
    Restriction,
    conflicting,
    expand_restrictions,
    unmet,
    violation,
)

MODELS: dict[str, dict[str, Any]] = {"settings": {"ha": True, "size": 3, "name": "x"}, "cluster": {"mode": "ha"}}


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ("settings:ha == true", Restriction("settings:ha == true")),
        ({"settings:ha == true": "No."}, Restriction("settings:ha == true", "No.")),
        ({"settings:ha == true": None}, Restriction("settings:ha == true")),
        ({"condition": "1"}, Restriction("1")),
        (
            {"condition": "1", "message": " Folded.\n", "action": "hide", "strict": False},
            Restriction("1", "Folded.", "hide", strict=False),
        ),
    ],
)
def test_the_forms_of_a_restriction(item: object, expected: Restriction) -> None:
    assert expand_restrictions([item]) == [expected]


@pytest.mark.parametrize(
    "value",
    [
        "settings:ha",
        {"condition": "1"},
        [None],
        [7],
        [True],
        [["1"]],
        [{}],
        [{"a": "1", "b": "2"}],
        [{"message": "No condition", "action": "hide"}],
        [{"condition": True}],
        [{True: "No."}],
        [{"condition": "1", "message": ["x"]}],
        [{"condition": "1", "strict": "no"}],
        [{"condition": "1", "action": None}],
    ],
)
def test_another_form_is_an_error(value: object) -> None:
    with pytest.raises(InvalidDocument, match="Invalid restriction format"):
        expand_restrictions(value)


def test_no_restrictions() -> None:
    assert expand_restrictions(None) == []
    assert unmet([], MODELS) == []


def test_any_satisfied_condition_blocks_whatever_its_action() -> None:
    stated = expand_restrictions(
        [
            {"condition": "settings:ha == true", "message": "High availability is on", "action": "none"},
            {"condition": "settings:ha == false", "message": "never"},
            "cluster:mode\n  == 'ha'",
        ]
    )
    assert unmet(stated, MODELS) == ["High availability is on", "not available while cluster:mode == 'ha'"]


def test_strictness_is_the_restriction_s_own() -> None:
    lenient = {"condition": "settings:no.such == null", "message": "m", "strict": False}
    assert unmet(expand_restrictions([lenient]), MODELS) == ["m"]
    with pytest.raises(UndefinedValue):
        unmet(expand_restrictions(["settings:no.such == null"]), MODELS)


@pytest.mark.parametrize(
    ("stated", "others", "expected"),
    [
        (None, ["a", "b"], ()),
        ([], ["a", "b"], ()),
        (["b", "c"], ["a", "b", "b"], ("b",)),
        ("b", ["a", "b"], ("b",)),
        ("*", ["c", "a", "b"], ("b", "c")),
        (["*"], ["a", "b"], ("b",)),
        (["a"], ["a"], ()),
    ],
)
def test_conflicts(stated: object, others: list[str], expected: tuple[str, ...]) -> None:
    assert conflicting("a", others, {"conflicts": stated}) == expected


def test_a_role_without_conflicts() -> None:
    assert conflicting("a", ["b"], {}) == ()


def messages(limits: dict[str, Any] | None, count: int) -> list[str]:
    return [message for kind in LimitKind if (message := violation(limits, count, MODELS, kind))]


def test_limits_without_a_message_say_the_numbers() -> None:
    limits = {"min": 3, "max": 1, "recommended": "settings:size"}
    assert messages(limits, 2) == [
        "at least 3 nodes are needed, there are 2",
        "at most 1 node is allowed, there are 2",
        "at least 3 nodes are recommended, there are 2",
    ]


def test_a_stated_message_is_told() -> None:
    assert messages({"min": 1, "message": "One, please"}, 0) == ["One, please"]


def test_zero_and_null_are_no_limits() -> None:
    assert messages(None, 9) == []
    assert messages({}, 9) == []
    assert messages({"min": 0, "max": 0, "recommended": None}, 9) == []
    assert messages({"max": 3, "overrides": [{"condition": "true", "max": 0}]}, 9) == [
        "at most 3 nodes are allowed, there are 9"
    ]


def test_an_override_replaces_the_limit_of_its_kind_only() -> None:
    limits = {"min": 5, "max": 1, "overrides": [{"condition": "settings:ha", "min": 1}]}
    assert [kind for kind in LimitKind if violation(limits, 2, MODELS, kind)] == [LimitKind.MAX]


def test_an_override_whose_condition_does_not_hold_is_none() -> None:
    limits = {"min": 2, "overrides": [{"condition": "not settings:ha", "min": 1}]}
    assert messages(limits, 1) == ["at least 2 nodes are needed, there is 1"]


def test_only_the_kind_that_is_asked_for() -> None:
    assert violation({"min": 2, "max": 1}, 0, MODELS, LimitKind.MAX) == ""


@pytest.mark.parametrize(
    "limits",
    [
        {"min": 1.5},
        {"max": True},
        {"max": [1]},
        {"max": "settings:name"},
        {"overrides": {"condition": "true"}},
        {"overrides": ["true"]},
        {"overrides": [{"max": 1}]},
    ],
)
def test_limits_in_another_form(limits: dict[str, Any]) -> None:
    assert messages(limits, 1) == []


def test_a_limit_that_is_no_expression() -> None:
    assert messages({"max": "many"}, 9) == []
