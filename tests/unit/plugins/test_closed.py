"""Packages that cannot be read, files instead of directories, and directories that cannot be written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from command_line import CommandLine
from package_trees import write_package

NOBODY = 65534


@pytest.fixture
def ours() -> Iterator[Path]:
    """A directory with a package, seen by a user who is not root; closed directories are open again in the end.

    All modules are loaded by then: that user may not be allowed to read those of this Python.
    """
    with TemporaryDirectory(prefix="fuel2-test-") as name:
        directory = Path(name)
        write_package(directory / "pack", "pack", "1.0.0")
        warm = CommandLine(directory / "warm.db")
        for verb in ("check", "install"):
            warm.ok("plugins", verb, directory / "pack")
        built = warm.ok("plugins", "build", directory / "pack", "--output", directory).out.strip()
        warm.ok("plugins", "check", built)
        user = os.geteuid()
        if user == 0:
            for path in (directory, *directory.rglob("*")):
                os.chown(path, NOBODY, NOBODY)
            os.seteuid(NOBODY)
        try:
            yield directory
        finally:
            os.seteuid(user)
            for path in directory.iterdir():
                path.chmod(0o755)


@pytest.mark.parametrize("mode", [0o000, 0o444])
@pytest.mark.parametrize("verb", ["check", "build", "install"])
def test_a_package_that_may_not_be_read(ours: Path, verb: str, mode: int) -> None:
    (ours / "pack").chmod(mode)

    done = CommandLine(ours / "engine.db")("plugins", verb, ours / "pack")

    assert (done.code, done.out) == (3, "")
    told = done.err.splitlines()[-1]
    assert told.startswith(
        f"Package directory {ours / 'pack'} cannot be read: " if verb != "install" else f"{ours / 'pack'}"
    )
    assert "permission denied" in told


def test_an_archive_that_may_not_be_read(ours: Path) -> None:
    (ours / "plain").write_text("x")
    (ours / "plain").chmod(0)

    done = CommandLine(ours / "engine.db")("plugins", "install", ours / "plain")

    assert done.code == 3
    assert f"{ours / 'plain'} cannot be read: permission denied." in done.err


def test_a_package_that_is_written_where_nobody_may(ours: Path) -> None:
    (ours / "shut").mkdir(mode=0o555)

    done = CommandLine(ours / "engine.db")("plugins", "build", ours / "pack", "--output", ours / "shut")

    assert done.code == 3
    assert f"{ours}/shut/pack-1.0-1.0.0-1.noarch.rpm cannot be written: permission denied." in done.err


def test_files_are_no_directories(ours: Path) -> None:
    fuel2 = CommandLine(ours / "engine.db")
    (ours / "file").touch()

    source = fuel2("plugins", "build", ours / "file")
    target = fuel2("plugins", "build", ours / "pack", "--output", ours / "file")

    assert (source.code, target.code) == (2, 2)
    assert f"{ours / 'file'} is not a directory." in source.err
    assert f"{ours / 'file'} is a file. Name the directory" in target.err
    assert fuel2("plugins", "build", ours / "none").code == 5
