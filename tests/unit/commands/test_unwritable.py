"""Directories that may not be made, and places that may not be read: one sentence, and the code for it."""

from __future__ import annotations

import pytest
from command_line import CommandLine

DOWNLOADS = [
    ("env", "deployment-facts", "get-default", "--env", 1),
    ("env", "settings", "download", 1),
    ("node", "attributes-download", 1),
    ("role", "download", "--release", 1, "--name", "controller"),
    ("tag", "download", "--release", 1, "--name", "controller"),
]


@pytest.mark.parametrize("words", DOWNLOADS, ids=lambda words: " ".join(map(str, words[:2])))
def test_a_directory_that_cannot_be_made_is_told(tiny: CommandLine, words: tuple[object, ...]) -> None:
    done = tiny(*words, "--directory", "/proc")

    assert (done.code, done.out) == (3, "")
    assert done.err.splitlines()[-1].startswith("/proc/")
    assert " cannot be made: " in done.err
    assert "unexpected" not in done.err


def test_missing_environment_is_told_before_anything_else(fuel2: CommandLine) -> None:
    for more in ((), ("--dot",)):
        done = fuel2("graph", "simulate", "--env", "99999999999999999999999", *more)
        assert done.code == 5, done
        assert "Environment 99999999999999999999999 does not exist" in done.err
