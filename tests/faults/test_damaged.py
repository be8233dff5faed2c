"""Damaged engine files, packages and documents: one error that says so, and its exit code."""

from __future__ import annotations

import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from command_line import CommandLine
from corpus import corpus

from fuelclient.errors import FuelError
from fuelclient.files.json_text import parse as parse_json
from fuelclient.files.yaml_text import parse as parse_yaml
from fuelclient.graph.validate import check_document
from fuelclient.model.finding import MOST_FINDINGS
from fuelclient.plan.fleet import assumed_nodes
from fuelclient.plugins.archive.limits import Unusable
from fuelclient.plugins.archive.rpm import read_headers, scripts_of
from fuelclient.redact import masked_text
from fuelclient.serializers.graph import document_from

PAGE = 4096


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("engine") / "engine.db"
    CommandLine(path).ok("demo")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path


@pytest.mark.parametrize("seed", [*range(12), 23, 39])
def test_a_damaged_engine_file_is_called_so(engine: Path, tmp_path: Path, seed: int) -> None:
    content = bytearray(engine.read_bytes())
    chance = random.Random(seed)  # noqa: S311 - the same damage each time is the point
    start = max(100, chance.randrange(len(content) // PAGE) * PAGE)
    for _ in range(20):
        content[start + chance.randrange(PAGE - 100)] = chance.randrange(256)
    commands: list[list[object]] = [["graph", "list", "--env", 1], ["graph", "preview", "--env", 1], ["env", "list"]]
    for number, command in enumerate(commands):
        path = tmp_path / f"{number}.db"
        path.write_bytes(content)
        done = CommandLine(path)(*command)
        assert done.code != 1, done.err
        assert "unexpected" not in done.err


def test_text_that_is_no_text_and_rows_that_are_gone_are_damage(engine: Path, tmp_path: Path) -> None:
    path = tmp_path / "engine.db"
    shutil.copy(engine, path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE clusters SET name = CAST(x'ff41' AS TEXT)")
        connection.commit()
    done = CommandLine(path)("env", "list")
    assert (done.code, "is damaged" in done.err) == (3, True), done


@pytest.mark.corpus
def test_each_hostile_file_ends_in_one_error_or_none() -> None:
    messages = []
    for path in sorted(corpus("odd", "hostile").iterdir()):
        try:
            with path.open("rb") as source:
                scripts_of(read_headers(source))
        except Unusable as error:
            messages.append(str(error))
        masked_text(path.read_bytes().decode(errors="replace"))
        masked_text(path.read_bytes().decode("latin-1"))
    assert len(messages) >= 4
    assert all("damaged" in message or "not an .rpm" in message for message in messages), messages


def test_a_million_findings_are_not_collected() -> None:
    listed = check_document(document_from(parse_yaml("- a\n" * (MOST_FINDINGS + 20), "x"), owner_label=""), None, None)
    assert len(listed) == MOST_FINDINGS + 1
    assert listed[-1].code == "G018"
    for parse, line in ((parse_yaml, "a: 1\n"), (parse_json, "")):
        text = line * (MOST_FINDINGS + 20) or "{" + ", ".join(['"a": 1'] * (MOST_FINDINGS + 20)) + "}"
        with pytest.raises(FuelError, match="stated twice"):
            parse(text, "x")


def test_an_assumption_is_printable() -> None:
    from building import snapshot

    with pytest.raises(FuelError, match="cannot be printed"):
        assumed_nodes("controller=1,\x1b[31m\ncompute=2", snapshot([]))
