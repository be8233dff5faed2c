"""Engine files that belong to somebody else: they can be read, and stay as they are."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from processes import start
from refusals import refused

from fuelclient.errors import Unavailable
from fuelclient.model.release import Release
from fuelclient.store import access
from fuelclient.store.database import Connection, Database
from fuelclient.store.inventory import releases

COLLEAGUE = """
    import contextlib, io, os, pwd, shutil, sys, tempfile, urllib.parse
    from fuelclient.main import main
    engine, *words = sys.argv[1:]
    with tempfile.TemporaryDirectory() as own, contextlib.redirect_stdout(None), contextlib.redirect_stderr(None):
        if os.path.isfile(engine):
            shutil.copy(engine, f"{own}/engine.db")
        main(["--engine", f"{own}/engine.db", *words])  # so that all modules are there: nobody may read Python's files
    nobody = pwd.getpwnam("nobody")
    os.setgroups([])
    os.setgid(nobody.pw_gid)
    os.setuid(nobody.pw_uid)
    sys.exit(main(["--engine", engine, *words]))
"""


def as_colleague(engine: Path, *words: object) -> tuple[int, str]:
    """The exit code of a command line that another user runs on `engine`, and what it said."""
    if os.geteuid():
        pytest.skip("only root can become another user")
    process = start(COLLEAGUE, engine, *words)
    said = "".join(process.communicate(timeout=60))
    return process.returncode, said


def contents(directory: Path) -> dict[str, bytes]:
    return {item.name: item.read_bytes() for item in directory.iterdir()}


@pytest.fixture
def shared() -> Iterator[Path]:
    """An engine file that everybody may read, in a directory that everybody may look into."""
    with tempfile.TemporaryDirectory(prefix="fuel2-shared-") as directory:
        Path(directory).chmod(0o755)
        path = Path(directory) / "engine.db"
        with closing(Database(str(path))) as database, database.write() as connection:
            releases.insert(connection, Release(0, "Newton", "newton-10.0"))
        path.chmod(0o644)
        yield path


@pytest.mark.parametrize("mode", [0o755, 0o1777])
def test_a_colleague_reads_and_leaves_nothing_behind(shared: Path, mode: int) -> None:
    shared.parent.chmod(mode)
    before = contents(shared.parent)
    for noun in ("release", "plugins", "node"):
        code, said = as_colleague(shared, noun, "list")
        assert code == 0, said
        assert ("Newton" in said) == (noun == "release")
    assert contents(shared.parent) == before


def test_a_colleague_sees_what_the_owner_has_not_closed_yet(shared: Path) -> None:
    with closing(Database(str(shared))) as database:
        with database.write() as connection:
            releases.insert(connection, Release(0, "Mitaka", "mitaka-9.0"))
        code, said = as_colleague(shared, "release", "list")
    assert (code, "Mitaka" in said, "Newton" in said) == (0, True, True), said


@pytest.mark.parametrize("mode", [0o755, 0o1777])
@pytest.mark.parametrize("is_open", [False, True])
def test_a_colleague_is_told_that_nothing_can_be_written(shared: Path, mode: int, is_open: bool) -> None:
    shared.parent.chmod(mode)
    with closing(Database(str(shared))) as database:
        if is_open:
            with database.read() as connection:
                releases.every(connection)
        before = shared.read_bytes()
        for words in (("env", "create", "mine", "--release", 1), ("plugins", "sync")):
            code, said = as_colleague(shared, *words)
            assert (code, "is read-only for you" in said) == (3, True), said
        assert shared.read_bytes() == before


def test_colleague_with_old_version_is_told_who_can_upgrade(shared: Path) -> None:
    with closing(Database(str(shared))) as database, database.write() as connection:
        connection.execute("PRAGMA user_version = 1")
    code, said = as_colleague(shared, "release", "list")
    assert code == 3
    assert "has to be upgraded" in said


def test_a_file_that_changes_while_it_is_read_is_told(shared: Path) -> None:
    def read() -> None:
        with access.unchanging(str(shared), Connection) as connection:
            assert [item.name for item in releases.every(connection)] == ["Newton"]
            with closing(Database(str(shared))) as database, database.write() as other:
                releases.insert(other, Release(0, "Mitaka", "mitaka-9.0"))

    with refused(Unavailable, shared, "changed"):
        read()
