"""Environments whose tasks really run, on this machine and in the files of a test."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opened import opened

from fuelclient.backends import connect
from fuelclient.backends.base import Backend
from fuelclient.model.graph import DEFAULT_TYPE, GraphDocument, Level, OwnerRef
from fuelclient.model.node import Node
from fuelclient.model.release import Release
from fuelclient.model.run import HistoryRow, Run, RunRequest
from fuelclient.model.task import Task
from fuelclient.settings import load
from fuelclient.store import runners
from fuelclient.store.database import Database
from fuelclient.store.runners import Runner

PATIENCE = 60.0
"""Seconds that a run may take: far more than it needs, because the machine may be busy."""

RELEASE = Release(
    0,
    "Tiny",
    "tiny-1.0",
    metadata={"roles_metadata": {"controller": {"has_primary": True}, "compute": {}, "storage": {}}},
)
TOLERANT = Task("compute", {"type": "group", "roles": ["compute"], "fault_tolerance": "100%"})
"""A group whose nodes may all fail."""


def stage(name: str, **attributes: object) -> Task:
    """Return a sync point."""
    return Task(name, {"type": "stage", **attributes})


def shell(name: str, cmd: object = "true", *, timeout: float = 60, **attributes: object) -> Task:
    """Return a shell task of compute nodes that is tried once."""
    parameters = {"cmd": cmd, "timeout": timeout, "retries": 0}
    return Task(
        name, {"type": "shell", "version": "2.0.0", "roles": ["compute"], "parameters": parameters, **attributes}
    )


@dataclass(frozen=True)
class Executions:
    """Environment 1 of an engine in `directory`, and what its tasks wrote there."""

    directory: Path
    backend: Backend

    @property
    def engine(self) -> Path:
        return self.directory / "engine.db"

    @property
    def notes(self) -> Path:
        """The file to which `note` writes."""
        return self.directory / "notes"

    def note(self, text: str) -> str:
        """Return a command that appends one line to `notes`; lines of several processes never mix."""
        return f"echo {text} >> {self.notes}"

    def held(self, text: str) -> str:
        """Return a command that notes `text` and runs until `let_go`."""
        return f"{self.note(text)}; until [ -e {self.directory}/go ]; do sleep 0.05; done"

    def met(self, nodes: int) -> str:
        """Return a command that waits until it has begun on so many nodes, for tests in which all of them fail: the
        first failure ends a run, and on a busy machine another node has not begun by then."""
        return f"{self.note('met')}; until [ $(grep -c met {self.notes}) -ge {nodes} ]; do sleep 0.05; done"

    def let_go(self) -> None:
        """End the commands of `held`, and later ones at once."""
        (self.directory / "go").touch()

    def noted(self) -> list[str]:
        return self.notes.read_text(encoding="utf-8").splitlines() if self.notes.exists() else []

    def graph(self, *tasks: Task, graph_type: str = DEFAULT_TYPE, metadata: Mapping[str, Any] | None = None) -> None:
        """Upload the environment's graph."""
        owner = OwnerRef(Level.CLUSTER, 1)
        self.backend.graphs.upload(owner, GraphDocument(tasks, metadata=metadata or {}), graph_type)

    def begin(self, *graph_types: str, **options: Any) -> Run:
        return self.backend.runs.begin(RunRequest(1, graph_types or (DEFAULT_TYPE,), **options))

    def run(self, *graph_types: str, **options: Any) -> Run:
        """Start a run and wait for its end."""
        return self.ended(self.begin(*graph_types, **options).id)

    def ended(self, run_id: int) -> Run:
        """Return the run after it has ended."""
        return self.until(run_id, lambda found: found.is_final)

    def until(self, run_id: int, holds: Any) -> Run:
        """Return the run as soon as a condition holds."""
        deadline = time.monotonic() + PATIENCE
        while True:
            found = self.backend.runs.get(run_id)
            if holds(found):
                return found
            assert time.monotonic() < deadline, (found, self.log(run_id))
            time.sleep(0.03)  # each look costs the run some of the processor

    def looked(self, run_id: int) -> None:
        """Wait until the runner of the run has looked whether it is to stop."""
        runner = self.runner()
        assert runner is not None
        last = runner.heartbeat
        self.until(run_id, lambda _: (found := self.runner()) is not None and found.heartbeat != last)

    def log(self, run_id: int) -> str:
        path = Path(f"{self.engine}.runs") / f"{run_id}.log"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def rows(self, run_id: int) -> Sequence[HistoryRow]:
        return self.backend.runs.history(run_id)

    def outcomes(self, run_id: int) -> dict[str, tuple[str, str]]:
        """Return status and reason by instance (`task@node`)."""
        return {f"{row.task}@{row.node}": (str(row.status), row.reason) for row in self.rows(run_id)}

    def statuses(self) -> dict[int, str]:
        """Return the status of each node."""
        return {node.id: str(node.status) for node in self.backend.nodes.list(1)}

    def runner(self) -> Runner | None:
        """Return the runner of the environment's run."""
        with closing(Database(str(self.engine))) as database, database.read() as connection:
            return runners.find(connection, 1)


def executions(
    directory: Path, nodes: int = 3, roles: Iterable[str] = ("compute",), release: Release = RELEASE
) -> Executions:
    """Return an engine whose environment has `nodes` nodes, all on this machine."""
    directory.mkdir(parents=True, exist_ok=True)
    backend = connect(load({"ENGINE": str(directory / "engine.db")}))
    backend.releases.create([release])
    backend.clusters.create("prod", 1)
    backend.nodes.create(
        [
            Node(0, f"node-{number}", cluster_id=1, pending_roles=tuple(roles), executor="local")
            for number in range(1, nodes + 1)
        ]
    )
    return Executions(directory, opened(backend))
