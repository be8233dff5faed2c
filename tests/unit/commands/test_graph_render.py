"""`graph render`: formats, files, and what is said about them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from command_line import CommandLine, fuel2, tiny_engine
from questioned import questioned_engine

from fuelclient.commands.exits import Exit

needs_graphviz = pytest.mark.skipif(shutil.which("dot") is None, reason="no program 'dot' of graphviz on PATH")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    return questioned_engine(tmp_path_factory.mktemp("questioned"))


def test_a_query_selects_what_is_drawn(engine: CommandLine) -> None:
    done = engine.ok("graph", "render", "globals..keystone", "--env", 1)
    assert {line.split()[-2] for line in done.out.splitlines()} >= {"globals", "netconfig", "database"}
    assert "heat" not in done.out
    wrong = engine("graph", "render", "nothing:here", "--env", 1)
    assert (wrong.code, wrong.out) == (Exit.USAGE, "")


@pytest.mark.parametrize(
    ("ending", "begins"),
    [("txt", "●"), ("dot", "strict digraph"), ("gv", "strict digraph"), ("mmd", "flowchart"), ("html", "<!DOCTYPE")],
)
def test_the_name_of_the_file_says_the_format(engine: CommandLine, tmp_path: Path, ending: str, begins: str) -> None:
    path = tmp_path / f"graph.{ending}"
    assert str(path) in engine.ok("graph", "render", "--env", 1, "-o", path).out
    assert path.read_text(encoding="utf-8").startswith(begins)
    assert engine("graph", "render", "--env", 1, "-o", path).code == Exit.CONFLICT
    engine.ok("graph", "render", "--env", 1, "-o", path, "--force")


def test_an_ending_that_says_nothing_is_refused(engine: CommandLine, tmp_path: Path) -> None:
    assert engine("graph", "render", "--env", 1, "-o", tmp_path / "graph.jpg").code == Exit.USAGE
    engine.ok("graph", "render", "--env", 1, "-o", tmp_path / "graph.jpg", "-f", "dot")


@needs_graphviz
def test_graphviz_draws(engine: CommandLine, tmp_path: Path) -> None:
    assert "keystone" in engine.ok("graph", "render", "--env", 1, "-f", "svg").out
    engine.ok("graph", "render", "--env", 1, "-o", tmp_path / "graph.png")
    assert (tmp_path / "graph.png").read_bytes().startswith(b"\x89PNG")
    assert engine("graph", "render", "--env", 1, "-f", "png").code == Exit.USAGE


def test_without_graphviz_the_error_names_the_package(
    engine: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    done = engine("graph", "render", "--env", 1, "-o", tmp_path / "graph.svg")
    assert done.code == Exit.UNAVAILABLE
    assert "graphviz" in done.err
    assert not (tmp_path / "graph.svg").exists()


def _large(tasks: int) -> str:
    """Return a graph with about five edges for each of its tasks, none of which others imply."""
    lines = []
    for number in range(tasks):
        layer = number // 10
        before = [f"t{(layer - 1) * 10 + (number + step) % 10}" for step in range(5)] if layer else []
        lines.append(
            f"- {{id: t{number}, type: shell, version: 2.1.0, roles: [controller], requires: [{', '.join(before)}],"
            " parameters: {cmd: 'true', timeout: 1}}"
        )
    return "\n".join(lines)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    directory = tmp_path_factory.mktemp("large")
    fuel = CommandLine(directory / "engine.db")
    release = "- {name: L, version: l-1, operating_system: U, roles_metadata: {controller: {name: C}}}"
    fuel.ok("release", "import", "-", stdin=release)
    fuel.ok("graph", "upload", "--release", 1, "--type", "default", "--file", "-", stdin=_large(300))
    fuel.ok("env", "create", "prod", "--release", 1)
    return fuel


def test_mermaid_keeps_its_limits_and_names_what_is_missing(large: CommandLine) -> None:
    done = large.ok("graph", "render", "--env", 1, "-f", "mmd")
    assert 300 < done.out.count("-->") <= 500
    assert len(done.out) <= 50_000
    assert done.out.startswith("%% Mermaid draws at most 500 edges.")
    assert done.out.splitlines()[0].removeprefix("%% ") in done.err


@needs_graphviz
def test_graphviz_reads_the_dot(large: CommandLine) -> None:
    drawn = large.ok("graph", "render", "--env", 1, "-f", "dot").out
    done = subprocess.run(["dot", "-Tplain"], input=drawn, capture_output=True, text=True, check=True)
    assert sum(line.startswith("node ") for line in done.stdout.splitlines()) == 300


def test_no_graph(engine: CommandLine) -> None:
    assert fuel2("--engine", engine.engine, "graph", "render", "--env", 1, "-t", "none").code == Exit.NOT_FOUND


def test_a_page_shows_no_secret_that_another_attribute_repeats(tmp_path: Path) -> None:
    tiny = tiny_engine(tmp_path)
    parameters = "{password: pa55w0rd, cmd: login pa55w0rd}"
    graph = f"- {{id: login, type: shell, version: 2.1.0, roles: [compute], parameters: {parameters}}}"
    tiny.ok("graph", "upload", "--env", 1, "--type", "fix", "--file", "-", stdin=graph)
    tiny.ok("graph", "render", "--env", 1, "--type", "fix", "-o", tmp_path / "x.html")
    page = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert "pa55w0rd" not in page
    assert "login ***" in page
