"""What `engine restore`, `import` and `check` refuse: files that are empty, damaged, misshapen, or not writable."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from typing import Any

import pytest
from command_line import CommandLine
from executions import Executions


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("clusters", "settings", 5), ("clusters", "addresses", [1]), ("nodes", "roles", 5),
        ("nodes", "roles", {"a": 1}), ("nodes", "attributes", [1]), ("plugins", "metadata", [1]),
    ],
)  # fmt: skip
def test_wrong_documents_are_not_imported_and_found_by_check(
    env: Executions, table: str, column: str, value: Any
) -> None:
    engine, export = env.directory / "new.db", env.directory / "export.json"
    CommandLine(engine).ok("demo")
    CommandLine(engine).ok("engine", "export", "--file", export)
    data = json.loads(export.read_text("utf-8"))
    data["tables"][table][0][column] = value
    export.write_text(json.dumps(data), encoding="utf-8")

    refused = CommandLine(env.directory / "imported.db")("engine", "import", export)
    with closing(sqlite3.connect(engine)) as connection, connection:
        connection.execute(f"UPDATE {table} SET {column} = ?", (json.dumps(value),))  # noqa: S608 - our own names

    assert (refused.code, f"column {column} of row 1 of table {table}" in refused.err) == (7, True)
    assert not (env.directory / "imported.db").exists()
    assert f"column {column} of row 1 of table {table}" in CommandLine(engine)("engine", "check").out


def test_an_empty_file_is_no_backup(env: Executions) -> None:
    before, empty = env.engine.read_bytes(), env.directory / "empty.db"
    empty.touch()
    refused = CommandLine(env.engine)("engine", "restore", empty, "--force")
    assert (refused.code, f"{empty} is empty" in refused.err, env.engine.read_bytes()) == (3, True, before)


def test_a_damaged_schema_whose_names_are_not_text_is_damage(env: Executions) -> None:
    copy, damaged = env.directory / "copy.db", env.directory / "damaged.db"
    CommandLine(env.engine).ok("engine", "backup", copy)
    damaged.write_bytes(copy.read_bytes().replace(b"CREATE TABLE nodes", b'CREATE TABLE \xff\xfe\xff\xff"', 1))
    for words in (("engine", "check"), ("env", "list"), ("engine", "backup", env.directory / "x.db")):
        refused = CommandLine(damaged)(*words)
        assert refused.code in (3, 7), refused
        assert f"{damaged} is damaged" in refused.out + refused.err
    assert not (env.directory / "x.db").exists()
    CommandLine(damaged).ok("engine", "restore", copy)
    CommandLine(damaged).ok("engine", "check")


@pytest.mark.parametrize(
    ("name", "part", "words"),
    [
        ("pending_roles", "column pending_roles of table nodes", ("node", "list")),
        ("c.plugin_id", "view graph_owners", ("graph", "list")),
    ],
)
def test_a_damaged_name_in_the_schema_is_damage(env: Executions, name: str, part: str, words: tuple[str, ...]) -> None:
    with closing(sqlite3.connect(env.engine)) as connection, connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET sql = replace(sql, ?, ?)", (name, name.replace("_", "O")))
    checked = CommandLine(env.engine)("engine", "check")
    listed = CommandLine(env.engine)(*words)
    assert (checked.code, f"{part} is missing or damaged" in checked.out) == (7, True)
    assert (listed.code, f"{env.engine} is damaged" in listed.err) == (3, True)


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv is not installed")
def test_a_restore_that_cannot_be_written_leaves_nothing(env: Executions) -> None:
    copy, target = env.directory / "copy.db", env.directory / "own" / "engine.db"
    CommandLine(env.engine).ok("engine", "backup", copy)
    target.parent.mkdir()
    CommandLine(env.engine).ok("engine", "backup", target)
    before = set(target.parent.iterdir())
    for path, mode in ((target, 0o444), (target.parent, 0o555)):
        path.chmod(mode)
        plain = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search") if os.geteuid() == 0 else ()
        command = (*plain, sys.executable, "-m", "fuelclient.main", "--engine", target, "engine", "restore", copy)
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        path.chmod(0o755)
        assert (done.returncode, "read-only" in done.stderr, set(target.parent.iterdir())) == (3, True, before)
