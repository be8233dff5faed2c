"""What a command writes to a file may hold passwords of tasks, facts or settings: only its owner can read it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import CommandLine

WRITERS = [
    ("graph", "download", "--env", 1, "--all", "--file", "FILE.yaml"),
    ("graph", "download", "--env", 1, "--cluster"),
    ("graph", "render", "--env", 1, "--output", "FILE.html"),
    ("graph", "render", "--env", 1, "--output", "FILE.dot"),
    ("env", "settings", "download", 1),
    ("env", "network", "download", 1, "--file", "FILE.json"),
    ("env", "deployment-facts", "get-default", "--env", 1, "--force", "--dir", "."),
    ("env", "deployment-facts", "download", "--env", 1, "--force", "--dir", "."),
    ("role", "download", "--release", 1, "--name", "compute"),
    ("plan", "create", "FILE.json", "--env", 1, "--noop"),
    ("engine", "export", "--file", "FILE.json"),
    ("task", "settings", "download", 1, "--file", "FILE.yaml"),
    ("task", "deployment-info", "download", 1, "--file", "FILE.yaml"),
    ("task", "gantt", 1, "--output", "FILE.json"),
]


@pytest.fixture
def here(tiny: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[CommandLine]:
    """The tiny engine with facts and a run that has ended, in a directory of its own with the usual umask."""
    tiny.ok("env", "deployment-facts", "get-default", "--env", 1, "--force", "--dir", tmp_path)
    tiny.ok("env", "deployment-facts", "upload", "--env", 1, "--dir", tmp_path)
    tiny.ok("graph", "execute", "--env", 1, "--noop", "--wait", "--executor", "noop")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    mask = os.umask(0o022)
    yield tiny
    os.umask(mask)


def modes() -> dict[str, int]:
    return {str(path): stat.S_IMODE(path.stat().st_mode) for path in Path().rglob("*") if path.is_file()}


def test_new_file_is_private_and_old_file_keeps_its_mode(here: CommandLine) -> None:
    for words in WRITERS:
        before = modes()
        here.ok(*words)
        made = modes().keys() - before.keys()
        assert made, words
        assert {modes()[name] for name in made} == {0o600}, words

        for name in made:
            Path(name).write_text("old", encoding="utf-8")
            Path(name).chmod(0o644)
        here.ok(*words, *(() if "--force" in words else ("--force",)))
        assert {Path(name).read_text(encoding="utf-8") for name in made}.isdisjoint({"old"}), words
        assert {modes()[name] for name in made} == {0o644}, words
        for name in made:
            Path(name).unlink()
