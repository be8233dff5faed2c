"""The bytes of `graph list` in every format: people paste them, and scripts cut them up.

`UPDATE_GOLDEN=1` writes them anew; look at the difference before you commit it.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from command_line import CommandLine

HERE = Path(__file__).parent / "graph_list"
FORMATS = ("csv", "github", "html", "json", "rst", "table", "value", "yaml")


@pytest.mark.parametrize("form", FORMATS)
def test_bytes_of_graph_list(tiny: CommandLine, form: str) -> None:
    printed = tiny.ok("graph", "list", "--env", 1, "-f", form).out
    golden = HERE / f"{form}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(printed, encoding="utf-8")
    assert printed == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("form", [*FORMATS[1:], "shell"])
def test_bytes_of_env_show(tiny: CommandLine, form: str) -> None:
    printed = tiny.ok("env", "show", 1, "-f", form).out
    golden = HERE.parent / "env_show" / f"{form}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(printed, encoding="utf-8")
    assert printed == golden.read_text(encoding="utf-8")


def test_a_bar_does_not_end_a_cell_of_markdown(tiny: CommandLine) -> None:
    tiny.ok("env", "create", "a|b", "--release", 1)
    printed = tiny.ok("env", "list", "-f", "github").out.splitlines()[-1]
    assert "a\\|b" in printed
    assert printed.count("|") == printed.count("\\|") + 5
