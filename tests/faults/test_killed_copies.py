"""`engine backup|restore|export|import|compact` and `demo`, killed before system calls that change files.

What each of them writes is there as a whole or not at all, what it reads stays as it is, and given again it does all of
its work and leaves no more files than it does when nobody disturbs it. The quick tests sample the calls; the slow ones
take as many of each command as `FAULTS` says, at most all.
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from command_line import CommandLine, fuel2, tiny_engine
from package_trees import MITAKA, write_package
from system_calls import KILLED, Call, calls, killed_at

pytestmark = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")

SEED = int(os.environ.get("FAULTS_SEED", "20261123"))
KILLS = int(os.environ.get("FAULTS", "0"))
VOLATILE = ("generated", "settings", "uuid", "origin", "directory", "metadata", "package")
"""Columns that differ between two executions of `demo`: generated passwords, and where packages are."""


@dataclass(frozen=True)
class Case:
    """A command on the engine file of a directory, and the file that it writes there. Words with a dot are files."""

    engine: str
    line: str
    writes: str
    is_repeatable: bool = True

    def words(self, directory: Path) -> list[str]:
        return [str(directory / word) if "." in word else word for word in self.line.split()]


CASES = {
    "backup": Case("engine.db", "engine backup new.db --force", "new.db"),
    "backup over another": Case("engine.db", "engine backup backup.db --force", "backup.db"),
    "restore": Case("engine.db", "engine restore backup.db --force", "engine.db"),
    "restore where nothing is": Case("new.db", "engine restore backup.db", "new.db"),
    "export": Case("engine.db", "engine export --file new.json --force", "new.json"),
    "import": Case("new.db", "engine import export.json", "new.db", is_repeatable=False),
    "compact": Case("engine.db", "engine compact", "engine.db"),
    "demo": Case("engine.db", "demo", "engine.db"),
    "demo where nothing is": Case("new.db", "demo", "new.db"),
}


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with an engine file, an earlier backup of it, and an export of that."""
    directory = tmp_path_factory.mktemp("copies") / "origin"
    directory.mkdir()
    tiny = tiny_engine(directory)
    write_package(directory.with_name("package"), "keeper", releases=[{**MITAKA, "version": "tiny-1.0"}])
    tiny.ok("plugins", "install", directory.with_name("package"))
    tiny.ok("engine", "backup", directory / "backup.db")
    CommandLine(directory / "backup.db").ok("engine", "export", "--file", directory / "export.json")
    tiny.ok("env", "update", 1, "--name", "later")
    return directory


def fresh(origin: Path, name: str) -> Path:
    target = origin.with_name(name)
    shutil.rmtree(target, ignore_errors=True)
    return Path(shutil.copytree(origin, target, symlinks=True))


def content(path: Path) -> object:
    """Return what a file holds: of an engine file, which must be sound, its rows without what differs each time. None
    if it holds nothing."""
    if not path.exists() or not path.stat().st_size:
        return None
    if path.suffix == ".json":
        return path.read_bytes()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        found = {table: rows(connection, table) for table in sorted(tables) if not table.startswith("sqlite_")}
        return found if any(found.values()) else None


def rows(connection: sqlite3.Connection, table: str) -> list[str]:
    found = connection.execute(f'SELECT * FROM "{table}"')  # noqa: S608 (a name of our own)
    kept = [index for index, (name, *_) in enumerate(found.description) if name not in VOLATILE]
    return sorted(repr([row[index] for index in kept]) for row in found)


def listed(directory: Path) -> set[str]:
    """Return the names in a directory, without what SQLite, locks and restores leave."""
    names = {path.name for path in directory.iterdir()}
    return {name for name in names if not name.endswith(("-wal", "-shm", ".lock")) and ".before-restore" not in name}


@dataclass(frozen=True)
class Known:
    """What each file holds before and after a command that nobody disturbs, its calls, and the names it leaves."""

    before: dict[str, object]
    after: dict[str, object]
    calls: list[Call]
    names: set[str]


FILES = ("engine.db", "backup.db", "export.json", "new.db", "new.json")


@pytest.fixture(scope="module")
def known(origin: Path) -> Callable[[str], Known]:
    @cache
    def find(name: str) -> Known:
        directory, case = fresh(origin, "known"), CASES[name]
        before = {file: content(directory / file) for file in FILES}
        found = calls(directory / case.engine, *case.words(directory))
        after = {file: content(directory / file) for file in FILES}
        return Known(before, after, found, listed(directory))

    return find


def check_killed(origin: Path, known: Known, case: Case, call: Call) -> None:
    directory = fresh(origin, "killed")
    ended = killed_at(call, directory / case.engine, *case.words(directory))
    assert ended.code == KILLED, ended
    found = {file: content(directory / file) for file in FILES}
    assert found[case.writes] in (known.before[case.writes], known.after[case.writes])
    assert {**found, case.writes: None} == {**known.before, case.writes: None}, "what it reads stays"

    again = fuel2("--engine", directory / case.engine, *case.words(directory))
    is_done = found[case.writes] == known.after[case.writes] and not case.is_repeatable
    assert again.code == 0 or is_done, again
    assert {file: content(directory / file) for file in FILES} == known.after
    assert listed(directory) <= known.names
    for kept in directory.glob("*.before-restore*"):
        assert kept.suffix.endswith(("-wal", "-shm")) or content(kept) is not None


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_killed_command_on_whole_files_does_all_or_nothing(
    origin: Path, known: Callable[[str], Known], name: str
) -> None:
    chance = random.Random(f"{SEED} {name}")  # noqa: S311
    check_killed(origin, known(name), CASES[name], chance.choice(known(name).calls))


@pytest.mark.slow
def test_import_killed_near_its_end_leaves_nothing_for_good(origin: Path, known: Callable[[str], Known]) -> None:
    found = known("import")
    last = [call for call in found.calls if call.name == "unlink"][-3:]
    for call in last:
        check_killed(origin, found, CASES["import"], call)
    assert len(last) == 3


@pytest.mark.slow
@pytest.mark.skipif(not KILLS, reason="FAULTS does not say how many; make test-faults does")
@pytest.mark.parametrize("name", CASES)
def test_many_kills(origin: Path, known: Callable[[str], Known], name: str) -> None:
    chance, found = random.Random(f"{SEED} {name}"), known(name)  # noqa: S311
    for call in chance.sample(found.calls, min(KILLS, len(found.calls))):
        try:
            check_killed(origin, found, CASES[name], call)
        except BaseException as error:
            error.add_note(f"FAULTS_SEED={SEED}: {name} before {call}")
            raise
