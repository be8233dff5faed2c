"""The bytes of answers, as text and as JSON, and the schema of the documents."""

from __future__ import annotations

import argparse
import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from cliff.display import DisplayCommandBase
from command_line import CommandLine
from jsonschema import Draft202012Validator
from package_trees import role, task, write_package
from questioned import questioned_engine
from shared import shared

from fuelclient.commands.graph.question import AnswerList
from fuelclient.commands.table import COMMANDS

HERE = Path(__file__).parent
SCHEMA = json.loads((HERE.parents[1] / "docs" / "answers.schema.json").read_text(encoding="utf-8"))
ENV = ("--env", 1)
TEXT, TABLE, JSON, JSONL = "text", "table", "json", "jsonl"


@dataclass(frozen=True)
class Case:
    """A command line by its command and arguments, in which `{}` is the directory of the engine, and its formats."""

    command: str
    arguments: tuple[object, ...] = ()
    forms: tuple[str, ...] = (TEXT, JSON)
    after_run: bool = False
    """Whether it is asked on the engine that has executed its graph."""


CASES = {
    "blame": Case("graph blame", ("keystone", *ENV)),
    "blame_explained": Case("graph blame", ("keystone", "parameters.timeout", "--explain", *ENV)),
    "why": Case("graph why", ("keystone", "plugin1:pre_deployment#1", *ENV)),
    "why_priority": Case("graph why", ("plugin2:pre_deployment#1", "plugin1:pre_deployment#3", *ENV)),
    "why_tie": Case("graph why", ("plugin1:pre_deployment#1", "plugin2:pre_deployment#1", *ENV)),
    "why_not": Case("graph why", ("heat", "horizon", *ENV)),
    "order": Case("graph order", ENV),
    "impact": Case("graph impact", ("netconfig", *ENV)),
    "stats": Case("graph stats", ENV),
    "diff_layer": Case("graph diff", ("release:1", "env:1", *ENV)),
    "diff_without": Case("graph diff", ("env:1", "--without", "plugin:plugin2", *ENV)),
    "diff_own_graph": Case("graph diff", ("env:1", "--without", "cluster", *ENV)),
    "query": Case("graph query", ("1+keystone+1,!layer:cluster", "--explain", *ENV)),
    "render": Case("graph render", ENV, ("txt", "dot", "mmd")),
    "render_roles": Case("graph render", ("role:controller", "--group", "role", *ENV), ("txt", "dot", "mmd")),
    "changes": Case("env changes", (1, "--all")),
    "changes_after": Case("env changes", (1, "--all"), after_run=True),
    "drift": Case("env drift", (1,), (TABLE, JSON), after_run=True),
    "facts_diff": Case("env facts diff", (1,), (TABLE, JSON), after_run=True),
    "gantt": Case("task gantt", (1,), after_run=True),
    "plan_show": Case("plan show", ("{}/saved.json",)),
    "plugins_diff": Case("plugins diff", ("plugin1", "{}/newer")),
    "matrix": Case("plugins matrix", ("{}/newer", "{}/other", "{}/same"), (TABLE, JSON)),
    "engine_check": Case("engine check", (), (TABLE, JSON)),
    "explain": Case("explain", ("G050",)),
    "start": Case("start", ("{}/other",)),
    "watch": Case("task watch", (1,), (JSONL,), after_run=True),
    "logs": Case("task logs", (3,), (JSONL,), after_run=True),
}
ALL = [(name, form) for name, case in CASES.items() for form in case.forms]
DOCUMENTS = [(name, form) for name, form in ALL if form in (JSON, JSONL)]


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """The engine before any run, with a saved plan and packages beside it."""
    engine = questioned_engine(tmp_path_factory.mktemp("questioned"))
    directory = engine.engine.parent
    parameters = {"cmd": "true", "timeout": 90}
    later = [task("later", role=["controller"], stage="pre_deployment", type="shell", parameters=parameters)]
    write_package(directory / "newer", "plugin1", "1.1.0", files={"tasks.yaml": later})
    roles = {"seer": role()}
    for name in ("other", "same"):
        write_package(directory / name, name, "1.0.0", "4.0.0", files={"node_roles.yaml": roles})
    engine.ok("plan", "create", directory / "saved.json", *ENV, "--noop")
    return engine


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """The same engine after run 1, in which one instance begins every two seconds."""
    directory = tmp_path_factory.mktemp("executed")
    shared("questioned-and-executed", _executed, directory)
    return CommandLine(directory / "engine.db")


def _executed(directory: Path) -> None:
    engine = questioned_engine(directory)
    engine.ok("plan", "create", engine.engine.parent / "saved.json", *ENV)
    planned = engine.ok("plan", "show", engine.engine.parent / "saved.json", "-f", "json").json["graphs"][0]
    engine.ok("graph", "execute", *ENV, "--executor", "local", "--wait")
    talking = directory / "talking.json"
    parameters = {"cmd": "echo one; echo; echo two; echo three >&2; printf end", "timeout": 60}
    talk = {"id": "talk", "type": "shell", "version": "2.1.0", "roles": ["controller"], "parameters": parameters}
    talking.write_text(json.dumps([talk]), encoding="utf-8")
    engine.ok("graph", "upload", *ENV, "--type", "talking", "--file", talking)
    engine.ok("graph", "execute", *ENV, "--type", "talking", "--executor", "local", "--wait")
    begin = datetime(2026, 1, 1)
    with closing(sqlite3.connect(engine.engine)) as database, database:
        for number, one in enumerate(planned["instances"]):
            start = begin + timedelta(seconds=2 * number)
            end = start + timedelta(seconds=(number % 3) * (one["node"] != ""))
            database.execute(
                "UPDATE history SET time_start = ?, time_end = ? WHERE task = ? AND coalesce(node, '') = ?",
                (start.isoformat(), end.isoformat(), one["task"], one["node"]),
            )


