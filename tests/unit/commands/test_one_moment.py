"""What a command reads is of one moment: it reads in one transaction, and each environment once."""

from __future__ import annotations

import itertools
import sqlite3
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine, tiny_engine

from fuelclient.engine.runs.background import Prepared, packed, unpacked
from fuelclient.engine.runs.jobs import executor_for
from fuelclient.engine.runs.runs import Runs
from fuelclient.environment.plans import plan
from fuelclient.errors import Conflict
from fuelclient.executors.executor import MachineExecutor
from fuelclient.model.run import Run, RunRequest
from fuelclient.store.database import Database

NOOP = ("--executor", "noop", "--noop", "--force")
"""Options of a run that asks no node, or it would wait for answers that never come."""


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    fuel2 = tiny_engine(tmp_path_factory.mktemp("tiny"))
    fuel2.ok("graph", "execute", "--env", 1, *NOOP, "--wait")
    return fuel2


def counted(fuel2: CommandLine, *arguments: str) -> Counter[str]:
    """The transactions that a command begins, and how often it reads the environment and its settings."""
    counts: Counter[str] = Counter()
    connect = sqlite3.connect

    def trace(statement: str) -> None:
        words = statement.split()
        if words[:1] == ["BEGIN"]:
            kind = "write" if "IMMEDIATE" in words else "other reads" if counts["write"] else "read"
            counts[kind] += 1
        if "net_segment_type FROM clusters WHERE" in statement and not counts["write"]:
            counts["environment"] += 1
        if "SELECT settings FROM clusters" in statement:
            counts["settings"] += 1

    def traced(*given: Any, **named: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*given, **named)
        connection.set_trace_callback(trace)
        return connection

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sqlite3, "connect", traced)
        fuel2.ok(*arguments)
    return counts


@pytest.mark.parametrize(
    "command",
    [
        "preview",
        "order",
        "why keystone netconfig",
        "query +keystone",
        "stats",
        "validate",
        "simulate",
        "preview --select +keystone",
    ],
)
@pytest.mark.parametrize("env", ["1", "prod"])
def test_a_question_reads_in_one_transaction(tiny: CommandLine, command: str, env: str) -> None:
    assert counted(tiny, "graph", *command.split(), "--env", env) == {"read": 1, "environment": 1, "settings": 1}


@pytest.mark.parametrize("options", [[], ["--select", "+keystone"]])
def test_run_begins_with_one_read_and_one_write_transaction(tiny: CommandLine, options: list[str]) -> None:
    counts = counted(tiny, "graph", "execute", "--env", "prod", *NOOP, *options)
    assert counts.pop("other reads") == 1  # whether files of deleted runs are to be removed
    assert counts == {"read": 1, "write": 1, "environment": 1, "settings": 1}
    while "running" in tiny("task", "list").out:
        time.sleep(0.1)


@pytest.mark.parametrize("concerns_it", [True, False])
def test_run_is_prepared_again_if_its_inputs_change(tmp_path: Path, concerns_it: bool) -> None:
    fuel2 = tiny_engine(tmp_path)
    asked: list[int] = []

    def provider(path: str, run: Run) -> MachineExecutor:
        """Change the engine file while the run is checked, the first time."""
        if not asked and concerns_it:
            fuel2.ok("graph", "upload", "--env", 1, "--file", "-", stdin="- {id: banner, type: skipped}\n")
        elif not asked:
            fuel2.ok("env", "create", "other", "--release", 1)
        asked.append(run.id)
        return executor_for(path, run)

    started: list[Prepared | None] = []
    with closing(Database(str(fuel2.engine))) as database:
        runs = Runs(database, start=lambda *given: started.append(given[3]), provider=provider)
        run = runs.begin(RunRequest(1, noop=True))
        rows = {row.task: row.type for row in runs.history(run.id)}
    assert len(asked) == 1 + concerns_it
    assert (rows["banner"] == "skipped") is concerns_it
    [prepared] = started
    assert prepared is not None
    assert prepared.plan.digest == run.children[0].digest


def test_what_is_prepared_arrives_whole_or_not_at_all(tmp_path: Path) -> None:
    fuel2 = tiny_engine(tmp_path)
    with closing(Database(str(fuel2.engine))) as database:
        request = RunRequest(1, noop=True)
        runs = Runs(database)
        inputs = runs.inputs(request)
        prepared = Prepared(inputs, plan(inputs, request, "default"))
    data = packed(prepared)
    arrived = unpacked(data)
    assert arrived is not None
    assert (arrived.inputs, arrived.plan.digest) == (inputs, prepared.plan.digest)
    assert [unpacked(data[:size]) for size in (0, 7, 8, 100, len(data) - 1)] == [None] * 5


def test_a_run_that_is_overtaken_again_and_again_is_refused(tmp_path: Path) -> None:
    fuel2 = tiny_engine(tmp_path)
    changes = itertools.count()

    def provider(path: str, run: Run) -> MachineExecutor:
        """Change the graph each time that the run is checked."""
        task = f"- {{id: banner-{next(changes)}, type: skipped}}\n"
        fuel2.ok("graph", "upload", "--env", 1, "--file", "-", stdin=task)
        return executor_for(path, run)

    with closing(Database(str(fuel2.engine))) as database:
        runs = Runs(database, start=lambda *_: None, provider=provider)
        with pytest.raises(Conflict, match="was changed 3 times while its run was prepared"):
            runs.begin(RunRequest(1, noop=True))
        assert runs.list() == []
