"""Commands that write, killed before each system call that changes a file, and refused the disk from one on.

Afterwards the engine file is whole and holds what it held before or what the command makes of it, and the command can
be given again. The quick tests sample the calls of each command; `make test-faults` takes as many calls of all commands
together as `FAULTS` says, drawn with the seed `FAULTS_SEED`.
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from command_line import GRAPH, RELEASE, fuel2, tiny_engine
from package_trees import MITAKA, WATCHER, write_package
from system_calls import KILLED, Call, calls, killed_at, refused_from

from fuelclient.commands.exits import Exit

pytestmark = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")

SEED = int(os.environ.get("FAULTS_SEED", "20261122"))
KILLS = int(os.environ.get("FAULTS", "0"))
PARTS = 20
"""Into how many tests these are divided, so that they run beside each other."""

SAMPLE = 1
"""At how many calls the quick tests kill a command."""

VOLATILE = {"directory", "generated", "origin", "uuid", "request", "time_start", "time_end", "nodes", "findings"}
"""Columns that differ between two executions of one command: secrets, times, and the names of directories."""

COMMANDS = {
    "graph upload": "graph upload --env 1 --type fix --file GRAPH",
    "graph replaced": "graph upload --release 1 --type default --file GRAPH --yes",
    "graph delete": "graph delete --env 1 --type default --yes",
    "release import": "release import RELEASES",
    "env create": "env create test --release 1",
    "env delete": "env delete 1 --force --yes",
    "node create": "node create node-3 --env 1 --roles compute",
    "node delete": "node delete node-2 --force --yes",
    "sequence create": "sequence create --release 1 --name all --graph-types default",
    "role delete": "role delete --release 1 --name storage --yes",
    "plugins install": "plugins install PACKAGE",
    "plugins install --force": "plugins install INSTALLED --force",
    "plugins remove": "plugins remove keeper 1.2.3 --yes",
    "plugins enable": "plugins enable keeper --env 1",
}

DONE = (Exit.NOT_FOUND, Exit.CONFLICT)
"""The exit codes of a command that finds done what it is to do."""

OUTPUT = {"write"}
"""The system calls that also print."""

REFUSALS = ("ENOSPC", "EROFS", "EIO")


@dataclass(frozen=True)
class Engines:
    """An engine as it is before each command, and the files that commands read."""

    directory: Path

    def line(self, command: str) -> list[str]:
        return [str(self.directory / word) if word.isupper() else word for word in COMMANDS[command].split()]

    def copy(self, name: str) -> Path:
        """A copy of the engine's directory, which is removed by whoever asked for it."""
        target = self.directory / name
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(self.directory / "engine", target, symlinks=True)
        return target / "engine.db"


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory) -> Engines:
    directory = tmp_path_factory.mktemp("engines")
    (directory / "engine").mkdir()
    tiny = tiny_engine(directory / "engine")
    tiny.ok(
        "role", "create", "--release", 1, "--name", "storage", "--file", "-", stdin="meta: {name: S, description: d}"
    )
    write_package(directory / "INSTALLED", "keeper", releases=[{**MITAKA, "version": "tiny-1.0"}])
    tiny.ok("plugins", "install", directory / "INSTALLED")
    write_package(directory / "PACKAGE", files=WATCHER)
    (directory / "GRAPH").write_text(GRAPH, encoding="utf-8")
    (directory / "RELEASES").write_text(RELEASE.replace("tiny-1.0", "tiny-2.0"), encoding="utf-8")
    return Engines(directory)


def contents(engine: Path) -> dict[str, list[str]]:
    """Check an engine file, and return its rows without what differs each time."""
    with closing(sqlite3.connect(engine)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {table: sorted(_rows(connection, table)) for table in tables if not table.startswith("sqlite_")}


def _rows(connection: sqlite3.Connection, table: str) -> Iterator[str]:
    rows = connection.execute(f'SELECT * FROM "{table}"')  # noqa: S608 (a name of our own)
    kept = [index for index, (name, *_) in enumerate(rows.description) if name not in VOLATILE]
    for row in rows:
        yield repr([row[index] for index in kept])


@dataclass(frozen=True)
class Known:
    """The contents before and after a command, and its calls that change files."""

    before: dict[str, list[str]]
    after: dict[str, list[str]]
    calls: list[Call]

    @property
    def to_refuse(self) -> list[Call]:
        return [call for call in self.calls if call.name not in OUTPUT]


@pytest.fixture(scope="module")
def known(engines: Engines) -> Callable[[str], Known]:
    @cache
    def find(command: str) -> Known:
        before = contents(engines.copy("known"))
        found = calls(engine := engines.copy("known"), *engines.line(command))
        return Known(before, contents(engine), found)

    return find


def check(engines: Engines, known: Known, command: str, engine: Path) -> None:
    """What there is after a fault is old or new, and the command can be given again, after which all is new."""
    found = contents(engine)
    assert found in (known.before, known.after)
    again = fuel2("--engine", engine, *engines.line(command))
    assert again.code == Exit.OK or (found == known.after and again.code in DONE), again
    assert fuel2("--engine", engine, "env", "list").code == Exit.OK
    if found == known.before:
        assert contents(engine) == known.after


def check_killed(engines: Engines, known: Known, command: str, call: Call) -> None:
    engine = engines.copy("killed")
    ended = killed_at(call, engine, *engines.line(command))
    assert ended.code == KILLED, ended
    check(engines, known, command, engine)


def check_refused(engines: Engines, known: Known, command: str, call: Call, refusal: str) -> None:
    engine = engines.copy("refused")
    ended = refused_from(call, refusal, engine, *engines.line(command))
    assert ended.code in (Exit.OK, Exit.UNAVAILABLE), (call, refusal, ended)
    check(engines, known, command, engine)


@pytest.mark.parametrize(
    "command", [pytest.param(name, marks=pytest.mark.slow if place % 7 else ()) for place, name in enumerate(COMMANDS)]
)
def test_command_killed_or_without_disk_does_all_or_nothing(
    engines: Engines, known: Callable[[str], Known], command: str
) -> None:
    facts = known(command)
    chance = random.Random(f"{SEED} {command}")  # noqa: S311
    for call in chance.sample(facts.calls, SAMPLE):
        check_killed(engines, facts, command, call)
    check_refused(engines, facts, command, chance.choice(facts.to_refuse), chance.choice(REFUSALS))


@pytest.mark.slow
@pytest.mark.skipif(not KILLS, reason="FAULTS does not say how many; make test-faults does")
@pytest.mark.parametrize("part", range(PARTS))
def test_many_kills_and_refusals(engines: Engines, known: Callable[[str], Known], part: int) -> None:
    chance = random.Random(f"{SEED} {part}")  # noqa: S311
    for number in range(KILLS // PARTS):
        command = chance.choice(list(COMMANDS))
        facts = known(command)
        call = chance.choice(facts.calls)
        try:
            if number % 4 == 0:
                call = chance.choice(facts.to_refuse)
                check_refused(engines, facts, command, call, chance.choice(REFUSALS))
            else:
                check_killed(engines, facts, command, call)
        except BaseException as error:
            error.add_note(f"FAULTS_SEED={SEED}, number {number} of part {part}: {command} before {call}")
            raise
