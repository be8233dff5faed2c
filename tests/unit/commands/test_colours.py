"""Colours on a terminal: severity, layers, changed rows, status; none in pipes, and none if the user wants none."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

from command_line import CommandLine
from pty_session import session

from fuelclient.commands.formatters import coloured_table

ROOT = Path(__file__).resolve().parents[3]
CODES = re.compile(r"\x1b\[[0-9;]*m")


def on_terminal(engine: Path, *arguments: str, **environ: str) -> str:
    """Return all that a command prints on a terminal, with its control sequences."""
    with session(engine, *arguments, width=200, environ={"TERM": "xterm", **environ}) as shown:
        shown.ended()
        return shown.received.replace("\r\n", "\n")


def test_a_terminal_shows_layers_and_changed_rows_in_colour(tiny: CommandLine) -> None:
    shown = on_terminal(tiny.engine, "graph", "preview", "--env", "prod")
    [changed] = [line for line in shown.splitlines() if "| release " in CODES.sub("", line) and "keystone" in line]
    [fresh] = [line for line in shown.splitlines() if "banner" in line]
    assert "\x1b[33mkeystone" in changed
    assert "\x1b[33mcluster" in fresh
    assert not CODES.search(next(line for line in shown.splitlines() if "netconfig" in line))


def test_status_and_severity_have_colours(tiny: CommandLine) -> None:
    fails = on_terminal(tiny.engine, "graph", "simulate", "--env", "prod", "--fail", "netconfig/node-2")
    assert re.search(r"\x1b\[31merror +\x1b\[0m", fails)
    assert re.search(r"\x1b\[31mNode 9 does not exist", on_terminal(tiny.engine, "node", "show", "9"))


def test_a_terminal_without_colours_shows_the_same_text(tiny: CommandLine) -> None:
    coloured = on_terminal(tiny.engine, "graph", "preview", "--env", "prod")
    for options, environ in ((("--color", "never"), {}), ((), {"NO_COLOR": "1"}), ((), {"TERM": "dumb"})):
        plain = on_terminal(tiny.engine, "graph", "preview", "--env", "prod", *options, **environ)
        assert not CODES.search(plain), (options, environ)
        assert CODES.sub("", coloured) == plain, (options, environ)


def test_pipes_get_colours_only_if_they_are_asked_for(tiny: CommandLine) -> None:
    line = ("graph", "preview", "--env", "prod")
    plain, asked = tiny.ok(*line), tiny.ok("--color", "always", *line)
    assert not CODES.search(plain.out + plain.err)
    assert CODES.search(asked.out)
    assert CODES.sub("", asked.out) == plain.out
    assert tiny.ok("--color", "always", *line, "-f", "json").out == tiny.ok(*line, "-f", "json").out
    refused = tiny("--color", "always", "env", "show", "nothing")
    assert refused.err.startswith("\x1b[31m")


def test_colours_do_not_change_the_layout_of_any_table() -> None:
    for text in (
        "",
        "no table",
        "+---+\n| a |\n+---+\n+---+",
        "+--------+-------+\n| Field  | Value |\n+--------+-------+\n| status | error |\n| name   | error |",
        "+--------+\n| status |\n+--------+\n| 日本   |\n| ready  |\n+--------+",
    ):
        assert CODES.sub("", coloured_table(text)) == text
    shown = coloured_table(
        "+--------+-------+\n| Field  | Value |\n+--------+-------+\n| status | error |\n| name   | error |"
    )
    assert shown.count("\x1b[31merror\x1b[0m") == 1


def test_the_first_picture_is_what_the_program_prints() -> None:
    spec = importlib.util.spec_from_file_location("picture", ROOT / "docs" / "picture.py")
    assert spec is not None
    assert spec.loader is not None
    picture = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(picture)
    assert picture.drawn() == picture.PICTURE.read_text(encoding="utf-8"), "`make renew` draws it anew"
