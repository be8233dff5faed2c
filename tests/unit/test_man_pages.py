"""The man pages in docs/man: a page for each noun, with every command, that `man` formats without a warning."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from fuelclient.commands.table import COMMANDS

PAGES = {path.stem: path for path in (Path(__file__).resolve().parents[2] / "docs/man").glob("*.1")}


def test_every_command_is_on_the_page_of_its_noun() -> None:
    nouns = {name.split()[0] for name in COMMANDS if " " in name}
    assert set(PAGES) == {"fuel2", *(f"fuel2-{noun}" for noun in nouns)}
    for name in COMMANDS:
        page = PAGES[f"fuel2-{name.split()[0]}" if " " in name else "fuel2"].read_text(encoding="utf-8")
        heading = name.upper().replace("-", "\\-")
        assert f'.SH "{heading}"\n' in page


@pytest.mark.parametrize("page", sorted(PAGES.values()), ids=lambda path: path.stem)
def test_man_formats_it_without_a_warning(page: Path) -> None:
    if not shutil.which("man"):
        pytest.skip("there is no man")
    line = ["man", "--warnings=all", "-E", "UTF-8", "-Tutf8", "-l", str(page)]
    environ = {**os.environ, "MANWIDTH": "80", "LC_ALL": "C.UTF-8", "GROFF_NO_SGR": "1"}
    done = subprocess.run(line, env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    said = subprocess.run(["col", "-bx"], input=done.stdout, capture_output=True, text=True, check=True).stdout
    assert f"NAME {page.stem} - " in " ".join(said.split())
    assert "\\fB" not in said
    assert max(map(len, said.splitlines())) <= 80
