"""Real releases run without a master: nothing is uploaded, and nodes have nothing but roles."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from command_line import CommandLine
from corpus import corpus
from shared import shared

pytestmark = pytest.mark.corpus

ROLES = ("controller", "controller", "controller", "compute", "compute", "cinder")
RUNNING = {"9.0": 353, "newton": 369}
"""How many task instances run at first. A real master with a node more runs 369 of newton, too (case 1)."""


@pytest.fixture(scope="module", params=["9.0", "newton"])
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def fuel2(version: str, tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """Environment 1 of a release for Ubuntu, with three controllers, two compute nodes and a cinder node."""
    directory = tmp_path_factory.mktemp(version)
    shared(f"facts-of-{version}", lambda made: _make(made, version), directory)
    return CommandLine(directory / "engine.db")


def _make(directory: Path, version: str) -> None:
    command = CommandLine(directory / "engine.db")
    command.ok("release", "import", corpus("fuel-web", version, "nailgun", "nailgun", "fixtures", "openstack.yaml"))
    command.ok("graph", "upload", "--release", 2, "--dir", corpus("fuel-library", version, "deployment", "puppet"))
    command.ok("env", "create", "prod", "--release", 2)
    nodes = "".join(f"- {{name: n{n}, roles: [{role}], executor: local}}\n" for n, role in enumerate(ROLES))
    path = directory / "nodes.yaml"
    path.write_text(nodes, encoding="utf-8")
    command.ok("node", "import", path, "--env", 1)


def test_a_simulation_ends_well(fuel2: CommandLine, version: str) -> None:
    rows = fuel2.ok("graph", "simulate", "--env", 1, "-f", "json").json
    assert sum(row["status"] == "ready" for row in rows if row["start"] is not None) >= RUNNING[version]
    assert not [row for row in rows if row["status"] == "error"]


def test_a_dry_run_decides_everything(fuel2: CommandLine, version: str) -> None:
    (graph,) = fuel2.ok("graph", "execute", "--env", 1, "--dry-run", "--format", "json").json
    assert sum(instance["runs"] for instance in graph["instances"]) == RUNNING[version]


@pytest.mark.skipif(
    bool(shutil.which("puppet", path=f"{os.environ['PATH']}:/opt/puppetlabs/bin")),
    reason="puppet is installed, and would be asked about manifests that are not on this machine",
)
def test_a_noop_run_ends_well(fuel2: CommandLine) -> None:
    fuel2.ok("graph", "execute", "--env", 1, "--executor", "noop", "--wait")


def test_the_facts_can_be_downloaded_and_override_themselves(fuel2: CommandLine, tmp_path: Path) -> None:
    fuel2.ok("env", "deployment-facts", "get-default", "--env", 1, "-d", tmp_path, "-f", "json")
    before: Mapping[str, object] = fuel2.ok("graph", "execute", "--env", 1, "--dry-run", "--format", "json").json[0]
    fuel2.ok("env", "deployment-facts", "upload", "--env", 1, "-d", tmp_path, "-f", "json")
    after = fuel2.ok("graph", "execute", "--env", 1, "--dry-run", "--format", "json").json[0]
    fuel2.ok("env", "deployment-facts", "delete", 1)
    assert after["digest"] == before["digest"]
