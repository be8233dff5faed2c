"""Tasks as nodes run them: texts formatted safely, expressions replaced, dependencies computed."""

from __future__ import annotations

from typing import Any

import pytest

from fuelclient.expressions.errors import ExpressionError
from fuelclient.expressions.evaluation import condition_of
from fuelclient.expressions.facts import Facts, View, Views
from fuelclient.expressions.render import Master, computed_relations, formatted, render
from fuelclient.model.task import Relation, Task

COMMON = {
    "cluster": {"id": 7, "mode": "ha"},
    "openstack_version": "newton-10.0",
    "public_ssl": {"hostname": "public.example"},
    "master_ip": "10.20.0.2",
    "roles": ["x"],
}
MASTER = Master("10.0.0.9", {"PORT": 8000, "NESTED": {"key": "v", "_secret": "s", "list": [1]}})


def view(node: int = 1, common: Any = None) -> View:
    return Views(Facts(COMMON if common is None else common, {"1": {"uid": "1"}, "2": {"uid": "2"}})).at("t", node)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{CLUSTER_ID}/{OPENSTACK_VERSION}", "7/newton-10.0"),
        ("{MASTER_IP} {CN_HOSTNAME}", "10.0.0.9 public.example"),
        ("{SETTINGS.MASTER_IP}:{SETTINGS.PORT} {SETTINGS.NESTED[key]}", "10.0.0.9:8000 v"),
        ("{CLUSTER_ID:03d} {CLUSTER_ID!s:>3}", "007   7"),
        ("{{CLUSTER_ID}} is {CLUSTER_ID}", "{CLUSTER_ID} is 7"),
    ],
)
def test_words_in_braces_are_replaced(text: str, expected: str) -> None:
    assert render({"parameters": {"cmd": text}}, view(), MASTER)["parameters"]["cmd"] == expected


@pytest.mark.parametrize(
    "text",
    [
        "awk '{ print $1 }'", "{}", "{0}", "{", "}", "{CLUSTER_ID", "a{b", "{UNKNOWN} {CLUSTER_ID}",
        "{CLUSTER_ID} {}",
        "{SETTINGS}", "{SETTINGS.NESTED}", "{SETTINGS.NESTED.list}", "{SETTINGS.NOTHING}", "{SETTINGS.NESTED._secret}",
        "{SETTINGS.__class__}", "{CLUSTER_ID.__class__}", "{CLUSTER_ID.real}", "{SETTINGS.__class__.__mro__[1]}",
        "{SETTINGS[__class__]}", "{CLUSTER_ID:>99999999}", "{CLUSTER_ID:{MASTER_IP}}", "{CLUSTER_ID!r}",
        "{CLUSTER_ID:q}",
        "{__class__}", "{ CLUSTER_ID }", "{CLUSTER_ID.}", "${VARIABLE}", '{"json": 1}', "{SETTINGS.PORT.x}",
    ],
)  # fmt: skip
def test_a_text_with_anything_else_in_braces_stays_as_it_is(text: str) -> None:
    assert render({"parameters": {"cmd": text}}, view(), MASTER)["parameters"]["cmd"] == text


def test_names_that_the_facts_do_not_have_stay() -> None:
    cmd = "{CLUSTER_ID} {CN_HOSTNAME} {OPENSTACK_VERSION}"
    assert render({"parameters": {"cmd": cmd}}, view(common={}), Master())["parameters"]["cmd"] == cmd
    assert (
        render({"parameters": {"cmd": "{MASTER_IP}"}}, view(common={}), Master())["parameters"]["cmd"] == "{MASTER_IP}"
    )
    assert render({"parameters": {"cmd": "{MASTER_IP}"}}, view(), Master())["parameters"]["cmd"] == "10.20.0.2"


def test_vector_n17_a_word_is_replaced_where_it_is_known() -> None:
    assert formatted("{MN_IP}", {"MN_IP": "10.0.0.1"}) == "10.0.0.1"
    assert formatted("{MN_IP}", {}) == "{MN_IP}"


