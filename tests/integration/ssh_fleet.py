"""An environment whose nodes are real SSH daemons, used through the command line."""

from __future__ import annotations

import getpass
import json
import os
import signal
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from command_line import CommandLine, Done
from processes import eventually
from sshd import HOST, Daemon, Site, can_isolate

from fuelclient.store import runners
from fuelclient.store.database import Database

RELEASE = """
- name: Tiny
  version: tiny-1.0
  operating_system: Ubuntu
  roles_metadata: {every: {}, one: {}, two: {}, three: {}, four: {}, five: {}}
"""
_RELATIONS = ("requires", "required_for")

PATIENCE = 90.0
"""Seconds that something may take in a test: far more than it needs, because the machine may be busy."""


def task(name: str, kind: str = "shell", roles: str = "every", **attributes: Any) -> dict[str, Any]:
    """Return a task of `roles` that is tried once; unknown attributes become parameters."""
    known: dict[str, Any] = {key: attributes.pop(key) for key in _RELATIONS if key in attributes}
    parameters = {"timeout": 60, "retries": 0, **attributes}
    return {"id": name, "type": kind, "version": "2.0.0", "roles": [roles], "parameters": parameters, **known}


@dataclass(frozen=True)
class Fleet:
    """Environment 1, with its engine, its daemons and everything that tasks write below `site.root`."""

    site: Site
    fuel2: CommandLine
    daemons: list[Daemon] = field(default_factory=list)

    @classmethod
    def at(cls, site: Site, patch: pytest.MonkeyPatch) -> Fleet:
        """Return a fleet without nodes. Its user's home contains only known hosts, and there is no SSH agent."""
        own = site.root / "home" / ".ssh"
        own.mkdir(parents=True)
        (own / "known_hosts").symlink_to(site.root / "known_hosts")
        patch.setenv("HOME", str(own.parent))
        fuel2 = CommandLine(site.root / "engine.db")
        fuel2.ok("release", "import", "-", stdin=RELEASE)
        fuel2.ok("env", "create", "prod", "--release", 1)
        return cls(site, fuel2)

    @property
    def home(self) -> Path:
        return self.site.root / "home"

    def add(self, *roles: str, **ssh: Any) -> Daemon:
        """Add a node with its own daemon."""
        daemon = self.site.daemon(isolated=can_isolate())
        self.daemons.append(daemon)
        settings = {"user": getpass.getuser(), "port": daemon.port, "key": f"{self.site.root}/key", **ssh}
        self.node(*roles, ssh=settings)
        return daemon

    def node(self, *roles: str, **attributes: Any) -> None:
        """Import a node with these attributes."""
        number = len(self.fuel2.ok("node", "list", "-f", "json").json) + 1
        stated = {"name": f"node-{number}", "ip": HOST, "roles": ["every", *roles], **attributes}
        self.fuel2.ok("node", "import", "-", "--env", 1, stdin=yaml.safe_dump([stated]))

    def graph(self, *tasks: dict[str, Any], tolerated: int = 0) -> None:
        """Upload the environment's graph; `tolerated` nodes may fail."""
        every = {"id": "every", "type": "group", "roles": ["every"], "fault_tolerance": tolerated}
        self.fuel2.ok(
            "graph", "upload", "--env", 1, "--type", "default", "--file", "-", stdin=yaml.safe_dump([every, *tasks])
        )

    def execute(self, *options: object, wait: bool = True) -> Done:
        return self.fuel2("graph", "execute", "--env", 1, "--wait" if wait else "--no-wait", *options)

    def begin(self, *options: object) -> int:
        """Start a run without waiting, and return its id."""
        done = self.execute("--format", "json", *options, wait=False)
        assert done.code == 0, done
        return int(json.loads(done.out)["id"])

    def rows(self, number: int, *options: object) -> dict[str, dict[str, Any]]:
        """Return the history of a run by `task/node`."""
        found = self.fuel2.ok("task", "history", "show", number, "-f", "json", *options).json
        return {f"{row['task_name']}/{row['node_id']}": row for row in found}

    def logs(self, number: int, instance: str) -> str:
        return self.fuel2.ok("task", "logs", number, instance).out

    def noted(self, name: str = "notes") -> list[str]:
        """Return the lines of a file that tasks wrote."""
        path = self.site.root / name
        return path.read_text().splitlines() if path.exists() else []

    def until_noted(self, *lines: str) -> None:
        """Wait until tasks have written these lines."""
        assert eventually(lambda: set(lines) <= set(self.noted()), PATIENCE), self.noted()

    def ended(self, number: int) -> dict[str, Any]:
        """Wait for the end of a run, and return it."""

        def status() -> bool:
            return self.fuel2.ok("task", "show", number, "-f", "json").json["status"] in ("ready", "error")

        assert eventually(status, PATIENCE), self.fuel2("task", "show", number).out
        shown: dict[str, Any] = self.fuel2.ok("task", "show", number, "-f", "json").json
        return shown

    def until_heard(self) -> None:
        """Wait until the runner has checked, from now on, whether it should stop."""
        for _ in range(2):  # the check recorded next may have started before now
            assert eventually(partial(self._beats_after, self._heartbeat()), PATIENCE)

    def _beats_after(self, before: str) -> bool:
        return self._heartbeat() != before

    def _heartbeat(self) -> str:
        with closing(Database(str(self.fuel2.engine))) as database, database.read() as connection:
            found = runners.find(connection, 1)
            return found.heartbeat if found else ""

    def kill_runner(self, number: int) -> None:
        """Kill the runner of a run without warning."""
        with closing(Database(str(self.fuel2.engine))) as database, database.read() as connection:
            runner = runners.find(connection, 1)
        assert runner is not None, f"run {number} has no runner"
        assert (runner.run_id, _is_alive(runner.pid)) == (number, True)
        os.kill(runner.pid, signal.SIGKILL)
        assert eventually(lambda: not _is_alive(runner.pid), PATIENCE)


def _is_alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2][0] not in "ZX"
    except OSError:
        return False
