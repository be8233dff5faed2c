"""Records to tasks and back: ids, spellings, legacy entries, sources, and every wrong shape."""

from __future__ import annotations

from typing import Any

import pytest

from fuelclient.files.yaml_text import parse
from fuelclient.model.finding import Finding, Place
from fuelclient.model.task import Task
from fuelclient.serializers.task import task_from, task_to


def read(text: str, position: int = 1) -> tuple[Task | None, list[Finding]]:
    record = parse(text, "tasks.yaml").data
    return task_from(record, file="tasks.yaml", owner_label="plugin lma-1.0", position=position)


def good(text: str, position: int = 1) -> Task:
    task, findings = read(text, position)
    assert task is not None, findings
    assert findings == []
    return task


def test_attributes_keep_the_order_and_the_canonical_names() -> None:
    task = good("type: puppet\nid: net\nrole: [compute]\ncross-depends:\n- name: db\nx: {b: 1, a: 2}\n")
    assert list(task.attributes) == ["type", "roles", "cross_depends", "x"]
    assert list(task.attributes["x"]) == ["b", "a"]
    assert list(task_to(task)) == ["id", "type", "roles", "cross-depends", "x"]


def test_source_has_the_line_of_every_attribute() -> None:
    task = good("id: net\ntype: puppet\nrole: a\nparameters:\n  timeout: 5\n  strategy:\n    type: parallel\n")
    assert task.source.place() == Place("tasks.yaml", 1)
    assert task.source.place("roles") == Place("tasks.yaml", 3)
    assert task.source.place("parameters.timeout") == Place("tasks.yaml", 5)
    assert task.source.place("parameters.strategy.type") == Place("tasks.yaml", 7)
    assert task.source.place("parameters.unknown") == Place("tasks.yaml", 4)


def test_legacy_entry_is_named_by_place_and_written_without_id() -> None:
    task = good("role: [controller]\nstage: post_deployment/100.5\ntype: shell\n", position=3)
    assert (task.id, task.legacy) == ("plugin lma-1.0:post_deployment#3", True)
    assert task.stage == "post_deployment/100.5"
    assert "id" not in task_to(task, known="plugin lma-1.0:post_deployment#3")
    assert task_to(task, known="plugin lma-1.0:post_deployment#2")["id"] == task.id
    again, findings = task_from(task_to(task), file="merged.yaml", owner_label="cluster", position=7)
    assert again is not None
    assert findings == []
    assert (again.id, again.legacy) == (task.id, True)


def test_task_with_id_and_stage_is_not_legacy() -> None:
    task = good("id: a\nstage: post_deployment\ntype: shell\n")
    assert (task.id, task.legacy) == ("a", False)
    assert task_to(task, known="a")["id"] == "a"


def test_custom_is_flattened_in_its_place() -> None:
    task = good("id: a\n_custom: {stage: x, y: null}\ntype: shell\n")
    assert list(task.attributes.items()) == [("stage", "x"), ("y", None), ("type", "shell")]


def test_null_lists_are_not_stated_and_numbers_are_names() -> None:
    task = good("id: a\ntype: shell\nrole: null\ncross-depends:\nrequires: [1, b]\nparameters:\ncondition:\n")
    assert task.attributes == {"type": "shell", "requires": ["1", "b"], "parameters": None, "condition": None}


def test_values_become_plain_json_types() -> None:
    task = good(
        "id: a\ntype: shell\nday: 2016-01-02\nnever: .inf\nless: -.inf\nkeys: {2: a, true: b, null: c}\n"
        "raw: !!binary aGk=\nwords: !!set {b, a}\npairs: !!pairs [x: 1]\n"
    )
    assert {key: value for key, value in task.attributes.items() if key != "type"} == {
        "day": "2016-01-02",
        "never": ".inf",
        "less": "-.inf",
        "keys": {"2": "a", "true": "b", "null": "c"},
        "raw": "aGk=",
        "words": ["a", "b"],
        "pairs": [["x", 1]],
    }
    assert type(task.attributes["keys"]) is dict


def test_the_task_shares_nothing_with_the_record() -> None:
    record: dict[str, Any] = {"id": "a", "type": "shell", "parameters": {"cmd": ["x"]}, "requires": ["b"]}
    task, _ = task_from(record, file="", owner_label="release", position=1)
    record["parameters"]["cmd"].append("y")
    record["requires"].append("c")
    assert task is not None
    assert (task.attributes["parameters"], task.attributes["requires"]) == ({"cmd": ["x"]}, ["b"])


