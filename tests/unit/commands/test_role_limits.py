"""A role with fewer nodes than its `limits.min` is a warning wherever the deployment graph is planned or previewed."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import GRAPH, RELEASE, CommandLine

UNRESTRICTED = """limits: {min: 2}, restrictions: ["cluster:net_provider == 'nova'"]"""
WANTED = RELEASE.replace("limits: {min: 1}", UNRESTRICTED)


@pytest.fixture
def small(tmp_path: Path) -> CommandLine:
    """An environment with one compute node, of a release that wants two, and a graph of another type."""
    engine = CommandLine(tmp_path / "engine.db")
    engine.ok("release", "import", "-", stdin=WANTED)
    for graph_type in ("default", "fix"):
        engine.ok("graph", "upload", "--release", 1, "--type", graph_type, "--file", "-", stdin=GRAPH)
    engine.ok("env", "create", "prod", "--release", 1)
    for number, role in enumerate(("controller", "compute"), 1):
        node = ("node", "create", f"node-{number}", "--ip", f"10.20.0.{number}", "--env", 1)
        engine.ok(*node, "--roles", role, "--executor", "noop")
    return engine


@pytest.mark.parametrize(
    "command",
    [
        "graph preview --env 1",
        "graph validate --env 1 -f text",
        "graph execute --env 1 --dry-run",
        "graph execute --env 1 --noop --wait",
        "graph simulate --env 1",
        "env deploy 1 --dry-run",
        "plan create --env 1 PLAN",
    ],
)
def test_a_missing_node_is_told_before_a_run(small: CommandLine, command: str, tmp_path: Path) -> None:
    done = small.ok(*command.replace("PLAN", str(tmp_path / "plan.yaml")).split())
    assert (done.out + done.err).count("[P089]") == 1, done
    assert "role compute" in done.out + done.err


@pytest.mark.parametrize(
    "command",
    [
        "graph preview --env 1 --type fix",
        "graph execute --env 1 --type fix --dry-run",
        "graph preview --env 1 --assume controller=1,compute=1",
        "graph simulate --env 1 --assume controller=1,compute=1",
    ],
)
def test_other_graphs_and_assumed_nodes_lack_nothing(small: CommandLine, command: str) -> None:
    assert "P089" not in small.ok("-v", *command.split()).err


def test_enough_nodes_lack_nothing(small: CommandLine) -> None:
    small.ok("node", "create", "node-3", "--ip", "10.20.0.3", "--env", 1, "--roles", "compute")
    assert "P089" not in small.ok("graph", "preview", "--env", 1).err


def test_a_role_that_no_node_may_have_lacks_none(tmp_path: Path) -> None:
    engine = CommandLine(tmp_path / "engine.db")
    restricted = WANTED.replace("nova", "neutron")
    engine.ok("release", "import", "-", stdin=restricted)
    engine.ok("graph", "upload", "--release", 1, "--type", "default", "--file", "-", stdin=GRAPH)
    engine.ok("env", "create", "prod", "--release", 1)
    engine.ok("node", "create", "node-1", "--ip", "10.20.0.1", "--env", 1, "--roles", "controller")
    assert "P089" not in engine.ok("graph", "preview", "--env", 1).err
