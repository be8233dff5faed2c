"""The bytes of lists and objects in every format: people paste them, and scripts cut them up.

`make renew` writes them anew; look at the difference before you commit it.
"""

from __future__ import annotations

import argparse
import io
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import CommandLine

from fuelclient.commands import formatters

Compare = Callable[[str, str, str], None]
HERE = Path(__file__).parent
FORMATS = ("csv", "github", "html", "json", "rst", "table", "value", "yaml")


@pytest.fixture
def compare(renew: bool) -> Compare:
    """Compare what was printed with the golden file of that name and format."""

    def check(printed: str, name: str, form: str) -> None:
        golden = HERE / name / f"{form}.txt"
        if renew:
            golden.parent.mkdir(exist_ok=True)
            golden.write_text(printed, encoding="utf-8")
        assert printed == golden.read_text(encoding="utf-8")

    return check


@pytest.mark.parametrize("form", FORMATS)
def test_bytes_of_graph_list(tiny: CommandLine, form: str, compare: Compare) -> None:
    compare(tiny.ok("graph", "list", "--env", 1, "-f", form).out, "graph_list", form)


@pytest.mark.parametrize("form", [*FORMATS[1:], "shell"])
def test_bytes_of_env_show(tiny: CommandLine, form: str, compare: Compare) -> None:
    compare(tiny.ok("env", "show", 1, "-f", form).out, "env_show", form)


@pytest.fixture
def plugged(tiny: CommandLine, tmp_path: Path) -> CommandLine:
    """The same with one plugin, and a release that it extends."""
    tiny.ok("plugins", "create", tmp_path / "own", "--multi-release")
    tiny.ok("plugins", "install", tmp_path / "own")
    tiny.ok("release", "create", "Newton", "--version", "newton-10.0", "--operating-system", "Ubuntu")
    return tiny


@pytest.mark.parametrize("form", FORMATS)
def test_bytes_of_plugins_list(plugged: CommandLine, form: str, compare: Compare) -> None:
    compare(plugged.ok("plugins", "list", "-f", form).out, "plugins_list", form)


@pytest.mark.parametrize("form", [*FORMATS[1:], "shell"])
def test_bytes_of_plugins_show(plugged: CommandLine, form: str, compare: Compare) -> None:
    compare(plugged.ok("plugins", "show", "own", "-f", form).out, "plugins_show", form)


@pytest.mark.parametrize("form", [*FORMATS[1:], "shell"])
def test_bytes_of_what_a_plugin_brings_a_release(plugged: CommandLine, form: str, compare: Compare) -> None:
    compare(plugged.ok("plugins", "show", "own", "--release", 2, "-f", form).out, "plugins_show_release", form)


def test_a_bar_does_not_end_a_cell_of_markdown(tiny: CommandLine) -> None:
    tiny.ok("env", "create", "a|b", "--release", 1)
    printed = tiny.ok("env", "list", "-f", "markdown").out.splitlines()[-1]
    assert tiny.ok("env", "list", "-f", "github").out.splitlines()[-1] == printed
    assert "a\\|b" in printed
    assert printed.count("|") == printed.count("\\|") + 5


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ("=1+1", "'=1+1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("+1", "'+1"),
        ("-cmd", "'-cmd"),
        ("\n=cmd()", "'=cmd()"),
        ("-1.5", "-1.5"),
        ("-", "-"),
        (-1, "-1"),
    ],
)
def test_a_cell_of_csv_is_no_formula(cell: object, shown: str) -> None:
    stream = io.StringIO()
    csv = formatters.Csv()
    options = argparse.Namespace(quote_mode="minimal")
    csv.emit_list(["name"], [[cell]], stream, options)
    assert stream.getvalue().splitlines()[1].strip('"') == shown
