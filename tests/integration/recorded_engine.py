"""An engine that holds what the recorded conversations of the original client were held about."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from valid_packages import write_package

from fuelclient.backends.base import Backend
from fuelclient.backends.local import LocalBackend
from fuelclient.model.graph import DEFAULT_TYPE, GraphDocument, Level, OwnerRef
from fuelclient.model.node import Node, NodeStatus
from fuelclient.model.release import Release
from fuelclient.model.task import Task

_PLUGIN = "fuel_plugin_example"
_ROLES = {
    "controller": {"name": "Controller", "group": "base", "conflicts": ["compute"], "description": "d"},
    "compute": {"name": "Compute", "group": "base", "description": "d"},
}
_TASKS = (
    Task("deploy_start", {"type": "stage", "version": "2.0.0"}),
    Task(
        "hiera",
        {
            "type": "puppet",
            "version": "2.0.0",
            "roles": ["/.*/"],
            "requires": ["deploy_start"],
            "parameters": {"timeout": 3600, "puppet_manifest": "hiera.pp", "puppet_modules": "modules"},
        },
    ),
)


def fill(engine: Path, packages: Path) -> None:
    """The engine has release 1 with a graph, plugin 1 with one, environment 1 with that plugin and two nodes."""
    backend = LocalBackend(str(engine))
    try:
        _fill(backend, packages)
    finally:
        backend.close()


def _fill(backend: Backend, packages: Path) -> None:
    release = Release(0, "Mitaka on Ubuntu 14.04", "mitaka-9.0", "Ubuntu", metadata={"roles_metadata": _ROLES})
    backend.releases.create([release])
    backend.graphs.upload(OwnerRef(Level.RELEASE, 1), GraphDocument(_TASKS, name="default"), DEFAULT_TYPE)
    backend.plugins.install(str(_package(packages)))
    backend.clusters.create("env1", 1)
    backend.graphs.delete(OwnerRef(Level.CLUSTER, 1), DEFAULT_TYPE)
    backend.plugins.enable(1, 1)
    backend.nodes.create([_node(1, "controller"), _node(2, "compute")])


def _node(number: int, role: str) -> Node:
    told = {
        "hostname": f"node-{number}", "fqdn": f"node-{number}.domain.tld", "manufacturer": "KVM",
        "os_platform": "ubuntu", "group_id": 1,
    }  # fmt: skip
    return Node(
        number, f"Untitled (00:0{number})", 1, NodeStatus.READY, (role,), ip=f"10.20.0.{number}",
        mac=f"52:54:00:00:00:0{number}", executor="local", attributes=told,
    )  # fmt: skip


def _package(directory: Path) -> Path:
    releases: list[dict[str, Any]] = [
        {"os": "ubuntu", "version": version, "mode": ["ha"], "deployment_scripts_path": "deployment_scripts/",
         "repository_path": "repositories/ubuntu"}
        for version in ("mitaka-9.0", "liberty-8.0")
    ]  # fmt: skip
    metadata = {"name": _PLUGIN, "title": "Example", "version": "1.0.0", "description": "d", "releases": releases}
    tasks = "- {id: plugin-task, type: shell, version: 2.0.0, role: [controller], parameters: {cmd: 'true'}}\n"
    return write_package(directory / _PLUGIN, 4, metadata=metadata, files={"deployment_tasks.yaml": tasks})
