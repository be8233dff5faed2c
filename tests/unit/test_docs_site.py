"""The pages of docs/ build as HTML without a warning, with the search and every page of the table of contents."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.slow
def test_the_site_builds_without_warnings(tmp_path: Path) -> None:
    if not (find_spec("sphinx") and find_spec("myst_parser")):
        pytest.skip("the site needs the extra [docs]")
    site = tmp_path / "site"
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "-d", str(tmp_path / "trees")]
    done = subprocess.run([*command, str(DOCS), str(site)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "graph preview" in (site / "cli.html").read_text(encoding="utf-8")
    assert {"search.html", "searchindex.js"} <= {path.name for path in site.iterdir()}
    pages = {path.stem for path in DOCS.glob("*.md")}
    assert pages <= {path.stem for path in site.glob("*.html")}
