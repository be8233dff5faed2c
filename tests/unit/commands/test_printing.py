"""What documents and machines say is shown on a terminal, and never obeyed by it."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from command_line import CommandLine, Terminal
from executions import executions, shell

from fuelclient.commands.formatters import Csv, Json, Table, Tabulated, Value
from fuelclient.commands.shell import FuelShell
from fuelclient.printing import printable, terminal_safe

NASTY = "a\x1b[2J\x9b1mb\u202ec"


class Shown(io.StringIO):
    """A terminal that keeps what it is shown."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("make", [Table, Value, Csv, lambda: Tabulated("github"), Json])
def test_no_listing_prints_what_a_terminal_obeys(make: type[Table]) -> None:
    import argparse

    out = io.StringIO()
    asked = argparse.Namespace(
        print_empty=True, max_width=0, fit_width=False, quote_mode="minimal", noindent=False
    )  # fmt: skip
    make().emit_list(("task",), [(NASTY,)], out, asked)
    told = out.getvalue()
    assert not {"\x1b", "\x9b"} & set(told), repr(told)
    assert "[2J" in told


def test_lines_of_a_cell_stay_lines_only_in_a_table(tmp_path: Path) -> None:
    lab = executions(tmp_path, nodes=1)
    lab.graph(shell("a", "echo x"))
    lab.run()
    history = ("task", "history", "show", 1, "--show-parameters")
    table = CommandLine(lab.engine).ok(*history).out
    assert [line.split("|")[2].strip() for line in table.splitlines() if "cmd:" in line] == ["cmd: echo x"]
    assert len(CommandLine(lab.engine).ok(*history, "-f", "value").out.splitlines()) == 1


def test_a_table_of_one_object_keeps_its_lines_only() -> None:
    import argparse

    out = io.StringIO()
    asked = argparse.Namespace(print_empty=True, max_width=0, fit_width=False)
    Table().emit_one(("message",), (f"one\n{NASTY}",), out, asked)
    assert "\x1b" not in out.getvalue()
    assert [line for line in out.getvalue().splitlines() if "one" in line or "[2J" in line][1].count("\\x1b[2J") == 1


def test_every_other_character_stays() -> None:
    text = "ünï cødé ✓ 網路 \\ 'x'"
    assert printable(text) == terminal_safe(text) == text


def test_a_colour_that_is_left_open_ends_with_the_output() -> None:
    assert terminal_safe("\x1b[31mred\n") == "\x1b[31mred\n\x1b[0m"
    assert terminal_safe("\x1b[31") == "\\x1b[31"


def test_logs_are_tamed_for_a_terminal_and_for_nothing_else(tmp_path: Path) -> None:
    env = executions(tmp_path)
    env.graph(shell("a", r"printf '\033[31mred\033[0m\t\033]0;title\007\033[2Jend\n'; printf '\033c' >&2"))
    found = env.run("default", node_ids=(1,))
    words = ["task", "logs", str(found.id), "a/1"]
    piped = CommandLine(env.engine).ok(*words)
    assert piped.out == "\x1b[31mred\x1b[0m\t\x1b]0;title\x07\x1b[2Jend\n"
    assert piped.err.startswith("\x1bc")

    out, err = Shown(), Shown()
    assert FuelShell(Terminal(""), out, err).run(["--engine", str(env.engine), *words]) == 0
    assert out.getvalue() == "\x1b[31mred\x1b[0m\t\\x1b]0;title\\x07\\x1b[2Jend\n\x1b[0m"
    assert err.getvalue().startswith("\\x1bc")


def test_upload_with_an_unprintable_id_changes_nothing(tmp_path: Path) -> None:
    env = executions(tmp_path)
    fuel2 = CommandLine(env.engine)
    document = '- {id: "bad\\x1b[2J", type: reboot, roles: ["*"]}\n'
    done = fuel2("graph", "upload", "--env", 1, "--type", "odd", "--file", "-", stdin=document)
    assert done.code == 7
    assert "G016" in done.err
    assert "bad\\x1b[2J" in done.err
    assert "\x1b" not in done.out + done.err
