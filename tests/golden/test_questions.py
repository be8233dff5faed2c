"""The bytes of answers about a graph, as text and as JSON, and the schema of the documents."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import CommandLine
from jsonschema import Draft202012Validator
from questioned import questioned_engine

HERE = Path(__file__).parent
SCHEMA = json.loads((HERE.parents[1] / "docs" / "answers.schema.json").read_text(encoding="utf-8"))
QUESTIONS: dict[str, tuple[object, ...]] = {
    "blame": ("blame", "keystone"),
    "blame_explained": ("blame", "keystone", "parameters.timeout", "--explain"),
    "why": ("why", "keystone", "plugin1:pre_deployment#1"),
    "why_priority": ("why", "plugin2:pre_deployment#1", "plugin1:pre_deployment#3"),
    "why_tie": ("why", "plugin1:pre_deployment#1", "plugin2:pre_deployment#1"),
    "why_not": ("why", "heat", "horizon"),
    "order": ("order",),
    "impact": ("impact", "netconfig"),
    "stats": ("stats",),
    "diff_layer": ("diff", "release:1", "env:1"),
    "diff_without": ("diff", "env:1", "--without", "plugin:plugin2"),
    "diff_own_graph": ("diff", "env:1", "--without", "cluster"),
    "query": ("query", "1+keystone+1,!layer:cluster", "--explain"),
    "changes": ("changes", 1, "--all"),
}


def line(name: str) -> tuple[object, ...]:
    """Return the command line of a question."""
    noun, where = ("env", ()) if name == "changes" else ("graph", ("--env", 1))
    return (noun, *QUESTIONS[name], *where)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    return questioned_engine(tmp_path_factory.mktemp("questioned"))


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("name", QUESTIONS)
def test_bytes_of_answers(engine: CommandLine, name: str, form: str, renew: bool) -> None:
    printed = engine.ok(*line(name), "-f", form).out
    golden = HERE / "questions" / f"{name}.{form}.txt"
    if renew:
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(printed, encoding="utf-8")
    assert printed == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", QUESTIONS)
def test_answers_follow_their_schema(engine: CommandLine, name: str) -> None:
    answer = engine.ok(*line(name), "-f", "json").json
    Draft202012Validator(SCHEMA).validate(answer)


def test_the_schema_refuses_other_documents(engine: CommandLine) -> None:
    answer = engine.ok("graph", *QUESTIONS["blame"], "--env", 1, "-f", "json").json
    validator = Draft202012Validator(SCHEMA)
    assert not validator.is_valid({**answer, "format_version": 2})
    assert not validator.is_valid({**answer, "definitions": []})
