"""What help looks like: what people need first, on one screen; a pager where there is a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import CommandLine, fuel2
from pty_session import session

from fuelclient.commands.parser import folded

PAGER = "sed s/^/PAGED:/"


def on_terminal(engine: Path, *words: str, **environ: str) -> str:
    with session(
        engine, *words, width=80, height=24, environ={"TERM": "xterm", "PAGER": PAGER, "NO_COLOR": "1", **environ}
    ) as shown:
        shown.ended()
        return shown.received


@pytest.mark.parametrize("line", ["help", "help graph", "graph preview --help", ""])
def test_help_that_is_longer_than_the_terminal_is_paged(tmp_path: Path, line: str) -> None:
    paged = on_terminal(tmp_path / "engine.db", *line.split())
    assert paged.startswith("PAGED:")
    assert paged.replace("\r\n", "\n").replace("PAGED:", "") == fuel2(*line.split()).out


@pytest.mark.parametrize(
    ("line", "environ"),
    [
        ("help role", {}),
        ("-q help", {}),
        ("-q graph preview --help", {}),
        ("help", {"TERM": "dumb"}),
        ("help", {"PAGER": "/nonexistent/pager"}),
    ],
)
def test_short_help_quiet_lines_and_dumb_terminals_get_no_pager(
    tmp_path: Path, line: str, environ: dict[str, str]
) -> None:
    shown = on_terminal(tmp_path / "engine.db", *line.split(), **environ)
    assert shown.replace("\r\n", "\n") == fuel2(*line.split()).out


def test_options_of_a_command_come_before_those_of_its_output(tiny: CommandLine) -> None:
    out = tiny.ok("graph", "preview", "--help").out
    parts = (
        "usage: ",
        "examples:",
        "\noptions:",
        "  -e, --env",
        "  -t, --type",
        "\noptions of the output:",
        "  -f, --format",
    )
    places = [out.index(part) for part in (*parts, "\nGlobal options")]
    assert places == sorted(places)
    assert "--help" not in out.partition("\noptions:")[2]


def test_a_usage_names_what_a_command_needs(tiny: CommandLine) -> None:
    usages = [
        tiny.ok("help", *name.split()).out.partition("usage: ")[2].partition("\n\n")[0]
        for name in (
            "graph preview",
            "graph upload",
            "env deploy",
        )
    ]
    assert usages == [
        "fuel2 graph preview [options] --env ID|NAME",
        "fuel2 graph upload [options] (--env ID|NAME | --release ID|NAME |\n"
        "    --plugin ID|NAME) (--file FILE | --dir DIR)",
        "fuel2 env deploy [options] ID|NAME",
    ]


def test_a_long_example_can_be_pasted(tmp_path: Path) -> None:
    line = "fuel2 graph query 'a b c, role:compute' --env 1 --explain"
    shown = folded(line, 36)
    assert shown == ["fuel2 graph query \\", "    'a b c, role:compute' --env 1 \\", "    --explain"]
    assert max(map(len, shown)) <= 36
