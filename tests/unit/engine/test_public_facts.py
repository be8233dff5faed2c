"""Facts of a public test cloud of 9.0, a file for each node, are uploaded and decide every task of its release."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import CommandLine
from corpus import corpus, public

from fuelclient import files

pytestmark = pytest.mark.corpus

NODES = """
- {id: 126, name: node-126, roles: [controller], status: provisioned, executor: noop}
- {id: 127, name: node-127, roles: [compute], status: provisioned, executor: noop}
- {id: 128, name: node-128, roles: [ceph-osd], status: provisioned, executor: noop}
- {id: 129, name: node-129, roles: [controller], status: provisioned, executor: noop}
- {id: 131, name: node-131, roles: [mongo], status: provisioned, executor: noop}
- {id: 132, name: node-132, roles: [mongo], status: provisioned, executor: noop}
"""


def test_they_plan_a_deployment(tmp_path: Path) -> None:
    fuel2 = CommandLine(tmp_path / "engine.db")
    fuel2.ok("release", "import", corpus("fuel-web/9.0/nailgun/nailgun/fixtures/openstack.yaml"))
    listed = fuel2.ok("release", "list", "-f", "json").json
    release = next(row["id"] for row in listed if row["name"] == "Mitaka on Ubuntu 14.04")
    tasks = corpus("fuel-library/9.0/deployment/puppet")
    fuel2.ok("graph", "upload", "--release", release, "--type", "default", "--dir", tasks)
    fuel2.ok("env", "create", "cloud", "--release", release)
    storage = {"volumes_ceph": {"value": True}, "volumes_lvm": {"value": False}}
    settings = {"storage": storage, "additional_components": {"ceilometer": {"value": True}}}
    fuel2.ok("env", "settings", "upload", 1, "--file", "-", stdin=json.dumps(settings))
    fuel2.ok("node", "import", "-", "--env", 1, stdin=NODES)
    (tmp_path / "deployment_1").mkdir()
    for path in public("facts").glob("*.yaml"):
        uid = files.load(str(path)).data["uid"]
        (tmp_path / f"deployment_1/{uid}.yaml").write_bytes(path.read_bytes())

    fuel2.ok("env", "deployment-facts", "upload", "--env", 1, "--format", "yaml", "--directory", tmp_path)
    (graph,) = fuel2.ok("graph", "execute", "--env", 1, "--dry-run", "--format", "json").json

    for fact in ("fqdn", "network_metadata.nodes.node-131.fqdn"):
        shown = fuel2.ok("env", "facts", "show", fact, "--env", 1, "--node", 131, "-f", "json").out
        assert "node-131.test.domain.local" in shown
    assert len(graph["instances"]) > 300
    assert {one["node"] for one in graph["instances"]} >= {126, 127, 128, 129, 131, 132}
    assert [one for one in graph["instances"] if one["unknown"]] == []
    assert {one["runs"] for one in graph["instances"]} == {True, False}
