"""A console: expressions in both languages on new and old facts, and values without secrets."""

from __future__ import annotations

import pytest

from fuelclient.expressions.console import Console, Evaluated
from fuelclient.expressions.errors import ExpressionError, MissingFact
from fuelclient.model.fact import DeploymentFacts

OLD = DeploymentFacts(
    {"debug": False, "storage": {"pg_num": 8}, "keystone": {"admin_password": "correct horse"}}, {"1": {"roles": ["a"]}}
)
NEW = DeploymentFacts(
    {
        "debug": False, "storage": {"pg_num": 16}, "keystone": {"admin_password": "correct horse"},
        "url": "mysql://nova:correct horse/", "ceilometer": {"enabled": True}, "code": 7, "pin_code_password": 1234,
    },
    {"1": {"roles": ["a", "b"]}, "2": {"roles": ["c"]}},
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$.debug", Evaluated("yaql", False, False, False)),
        ("$.storage.pg_num + 1", Evaluated("yaql", 17, 9, True)),
        ("changed($.storage)", Evaluated("yaql", True, True, False)),  # a comparison is the same wherever it is asked
        ("old($.storage.pg_num)", Evaluated("yaql", 8, 8, False)),
        ("new($.storage.pg_num)", Evaluated("yaql", 16, 16, False)),
        ("changedAny($.debug, $.roles)", Evaluated("yaql", True, True, False)),
        ("added($.roles)", Evaluated("yaql", ["b"], ["b"], False)),
        ("$.code", Evaluated("yaql", 7, None, True)),
        ("settings:storage.pg_num == 16", Evaluated("legacy", True, False, True)),
        ("settings:common.debug.value == false", Evaluated("legacy", True, True, False)),
        ("settings:additional_components.ceilometer.value", Evaluated("legacy", True, None, True)),
    ],
)
def test_the_value_now_and_before(text: str, expected: Evaluated) -> None:
    assert Console(NEW, OLD, "1").evaluated(text) == expected


def test_without_old_facts_everything_is_new() -> None:
    for console in (Console(NEW, None, "1"), Console(NEW, OLD, "2")):  # node 2 was not there
        assert console.evaluated("$.debug") == Evaluated("yaql", False, None, True)
        assert console.evaluated("old($.debug)").value is None
        assert console.evaluated("settings:debug == true") == Evaluated("legacy", False, None, True)


def test_without_a_node_the_common_facts_count() -> None:
    assert Console(NEW, OLD).evaluated("$.storage.pg_num") == Evaluated("yaql", 16, 8, True)
    with pytest.raises(MissingFact):
        Console(NEW, OLD).evaluated("$.roles")


@pytest.mark.parametrize(("text", "language"), [("$.a +", ""), ("settings:", "legacy"), ("$.a", "legacy")])
def test_what_cannot_be_read(text: str, language: str) -> None:
    with pytest.raises(ExpressionError):
        Console(NEW).evaluated(text, language)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("$.keystone.admin_password", "***"),
        ("$.pin_code_password", "***"),
        ("$.keystone.admin_password.len()", "***"),
        ("$.keystone.admin_password = 'x'", False),
        ("$.keystone", {"admin_password": "***"}),
        ("$.keystone.values()", ["***"]),
        ("$.url", "mysql://nova:***/"),
        ("$.storage", {"pg_num": 16}),
        ("$.code", 7),
    ],
)
def test_secrets_are_masked(text: str, shown: object) -> None:
    console = Console(NEW)
    assert console.masked(text, console.evaluated(text).value) == shown
