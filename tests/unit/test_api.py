"""The API for other programs: its guide and its script run, its names stay, and it is imported when it is used."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest
from corpus import corpus

import fuelclient
from fuelclient import api
from fuelclient.errors import UsageError

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs/api.md").read_text(encoding="utf-8")

NAMES = [
    "DEFAULT_TYPE",
    "Backend",
    "Finding",
    "FuelError",
    "GraphDocument",
    "Inputs",
    "Level",
    "MergePolicy",
    "MergedGraph",
    "Node",
    "OwnerRef",
    "Plan",
    "Preview",
    "PreviewOptions",
    "PreviewRow",
    "Release",
    "RunRequest",
    "Severity",
    "Snapshot",
    "connect",
    "merge_layers",
    "planned",
    "plans",
    "preview",
    "read_graph",
    "read_releases",
    "simulated",
]
"""Names that are never removed."""


def test_the_guide_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    examples = "\n".join(re.findall(r"^```python\n(.*?)^```$", GUIDE, re.M | re.S))
    test = doctest.DocTestParser().get_doctest(examples, {}, "docs/api.md", "docs/api.md", 0)
    results = doctest.DocTestRunner().run(test)
    assert results.attempted > 15
    assert not results.failed


def test_no_name_was_removed() -> None:
    assert set(NAMES) <= set(api.__all__)
    assert fuelclient.connect is api.connect


def script(**environment: str) -> list[str]:
    """Return the lines that the script of the guide prints."""
    done = subprocess.run(
        [sys.executable, "docs/stages.py"], cwd=ROOT, capture_output=True, text=True, check=True,
        env={"PATH": "/usr/bin:/bin", **environment},
    )  # fmt: skip
    return done.stdout.splitlines()


def test_the_script_draws_what_the_guide_shows(tmp_path: Path) -> None:
    lines = script(HOME=str(tmp_path))
    assert len(lines) == 4
    assert "\n".join(lines) in GUIDE


@pytest.mark.corpus
def test_the_script_draws_newton(tmp_path: Path) -> None:
    lines = script(HOME=str(tmp_path), FUEL_CORPUS=str(corpus()))
    assert [line.split()[0] for line in lines[1:4]] == ["pre_deployment", "deploy", "post_deployment"]
    assert lines[-1].startswith("202 tasks, 930 instances in ")


def test_an_engine_and_a_server_are_not_combined() -> None:
    with pytest.raises(UsageError), fuelclient.connect("engine.db", server="http://127.0.0.1:9"):
        pass


def test_a_graph_is_read_from_a_file_and_from_a_directory(tmp_path: Path) -> None:
    (tmp_path / "tasks.yaml").write_text(
        "- {id: a, type: shell, version: 2.1.0, roles: ['*'], parameters: {cmd: 'true'}}"
    )
    for place in (tmp_path, tmp_path / "tasks.yaml"):
        assert [task.id for task in api.read_graph(place).tasks] == ["a"]


def test_nothing_is_imported_before_it_is_used(tmp_path: Path) -> None:
    code = (
        "import sys, fuelclient; sys.stdout.write(' '.join(name for name in sys.modules if name[:10] == 'fuelclient'))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert loaded.split() == ["fuelclient"]
    with pytest.raises(AttributeError):
        _ = fuelclient.connected
