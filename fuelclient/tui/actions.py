"""The changes that the UI can make in a backend, each with its command line."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from fuelclient.backends.base import Backend
from fuelclient.insight.progress import options_of
from fuelclient.model.graph import DEFAULT_TYPE
from fuelclient.model.run import DryRun, Run, RunRequest

DRY_RUN_WAIT = 60.0
"""Seconds to wait for a Fuel master's dry run."""


@dataclass(frozen=True, slots=True)
class Execute:
    """Run graphs on an environment. A dry run plans them and, unless nodes are assumed, also asks a Fuel master. With
    `check`, SSH nodes are examined first."""

    request: RunRequest
    assume: str = ""
    check: bool = True

    @property
    def what(self) -> str:
        verb = "plan" if self.request.dry_run else "execute"
        return f"{verb} {', '.join(self.request.graph_types)} on environment {self.request.cluster_id}"

    @property
    def words(self) -> str:
        request = self.request
        types = [] if request.graph_types == (DEFAULT_TYPE,) else ["--type", *request.graph_types]
        assume = ["--assume", self.assume] if self.assume else []
        options = [*types, *options_of(request), *assume, *([] if self.check else ["--no-check"])]
        return shlex.join(["graph", "execute", "--env", str(request.cluster_id), *options])

    def act(self, backend: Backend) -> Run | DryRun:
        if self.request.dry_run:
            from fuelclient.backends.plans import dry_run  # late: it loads the whole planner, which few sessions need

            return dry_run(backend, self.request, timeout=DRY_RUN_WAIT, assume=self.assume)
        return backend.runs.begin(self.request, check=self.check)


@dataclass(frozen=True, slots=True)
class _OnRun:
    """A change of one run by the command `task VERB ID`, with an option for the field of a subclass."""

    VERB: ClassVar[str]
    OPTION: ClassVar[tuple[str, str]]
    """The field, and the option of the command."""

    id: int

    @property
    def what(self) -> str:
        return f"{self.VERB} run {self.id}"

    @property
    def words(self) -> str:
        field, option = self.OPTION
        return f"task {self.VERB} {self.id}{f' {option}' if getattr(self, field) else ''}"


@dataclass(frozen=True, slots=True)
class Stop(_OnRun):
    """Stop a run; `kill` also ends running tasks."""

    VERB, OPTION = "stop", ("kill", "--kill")
    kill: bool = False

    @property
    def what(self) -> str:
        return f"{'kill' if self.kill else 'stop'} run {self.id}"

    def act(self, backend: Backend) -> Run:
        return backend.runs.stop(self.id, kill=self.kill)


@dataclass(frozen=True, slots=True)
class Resume(_OnRun):
    """Resume a run whose runner was killed; `again` reruns interrupted instances, which may have ended."""

    VERB, OPTION = "resume", ("again", "--rerun-interrupted")
    again: bool = False

    def act(self, backend: Backend) -> Run:
        return backend.runs.resume(self.id, rerun_interrupted=self.again)


@dataclass(frozen=True, slots=True)
class Delete(_OnRun):
    """Delete a run with its history; `force` is for a run whose runner was killed before its end."""

    VERB, OPTION = "delete", ("force", "--force")
    force: bool = False

    def act(self, backend: Backend) -> None:
        backend.runs.delete(self.id, force=self.force)


Action = Execute | Stop | Resume | Delete
"""A change. `act` makes it and raises the backend's errors; `what` describes it, `words` is its command without the
program."""

Choices = Sequence[tuple[str, Action]]
"""Alternative actions, each with its label."""


def command_of(action: Action, program: str = "fuel2") -> str:
    """The command line that does the same as an action.

    >>> command_of(Execute(RunRequest(1, node_ids=(2, 3), noop=True)))
    'fuel2 graph execute --env 1 --node 2 3 --noop'
    """
    return f"{program} {action.words}"