@pytest.mark.parametrize(
    "attribute",
    [
        "requires: {yaql_exp: $.a}",
        "required_for: [b, {yaql_exp: $.a}]",
        "cross-depends: {yaql_exp: $.a}",
        "cross-depended-by: [{yaql_exp: $.a}, {name: {yaql_exp: $.b}, role: {yaql_exp: $.c}}]",
        "cross-depends: [{name: b, role: null}]",
        "cross-depends: [{name: b, role: self, policy: any}]",
        "cross-depends: [{name: b, role: [x, /y/], extra: 1}]",
        "condition: {yaql_exp: $.a}",
        "condition: true",
        "parameters: {yaql_exp: $.a}",
        "parameters: {strategy: {yaql_exp: $.a}, timeout: {yaql_exp: $.b}}",
        "parameters: {strategy: {type: one_by_one, amount: {yaql_exp: $.b}}}",
    ],
)
def test_expressions_and_free_forms_are_accepted(attribute: str) -> None:
    task = good(f"id: a\ntype: shell\n{attribute}\n")
    key, _, stated = attribute.partition(": ")
    assert task_to(task)[key] == parse(stated, "f").data


@pytest.mark.parametrize(
    ("attribute", "code", "words"),
    [
        ("requires: 5", "G006", "requires must be a list of names, not the number 5"),
        ("requires: {name: b}", "G006", "not a mapping"),
        ("requires: [null]", "G006", "an item of requires is empty"),
        ("groups: [[b]]", "G006", "an item of groups is a list"),
        ("roles: {yaql_exp: $}", "G006", "roles must be a list of names"),
        ("tags: [true]", "G006", "the boolean true"),
        ("cross-depends: beta", "G006", "a list of mappings, not the string 'beta'"),
        ("cross-depends: {name: beta}", "G006", "not a mapping"),
        ("cross_depends: [beta]", "G006", "not a mapping"),
        ("cross-depends: [{name: ''}]", "G006", "name in cross-depends"),
        ("cross-depends: [{name: b, role: [[x]]}]", "G006", "role in cross-depends"),
        ("cross-depends: [{name: b, role: true}]", "G006", "role in cross-depends"),
        ("cross-depends: [{name: b, policy: some}]", "G006", "all or any"),
        ("version: 2.0", "G006", "version must be three numbers"),
        ("version: '2x0x0'", "G006", "version must be three numbers"),
        ('version: "2.0.0\\n"', "G006", "version must be three numbers"),
        ("version:", "G006", "not empty"),
        ("parameters: [a]", "G006", "parameters must be a mapping"),
        ("parameters: {strategy: fast}", "G006", "strategy must be a mapping"),
        ("parameters: {strategy: {}}", "G006", "parameters.strategy has no type"),
        ("parameters: {strategy: {type: parallel, amount: true}}", "G006", "a whole number"),
        ("_custom: [a]", "G006", "_custom must be a mapping"),
    ],
)
def test_wrong_shapes_are_errors_with_their_line(attribute: str, code: str, words: str) -> None:
    task, [finding] = read(f"id: a\ntype: shell\n\n{attribute}\n")
    assert task is None
    assert (finding.code, finding.place, finding.task) == (code, Place("tasks.yaml", 4), "a")
    assert words in finding.message
    assert finding.hint


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("type: shell", "G002", 1),
        ("type: shell\nid: ''", "G002", 2),
        ("type: shell\nid:", "G002", 2),
        ("type: shell\nid: 5", "G002", 2),
        ("type: shell\nid: [a]", "G002", 2),
        ("type: shell\nstage: 5", "G006", 2),
        ("id: a\ntype:", "G006", 2),
        ("id: a\ntype: [shell]", "G006", 2),
        ("id: a\ntask_name: b\ntype: shell", "G007", 2),
        ("id: a\ntype: shell\nrole: x\nroles: [y]", "G007", 4),
    ],
)
def test_ids_types_and_spellings(text: str, code: str, line: int) -> None:
    task, [finding] = read(text)
    assert task is None
    assert (finding.code, finding.place.line) == (code, line)


def test_an_unknown_type_lists_the_types_and_names_the_nearest() -> None:
    _, [finding] = read("id: a\ntype: pupet\n")
    assert finding.code == "G004"
    assert finding.hint.startswith("Did you mean puppet? Types: puppet, shell,")


@pytest.mark.parametrize("record", [None, 5, "a", ["a"]])
def test_what_is_no_mapping_is_no_task(record: Any) -> None:
    task, [finding] = task_from(record, file="f", owner_label="release", position=4, line=9)
    assert task is None
    assert (finding.code, finding.place) == ("G006", Place("f", 9))
    assert finding.message.startswith("entry 4 is ")


def test_without_a_file_the_layer_is_the_place() -> None:
    _, [finding] = task_from({"id": "a", "type": 5}, file="", owner_label="cluster", position=1)
    assert str(finding.place) == "cluster"


@pytest.mark.parametrize(
    ("condition", "kept"), [("false", False), ("[]", []), ("0", 0), ("{a: b}", {"a": "b"}), ("'x'", "x")]
)
def test_a_condition_of_any_shape_is_kept_as_it_is_stated(condition: str, kept: object) -> None:
    assert task_to(good(f"{{id: a, type: shell, condition: {condition}}}"))["condition"] == kept


def test_partial_record_may_change_the_amount_of_a_strategy() -> None:
    task = good("{id: net, parameters: {strategy: {amount: 3}}}")

    assert task.attributes["parameters"] == {"strategy": {"amount": 3}}
