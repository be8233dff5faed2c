"""Run `fuel2` in this process, with all streams captured: on an engine file of its own, or on a master."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from shared import shared

from fuelclient.commands.shell import FuelShell


class Terminal(io.StringIO):
    """A standard input that is a terminal."""

    def isatty(self) -> bool:
        return True


@dataclass(frozen=True)
class Done:
    """The result of a command line."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The printed JSON."""
        return json.loads(self.out)


def fuel2(*arguments: object, stdin: str = "", terminal: bool = False) -> Done:
    """Run `fuel2` on whatever the arguments, or the settings, name."""
    source = Terminal(stdin) if terminal else io.StringIO(stdin)
    out, err = io.StringIO(), io.StringIO()
    code = FuelShell(source, out, err).run([str(argument) for argument in arguments])
    return Done(code, out.getvalue(), err.getvalue())


def on_terminal(engine: Path, width: int, line: str, monkeypatch: pytest.MonkeyPatch) -> Done:
    """Run a command line on a terminal of `width` columns."""
    monkeypatch.setenv("COLUMNS", str(width))
    out, err = Terminal(), Terminal()
    words = ["--engine", str(engine), "--color", "never", *line.split()]
    code = FuelShell(io.StringIO(), out, err).run(words)
    return Done(code, out.getvalue(), err.getvalue())


@dataclass(frozen=True)
class CommandLine:
    """`fuel2` on the engine file `engine`."""

    engine: Path

    def __call__(self, *arguments: object, stdin: str = "", terminal: bool = False) -> Done:
        """Run a command line to its end."""
        return fuel2("--engine", self.engine, *arguments, stdin=stdin, terminal=terminal)

    def ok(self, *arguments: object, stdin: str = "") -> Done:
        """Run a command line that must succeed."""
        done = self(*arguments, stdin=stdin)
        assert done.code == 0, done
        return done


RELEASE = """
- name: Tiny
  version: tiny-1.0
  operating_system: Ubuntu
  roles_metadata:
    controller: {name: Controller, description: "Runs\\nthe APIs", has_primary: true, group: base, conflicts: [compute]}
    compute: {name: Compute, description: Runs instances, limits: {min: 1}}
"""

GRAPH = """
- {id: controller, type: group, roles: [primary-controller, controller], parameters: {strategy: {type: one_by_one}}}
- {id: compute, type: group, roles: [compute], parameters: {strategy: {type: parallel}}}
- id: netconfig
  type: puppet
  version: 2.0.0
  groups: [primary-controller, controller, compute]
  parameters: {puppet_manifest: a, puppet_modules: b, timeout: 1}
- id: keystone
  type: shell
  version: 2.0.0
  roles: [primary-controller, controller]
  requires: [netconfig]
  parameters: {cmd: "true", timeout: 1}
"""

OVERRIDE = """
name: prod fixes
tasks:
- {id: keystone, parameters: {timeout: 99}}
- {id: banner, type: shell, version: 2.0.0, requires: [netconfig], roles: [/controller/], parameters: {cmd: "true"}}
"""


def tiny_engine(directory: Path) -> CommandLine:
    """Return an engine with release 1, its default graph, environment 1 (prod) with its own graph, and two nodes."""
    shared("tiny", _make_tiny, directory)
    return CommandLine(directory / "engine.db")


def _make_tiny(directory: Path) -> None:
    tiny = CommandLine(directory / "engine.db")
    tiny.ok("release", "import", "-", stdin=RELEASE)
    tiny.ok("graph", "upload", "--release", 1, "--type", "default", "--file", "-", stdin=GRAPH)
    tiny.ok("env", "create", "prod", "--release", 1)
    tiny.ok("graph", "upload", "--env", 1, "--type", "default", "--file", "-", stdin=OVERRIDE)
    tiny.ok("node", "create", "node-1", "--ip", "10.20.0.3", "--env", 1, "--roles", "controller")
    tiny.ok("node", "create", "node-2", "--ip", "10.20.0.4", "--env", 1, "--roles", "compute")
