"""A preview on a terminal: a row is a line, names stay whole, and what is not shown is said."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from command_line import CommandLine, Done

from fuelclient.commands.fitting import fit, shortened

ROLES = ("primary-controller", "controller", *(f"role-{number}" for number in range(8)))
NAME = "primary-openstack-network-agents-metadata"
WIDE = f"- {{id: {NAME}, type: shell, version: 2.0.0, roles: [{', '.join(ROLES)}], parameters: {{cmd: x}}}}\n"


@pytest.fixture
def wide(tiny: CommandLine) -> CommandLine:
    """The environment with a task of a long name and ten roles."""
    tiny.ok("graph", "upload", "--env", 1, "--type", "default", "--file", "-", stdin=WIDE)
    return tiny


def on_terminal(fuel2: CommandLine, width: int, *arguments: str) -> Done:
    """A preview whose stdout is a terminal of `width` columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    line = [sys.executable, "-m", "fuelclient.main", "--engine", str(fuel2.engine)]
    line += ["--color", "never", "graph", "preview", "--env", "1"]
    environ = dict(os.environ)  # without what readline adds behind Python's back
    with subprocess.Popen(
        [*line, *arguments], stdout=theirs, stderr=subprocess.PIPE, stdin=theirs, env=environ
    ) as running:
        os.close(theirs)
        shown = b""
        try:
            while part := os.read(ours, 65536):
                shown += part
        except OSError:  # Linux says so when the other end is closed
            pass
        assert running.stderr
        told = running.stderr.read().decode()
        code = running.wait()
    os.close(ours)
    return Done(code, shown.decode().replace("\r\n", "\n"), told)


def header(table: str) -> list[str]:
    return [cell.strip() for cell in table.splitlines()[1].strip("|").split("|")]


@pytest.mark.parametrize(
    ("width", "columns", "left_out"),
    [
        (80, "order task type nodes layer", "generation, roles (80 columns are too few); "),
        (100, "order task roles nodes layer", "generation, type (100 columns are too few); "),
        (120, "order generation task type roles nodes layer", ""),
        (200, "order generation task type roles nodes layer", ""),
    ],
)
def test_a_row_is_a_line(wide: CommandLine, width: int, columns: str, left_out: str | None) -> None:
    done = on_terminal(wide, width)
    assert done.code == 0
    lines = done.out.splitlines()
    assert max(map(len, lines)) <= width
    assert len(lines) == 4 + len(wide.ok("graph", "preview", "--env", 1, "-f", "json").json)
    assert header(done.out) == columns.split()
    assert f"| {NAME} " in done.out
    told = f"Not shown: {left_out}stage, priority, overrides (empty). --format json has everything.\n"
    assert done.err.endswith(told) if left_out is not None else "Not shown" not in done.err


def test_roles_are_shortened_on_a_terminal_only(wide: CommandLine) -> None:
    assert "| primary-controller, controller, +8 |" in on_terminal(wide, 130).out
    for form in ("table", "value", "csv", "github", "markdown"):
        printed = wide.ok("graph", "preview", "--env", 1, "-f", form).out
        assert ", ".join(ROLES) in printed
        assert "overrides" in printed or form == "value"
    assert ", ".join(ROLES) in on_terminal(wide, 80, "-f", "csv").out


def test_columns_that_are_asked_for_are_shown(wide: CommandLine) -> None:
    done = on_terminal(wide, 60, "-c", "task", "-c", "Roles", "-c", "overrides")
    assert header(done.out) == ["task", "roles", "overrides"]
    assert max(map(len, done.out.splitlines())) <= 60
    assert ", +9 |" in done.out
    assert "Not shown" not in done.err
    assert "Shortened: task" in done.err


def test_sorting_by_a_column_that_would_not_fit(wide: CommandLine) -> None:
    done = on_terminal(wide, 60, "--sort-column", "type", "--sort-descending")
    assert "type" in header(done.out)
    types = re.findall(r"\| (shell|puppet|group) ", done.out)
    assert types == sorted(types, reverse=True)


def test_an_empty_preview_has_its_columns(tiny: CommandLine) -> None:
    tiny.ok("graph", "delete", "--env", 1, "--type", "default")
    assert "task" in header(on_terminal(tiny, 200, "--only", "changed").out)


def test_every_column_has_a_rank() -> None:
    from fuelclient.commands.graph.preview import GraphPreview

    assert sorted(GraphPreview.by_weight) == sorted(GraphPreview.columns)


@pytest.mark.parametrize(("width", "expected"), [(0, "a, +2"), (5, "a, +2"), (7, "a, b, c"), (6, "a, +2")])
def test_shortened(width: int, expected: str) -> None:
    assert shortened(["a", "b", "c"], width) == expected
    assert shortened([], width) == ""
    assert shortened(["only"], width) == "only"


def test_what_cannot_fit_is_shortened_and_said() -> None:
    fitted = fit(("task", "nodes"), [(NAME, 3)], 40)
    assert fitted.rows == [("primary-openstack...-agents-metadata",)]
    assert (fitted.columns, fitted.too_wide, fitted.elided) == (("task",), ("nodes",), ("task",))


def test_computed_dependencies_are_counted(tiny: CommandLine, tmp_path: Path) -> None:
    def task(name: str) -> str:
        return (
            f"- {{id: {name}, type: shell, version: 2.0.0, roles: [compute], parameters: {{cmd: x, timeout: 1}},"
            " requires: {yaql_exp: '$.a'}}\n"
        )

    line = ("graph", "upload", "--env", 1, "--type", "default", "--file", "-")
    assert "computed" not in tiny.ok("graph", "preview", "--env", 1).err
    tiny.ok(*line, stdin=task("a"))
    told = "; 1 task has computed dependencies and may run later than shown.\n"
    assert told in tiny.ok("graph", "preview", "--env", 1).err
    tiny.ok(*line, stdin=task("a") + task("b"))
    told = "; 2 tasks have computed dependencies and may run later than shown.\n"
    assert told in tiny.ok("graph", "preview", "--env", 1).err
