"""The schemas of package files are valid, and violations are reported in plain words with their lines."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from fuelclient.files.shapes import MAX_VIOLATIONS, Excerpt, line_at
from fuelclient.files.yaml_text import parse
from fuelclient.model.document import Document
from fuelclient.model.finding import Finding
from fuelclient.plugins.shapes import SHAPES, schema_of

_FILES = {
    path.name: json.loads(path.read_text(encoding="utf-8"))
    for path in resources.files("fuelclient.plugins").joinpath("schemas").iterdir()
    if path.name.endswith(".json")
}


def found(kind: str, text: str, major: int = 5) -> list[Finding]:
    return violations(kind, major, Excerpt(parse(text, "f.yaml"), "f.yaml"))


def violations(kind: str, major: int, written: Excerpt) -> list[Finding]:
    return list(SHAPES.violations(schema_of(kind, major), written.document.data, [written]))


def _below(schema: Any) -> list[dict[str, Any]]:
    if isinstance(schema, dict):
        return [schema, *(one for value in schema.values() for one in _below(value))]
    return [one for value in schema for one in _below(value)] if isinstance(schema, list) else []


class TestData:
    @pytest.mark.parametrize("name", sorted(_FILES))
    def test_a_schema_is_one(self, name: str) -> None:
        assert _FILES[name]["$id"] == name
        Draft202012Validator.check_schema(_FILES[name])

    def test_references_lead_to_definitions(self) -> None:
        for name, schema in _FILES.items():
            for reference in (one["$ref"] for one in _below(schema) if isinstance(one.get("$ref"), str)):
                file, _, path = reference.partition("#")
                target = _FILES[file or name]
                for step in path.strip("/").split("/") if path else ():
                    target = target[step]
                assert isinstance(target, dict), (name, reference)

    def test_what_belongs_somewhere_is_said_in_words(self) -> None:
        """A type, a pattern or a choice without words would be told as what it is to the library."""
        for name, schema in _FILES.items():
            for one in _below(schema):
                stated = {"pattern", "roleWord", "taskWord"} & set(one)
                if stated and all(isinstance(one[key], str | bool) for key in stated):
                    assert "x-is" in one, (name, one)

    def test_every_kind_and_version(self) -> None:
        assert {name.rpartition("-")[0] for name in SHAPES.schemas} >= {
            "metadata", "tasks", "environment_config", "deployment_tasks", "node_roles", "volumes", "network_roles",
            "components", "node_config", "nic_config", "bond_config", "node_tags",
        }  # fmt: skip


class TestViolations:
    def test_all_of_them_are_told_with_their_lines(self) -> None:
        text = "- id: a b\n  type: shell\n  roles:\n  - x\n  - y z\n  parameters:\n    cmd: 1\n- type: puppet\n"
        assert [(one.place.line, one.message) for one in found("deployment_tasks", text)] == [
            (1, "f.yaml:[0].id must be a name of letters, digits, _ and -, or '*', not the string 'a b'"),
            (5, "f.yaml:[0].roles[1] must be a role, or a regular expression between slashes, not the string 'y z'"),
            (7, "f.yaml:[0].parameters.cmd must be a string, not the number 1"),
            (8, "f.yaml:[1] lacks id"),
        ]

    def test_nothing_of_the_library_s_sentences_is_shown(self) -> None:
        text = "a: []\nb: {limits: {overrides: [{}]}, restrictions: [1], tasks: x, weight: '1'}\nc d: {}\n"
        messages = " ".join(str(one) for one in found("node_roles", text))
        assert len(found("node_roles", text)) >= 9
        for raw in ("required property", "is not of type", "does not match", "is not valid under", "should be"):
            assert raw not in messages

    def test_a_pattern_is_matched_to_its_very_end(self) -> None:
        assert found("node_roles", '"a\\n": {name: A, description: a}\n')

    def test_keys_that_are_no_texts(self) -> None:
        assert [one.place.line for one in found("node_roles", "1: {name: A, description: a}\ntrue: 5\n")] == [2]

    def test_an_empty_document_violates_nothing(self) -> None:
        assert found("node_roles", "# nothing\n") == []

    def test_a_part_of_a_file_has_its_path(self) -> None:
        document = Document({"r": {}}, "f.yaml")
        [first, _] = violations("node_roles", 5, Excerpt(document, "f.yaml", ["releases", 0, "roles"]))
        assert first.message == "f.yaml:releases[0].roles.r lacks name"

    def test_words_of_our_own_hold_behind_references_to_other_files(self) -> None:
        [finding] = found("release_tasks", "- {id: a, type: shell, cross-depends: {yaql_exp: x}, roles: '/(/'}\n")
        assert "unterminated subpattern" in finding.message

    def test_a_choice_names_the_nearest(self) -> None:
        [finding] = found("deployment_tasks", "- {id: a, type: pupet, roles: [x]}\n")
        assert finding.hint == "Did you mean puppet?"

    def test_there_is_an_end_to_what_is_told(self) -> None:
        findings = found("network_roles", "- {}\n" * 1000)
        assert len(findings) == MAX_VIOLATIONS + 1
        assert "more errors" in findings[-1].message

    def test_a_document_of_too_many_values_is_not_compared(self) -> None:
        [finding] = violations("network_roles", 5, Excerpt(Document([[0] * 1000] * 1000, "f"), "f"))
        assert "too many" in finding.message

    def test_what_aliases_share_is_found_at_each_place(self) -> None:
        text = "- &a {id: x, default_mapping: y, properties: 5}\n- *a\n"
        assert [one.message for one in found("network_roles", text)] == [
            f"f.yaml:[{index}].properties must be a mapping with subnet, gateway and vip, not the number 5"
            for index in (0, 1)
        ]


def test_the_line_of_a_value() -> None:
    document = parse("a:\n  b:\n  - x\n  - c: 1\n", "f.yaml")
    assert line_at(document.data, ["a", "b", 1, "c"]) == 4
    assert line_at(document.data, ["a", "nowhere", 3]) == 1
