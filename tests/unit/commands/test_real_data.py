"""The main job on a real release, and real broken files, through the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import CommandLine
from corpus import corpus
from shared import shared

pytestmark = pytest.mark.corpus

REFUSED = {"yaml-error", "dup-ids", "malformed-cross-depends", "odd-stage"}
WARNED = {"dup-keys", "unknown-keys", "no-parameters"}


@pytest.fixture(scope="module")
def newton(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """Environment 1 of the release newton with its default graph, without nodes."""
    directory = tmp_path_factory.mktemp("newton")
    shared("newton-without-nodes", _make, directory)
    return CommandLine(directory / "engine.db")


def _make(directory: Path) -> None:
    fuel2 = CommandLine(directory / "engine.db")
    fixture = corpus("fuel-web", "newton", "nailgun", "nailgun", "fixtures", "openstack.yaml")
    tree = corpus("fuel-library", "newton", "deployment", "puppet")
    fuel2.ok("release", "import", fixture)
    fuel2.ok("graph", "upload", "--release", 1, "--type", "default", "--dir", tree)
    assert fuel2.ok("env", "create", "prod", "--release", 1, "-f", "value", "-c", "id").out == "1\n"


def test_preview_of_newton(newton: CommandLine) -> None:
    line = ("graph", "preview", "--env", 1, "--assume", "controller=3,compute=8,cinder=3")
    rows = newton.ok(*line, "-f", "json")
    assert len(rows.json) == 202
    assert [row["order"] for row in rows.json] == list(range(1, 203))
    assert "202 tasks, 930 instances in " in rows.err
    assert " on 14 nodes; 6 sync points, 8 on the master.\n" in rows.err
    assert len(newton.ok(*line).out.splitlines()) == 202 + 4
    skipped = [row["task"] for row in rows.json if set(row["verdicts"]) == {"skip"}]
    assert len(skipped) > 40
    assert not [row["task"] for row in rows.json if any("unknown" in verdict for verdict in row["verdicts"])]
    bare = newton.ok(*line, "--no-facts").err
    assert " on 14 nodes; 6 sync points, 8 on the master; 3 tasks have computed dependencies " in bare


def test_the_merge_of_one_layer_is_that_layer(newton: CommandLine) -> None:
    merged = newton.ok("graph", "download", "--env", 1, "--all", "--format", "json", "--file", "-").json
    layer = newton.ok("graph", "download", "--env", 1, "--release", "--format", "json", "--file", "-").json
    assert merged == layer


def odd_files() -> list[tuple[str, str]]:
    """Every broken graph of the corpus with its class."""
    try:
        index = corpus("odd", "index.json")
    except pytest.skip.Exception:
        return []
    entries = json.loads(index.read_text(encoding="utf-8"))
    return sorted({(entry["class"], entry["file"]) for entry in entries if entry["file"].endswith("tasks.yaml")})


@pytest.mark.parametrize(("kind", "file"), odd_files(), ids=lambda value: Path(value).stem)
def test_broken_graphs(newton: CommandLine, kind: str, file: str) -> None:
    path = corpus("odd", *Path(file).parts)
    before = newton.ok("graph", "list", "-f", "json").out
    done = newton("graph", "upload", "--env", 1, "--type", "odd", "--file", path)
    assert "Traceback" not in done.err
    if kind in REFUSED:
        assert (done.code, done.out) == (7, "")
        assert f"{path}:" in done.err
        assert newton.ok("graph", "list", "-f", "json").out == before
        return
    assert done.code == 0, done.err
    assert (f"{path}:" in done.err and "warning" in done.err) == (kind in WARNED)
    newton.ok("graph", "delete", "--env", 1, "--type", "odd")
