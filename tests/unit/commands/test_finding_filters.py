"""Choosing findings by code, and the severity that fails."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import CommandLine
from package_trees import write_package

TASKS = [
    {"id": "a", "type": "shell", "roles": ["controller"], "parameters": {"cmd": "true"}},
    {"id": "b", "type": "shell", "version": "2.0.0", "parameters": {"cmd": "true"}},
]
GRAPH = "- {id: a, type: shell, version: 2.0.0, roles: ['*', x], requires: [a], parameters: {cmd: 'true'}}\n"


@pytest.fixture
def package(tmp_path: Path) -> str:
    """A package with an error (P012), a warning (P050) and a notice (P011)."""
    return write_package(tmp_path / "p", package_version="5.0.0", files={"deployment_tasks.yaml": TASKS})


@pytest.mark.parametrize(
    ("arguments", "codes", "code"),
    [
        ((), ["P012", "P050", "P011"], 7),
        (("--ignore", "P012"), ["P050", "P011"], 0),
        (("--ignore", "p01"), ["P050"], 0),
        (("--ignore", "P01", "--fail-on", "warning"), ["P050"], 7),
        (("--ignore", "P012", "--strict"), ["P050", "P011"], 7),
        (("--select", "P011,P050"), ["P050", "P011"], 0),
        (("--select", "P011", "--select", "G", "--fail-on", "info"), ["P011"], 7),
        (("--select", "N001,P050"), ["P050"], 0),
        (("--fail-on", "never"), ["P012", "P050", "P011"], 0),
    ],
)
def test_findings_of_a_package(
    fuel2: CommandLine, package: str, arguments: tuple[str, ...], codes: list[str], code: int
) -> None:
    done = fuel2("plugins", "check", package, *arguments, "-f", "value", "-c", "code")
    assert (done.out.split(), done.code) == (codes, code)


def test_findings_of_a_graph(fuel2: CommandLine) -> None:
    command = ("graph", "validate", "--file", "-", "-f", "value", "-c", "code")
    done = fuel2(*command, "--fail-on", "warning", stdin=GRAPH)
    assert (sorted(done.out.split()), done.code) == (["G014", "G023"], 7)
    done = fuel2(*command, "--fail-on", "warning", "--ignore", "G014,G023", stdin=GRAPH)
    assert (done.out.split(), done.code) == ([], 0)


@pytest.mark.parametrize("stated", ["controler", "", "P0123", "P01,,P02"])
def test_what_is_no_code_is_refused(fuel2: CommandLine, package: str, stated: str) -> None:
    done = fuel2("plugins", "check", package, "--ignore", stated)
    assert (done.code, "--ignore" in done.err) == (2, True)