def printed(name: str, form: str, asked: CommandLine, request: pytest.FixtureRequest) -> str:
    """Return what a case prints, without what differs from machine to machine."""
    case = CASES[name]
    engine: CommandLine = request.getfixturevalue("executed") if case.after_run else asked
    directory = str(engine.engine.parent)
    arguments = [str(argument).replace("{}", directory) for argument in case.arguments]
    out = engine.ok(*case.command.split(), *arguments, "--format", form).out.replace(directory, "/engine")
    if form == JSONL:  # nodes take turns as they like
        out = "".join(sorted(re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+", "<time>", out).splitlines(keepends=True)))
    out = re.sub(r"\b\d+ MB are free", "9 MB are free", out)
    out = re.sub(r"\b[0-9a-f]{64}\b|(?<=@)[0-9a-f]{12}\b", "<digest>", out)
    out = re.sub(r"(?m)(tasks? +)[0-9a-f]{12}$", r"\1<digest>", out)
    return re.sub(r"-{4,}", "----", re.sub(r" +\|", " |", out)) if form == TABLE else out


@pytest.mark.parametrize(("name", "form"), ALL)
def test_bytes_of_answers(
    asked: CommandLine,
    name: str,
    form: str,
    renew: bool,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    out = printed(name, form, asked, request)
    golden = HERE / "questions" / f"{name}.{form}.txt"
    if renew:
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(out, encoding="utf-8")
    assert out == golden.read_text(encoding="utf-8")


def definition(command: str) -> dict[str, Any]:
    """Return the schema of a command's document."""
    (name,) = [name for name, one in SCHEMA["$defs"].items() if one.get("title") == command]
    return {"$ref": f"#/$defs/{name}", "$defs": SCHEMA["$defs"]}


@pytest.mark.parametrize(("name", "form"), DOCUMENTS)
def test_answers_follow_their_schema(asked: CommandLine, name: str, form: str, request: pytest.FixtureRequest) -> None:
    out = printed(name, form, asked, request)
    answers = [json.loads(line) for line in (out.splitlines() if form == JSONL else [out])]
    assert answers
    for answer in answers:
        assert answer["format_version"] == 1
        Draft202012Validator(SCHEMA).validate(answer)
        Draft202012Validator(definition(CASES[name].command)).validate(answer)


def documented() -> Iterator[str]:
    """Yield the commands that print a document of their own.

    These are the lists that are answers, and the commands with text for people and JSON for programs. Other lists print
    rows, and what has no text prints what Fuel defines: graphs, settings, runs.
    """
    for name, (target, _) in COMMANDS.items():
        module, _, class_name = target.partition(":")
        command = getattr(import_module(module), class_name)
        if issubclass(command, AnswerList):
            yield name
        elif not issubclass(command, DisplayCommandBase):
            parser: argparse.ArgumentParser = command(None, None).get_parser(name)
            choices = [set(action.choices or ()) for action in parser._actions]
            if any({TEXT, JSON} <= one or {TEXT, JSONL} <= one for one in choices):
                yield name


def test_commands_with_documents_have_schema_and_golden_files() -> None:
    commands = set(documented())
    titles = {one["title"] for one in SCHEMA["$defs"].values() if "title" in one}
    assert commands == titles
    assert commands == {CASES[name].command for name, _ in DOCUMENTS}
    listed = {one["$ref"].removeprefix("#/$defs/") for one in SCHEMA["oneOf"]}
    assert listed == {name for name, one in SCHEMA["$defs"].items() if "title" in one}


def test_no_golden_file_is_left_over() -> None:
    assert {path.name for path in (HERE / "questions").iterdir()} == {f"{name}.{form}.txt" for name, form in ALL}


def test_the_file_of_a_plan_is_what_plan_show_prints(asked: CommandLine) -> None:
    path = asked.engine.parent / "saved.json"
    assert json.loads(path.read_text(encoding="utf-8")) == asked.ok("plan", "show", path, "-f", "json").json


def test_yaml_has_the_same(asked: CommandLine) -> None:
    import yaml

    form = asked.ok("plugins", "matrix", asked.engine.parent / "other", "-f", "yaml").out
    assert yaml.safe_load(form) == asked.ok("plugins", "matrix", asked.engine.parent / "other", "-f", "json").json


def test_the_schema_refuses_other_documents(asked: CommandLine) -> None:
    answer = asked.ok("graph", "blame", "keystone", *ENV, "-f", "json").json
    validator = Draft202012Validator(SCHEMA)
    assert not validator.is_valid({**answer, "format_version": 2})
    assert not validator.is_valid({**answer, "definitions": []})
    assert not validator.is_valid({key: value for key, value in answer.items() if key != "env"})
