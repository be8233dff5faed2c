"""An engine for questions about a graph: a release with stages, two plugins with tasks of one stage, an override.

The stages of the plugins are those of the specification "plugins-deployment-order".
"""

from __future__ import annotations

from pathlib import Path

from command_line import CommandLine
from package_trees import write_package
from shared import shared

_RELEASE = """
- name: Asked
  version: mitaka-9.0
  operating_system: Ubuntu
  roles_metadata:
    controller: {name: Controller, description: Runs the APIs}
    compute: {name: Compute, description: Runs instances}
"""

_GRAPH = """
- {id: pre_deployment_start, type: stage}
- {id: pre_deployment_end, type: stage, requires: [pre_deployment_start]}
- {id: deploy_start, type: stage, requires: [pre_deployment_end]}
- {id: deploy_end, type: stage, requires: [deploy_start]}
- id: globals
  type: shell
  version: 2.1.0
  roles: ['*']
  requires: [deploy_start]
  parameters: {cmd: "true", timeout: 60}
- id: netconfig
  type: shell
  version: 2.1.0
  roles: ['*']
  requires: [globals]
  required_for: [deploy_end]
  parameters: {cmd: "true", timeout: 60}
- {id: database, type: shell, version: 2.1.0, roles: [controller], requires: [netconfig], parameters: {cmd: "true"}}
- {id: cache, type: shell, version: 2.1.0, roles: [controller], requires: [netconfig], parameters: {cmd: "true"}}
- id: keystone
  type: shell
  version: 2.1.0
  roles: [controller]
  requires: [database, cache]
  required_for: [heat]
  parameters:
    cmd: "true"
    timeout: 60
- {id: heat, type: shell, version: 2.1.0, roles: [controller], required_for: [deploy_end], parameters: {cmd: "true"}}
- id: horizon
  type: shell
  version: 2.1.0
  roles: [controller]
  requires: [keystone]
  required_for: [deploy_end]
  parameters: {cmd: "true"}
- id: agent
  type: shell
  version: 2.1.0
  roles: [compute]
  requires: [netconfig]
  cross_depends: [{name: keystone, role: [controller]}]
  required_for: [deploy_end]
  parameters: {cmd: "true"}
"""

_OVERRIDE = """
- id: keystone
  requires: [database, cache, netconfig]
  parameters:
    timeout: 99
"""

_STAGES = {
    "plugin1": ("pre_deployment", "pre_deployment/100", "pre_deployment/-100", "pre_deployment/-99.9"),
    "plugin2": ("pre_deployment", "pre_deployment/100.0", "pre_deployment/-101", "pre_deployment/0"),
}


def questioned_engine(directory: Path) -> CommandLine:
    """Return an engine with environment 1, its two plugins and one node of each role."""
    shared("questioned", _make, directory)
    return CommandLine(directory / "engine.db")


def _make(directory: Path) -> None:
    fuel2 = CommandLine(directory / "engine.db")
    fuel2.ok("release", "import", "-", stdin=_RELEASE)
    fuel2.ok("graph", "upload", "--release", 1, "--type", "default", "--file", "-", stdin=_GRAPH)
    fuel2.ok("env", "create", "prod", "--release", 1)
    fuel2.ok("graph", "upload", "--env", 1, "--type", "default", "--file", "-", stdin=_OVERRIDE)
    for name, stages in _STAGES.items():
        parameters = {"cmd": "true", "timeout": 60}
        tasks = [
            {"role": ["controller"], "stage": stage, "type": "shell", "parameters": parameters} for stage in stages
        ]
        fuel2.ok("plugins", "install", write_package(directory / name, name, "1.0.0", files={"tasks.yaml": tasks}))
        fuel2.ok("plugins", "enable", name, "--env", 1)
    fuel2.ok("node", "create", "node-1", "--ip", "10.20.0.3", "--env", 1, "--roles", "controller")
    fuel2.ok("node", "create", "node-2", "--ip", "10.20.0.4", "--env", 1, "--roles", "compute")