def test_expressions_are_replaced_wherever_they_stand() -> None:
    attributes = {
        "id": "{CLUSTER_ID}",
        "type": "shell",
        "roles": "*",
        "condition": {"yaql_exp": "$.no_such"},
        "requires": {"yaql_exp": "['deploy_start']"},
        "parameters": {
            "deep": [{"x": {"yaql_exp": "$.uid"}}, "{CLUSTER_ID}", 5, None, True],
            "whole": {"yaql_exp": "$.cluster"},
            "text": {"yaql_exp": "'{' + 'CLUSTER_ID}'"},
            "files": [{"regex": "a{1,2}{CLUSTER_ID}", "path": "/{CLUSTER_ID}"}],
            "regex": {"yaql_exp": "$.uid"},
        },
    }
    assert render(attributes, view(2), MASTER) == {
        "type": "shell",
        "requires": ["deploy_start"],
        "fail_on_error": True,
        "parameters": {
            "cwd": "/",
            "deep": [{"x": "2"}, "7", 5, None, True],
            "whole": {"id": 7, "mode": "ha"},
            "text": "{CLUSTER_ID}",
            "files": [{"regex": "a{1,2}{CLUSTER_ID}", "path": "/7"}],
            "regex": {"yaql_exp": "$.uid"},
        },
    }


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({}, {"parameters": {"cwd": "/"}, "fail_on_error": True}),
        ({"parameters": None}, {"parameters": {"cwd": "/"}, "fail_on_error": True}),
        ({"parameters": {"yaql_exp": "null"}}, {"parameters": {"cwd": "/"}, "fail_on_error": True}),
        (
            {"parameters": {"cwd": "/srv"}, "fail_on_error": False},
            {"parameters": {"cwd": "/srv"}, "fail_on_error": False},
        ),
    ],
)
def test_defaults(attributes: dict[str, Any], expected: dict[str, Any]) -> None:
    assert render(attributes, view(), MASTER) == expected


def test_rendering_changes_nothing_and_is_shared_by_like_nodes() -> None:
    views = Views(Facts(COMMON, {"1": {"uid": "1"}, "2": {"uid": "2"}}))
    alike = {"type": "shell", "parameters": {"cmd": "{CLUSTER_ID}", "mode": {"yaql_exp": "$.cluster.mode"}}}
    own = {"type": "shell", "parameters": {"uid": {"yaql_exp": "$.uid"}}}

    shared = [render(alike, views.at("t", node), MASTER) for node in (1, 2)]
    apart = [render(own, views.at("t", node), MASTER) for node in (1, 2)]

    assert shared[0] is shared[1]
    assert [item["parameters"]["uid"] for item in apart] == ["1", "2"]
    assert alike == {"type": "shell", "parameters": {"cmd": "{CLUSTER_ID}", "mode": {"yaql_exp": "$.cluster.mode"}}}


def test_a_value_that_is_only_old_is_no_parameter() -> None:
    with pytest.raises(ExpressionError, match="no old facts"):
        render({"parameters": {"x": {"yaql_exp": "old($.uid)"}}}, view(), MASTER)


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"requires": ["a"], "cross_depends": [{"name": "b", "role": "self"}]}, []),
        ({"requires": {"yaql_exp": "[a, b]"}}, [("requires", Relation("a")), ("requires", Relation("b"))]),
        ({"required_for": ["x", {"yaql_exp": "'t' + $.uid"}]}, [("required_for", Relation("t1"))]),
        ({"requires": {"yaql_exp": "null"}, "cross_depends": {"yaql_exp": "null"}}, []),
        (
            {"cross_depends": {"yaql_exp": "[{name => a, role => self}, {name => b, role => null}, null, {}]"}},
            [("cross_depends", Relation("a", "self")), ("cross_depends", Relation("b", None))],
        ),
        ({"cross_depends": [{"yaql_exp": "dict(name => a)"}]}, [("cross_depends", Relation("a", "*"))]),
        (
            {"cross_depended_by": [{"name": {"yaql_exp": "a"}, "role": {"yaql_exp": "$.roles"}, "policy": "any"}]},
            [("cross_depended_by", Relation("a", ("x",), "any"))],
        ),
        (
            {"cross_depends": [{"name": "a", "tags": {"yaql_exp": "[db]"}, "role": "ignored"}]},
            [("cross_depends", Relation("a", ("db",)))],
        ),
    ],
)
def test_dependencies_that_expressions_state(attributes: dict[str, Any], expected: list[tuple[str, Relation]]) -> None:
    task = Task("t", attributes)
    found = [(name, relation) for name in attributes for relation in computed_relations(task, name, view(), MASTER)]
    assert found == expected


@pytest.mark.parametrize(
    "attributes",
    [
        {"requires": {"yaql_exp": "[1]"}},
        {"cross_depends": {"yaql_exp": "[a]"}},
        {"cross_depends": {"yaql_exp": "[{role => self}]"}},
        {"cross_depends": [{"name": {"yaql_exp": "[a]"}}]},
        {"cross_depends": {"yaql_exp": "[{name => a, role => {b => c}}]"}},
    ],
)
def test_dependencies_that_are_none(attributes: dict[str, Any]) -> None:
    (attribute,) = attributes
    with pytest.raises(ExpressionError, match="dependency is computed"):
        computed_relations(Task("t", attributes), attribute, view(), MASTER)


@pytest.mark.parametrize(
    ("condition", "holds", "reason"),
    [
        ({"yaql_exp": "$.uid = '1'"}, True, "YAQL \"$.uid = '1'\" is true"),
        ({"yaql_exp": "$.get(nothing)"}, False, 'YAQL "$.get(nothing)" is null'),
        ({"yaql_exp": "'false'"}, False, '"false" is false'),
        ({"yaql_exp": "''"}, False, "the condition is empty or 0"),
        ({"yaql_exp": "' '"}, False, "the condition is empty or 0"),
        ({"yaql_exp": "old($.nothing)"}, True, 'YAQL "old($.nothing)" is true (not empty, not 0)'),
        ({"yaql_exp": True}, True, 'YAQL "true" is true'),
        ({"yaql_exp": False}, False, 'YAQL "false" is false'),
        ({"yaql_exp": None}, False, 'YAQL "null" is null'),
        ({"yaql_exp": 0}, False, 'YAQL "0" is empty or 0'),
        ("cluster:id == 7", True, '"cluster:id == 7" is true'),
        ("settings:nothing.value", False, '"settings:nothing.value" is false'),
        (False, False, "the condition is false"),
        (0, False, "the condition is empty or 0"),
        (True, True, "the condition is true"),
        ([0], True, "the condition is true (not empty, not 0)"),
    ],
)
def test_conditions_and_their_reasons(condition: Any, holds: bool, reason: str) -> None:
    result = condition_of(Task("t", {"condition": condition}), view())
    assert (result.holds, result.reason) == (holds, reason)


@pytest.mark.parametrize(
    "stated", [{}, {"condition": None}, {"condition": ""}, {"condition": " \n"}, {"condition": []}, {"condition": {}}]
)
def test_a_task_without_a_condition_or_with_an_empty_one_runs(stated: dict[str, Any]) -> None:
    result = condition_of(Task("t", stated), view())
    assert (result.holds, result.reason) == (True, "")


@pytest.mark.parametrize(
    "condition", [{"yaql_exp": "$.no_such"}, {"yaql_exp": "("}, "settings:", {"yaql_exp": "'a b'"}]
)
def test_a_condition_that_fails_is_an_error(condition: Any) -> None:
    with pytest.raises(ExpressionError):
        condition_of(Task("t", {"condition": condition}), view())


def test_legacy_condition_without_node_is_evaluated_once() -> None:
    views = Views(Facts(COMMON, {"1": {"uid": "1"}, "2": {"uid": "2"}}))
    for node in (1, 2):
        assert condition_of(Task("t", {"condition": "cluster:mode == 'ha'"}), views.at("t", node)).holds
        assert not views.own
    assert condition_of(Task("t", {"condition": "settings:uid == '2'"}), views.at("t", 2)).holds
    assert not condition_of(Task("t", {"condition": "settings:uid == '2'"}), views.at("t", 1)).holds
