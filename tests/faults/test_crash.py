"""Runs of three hundred instances whose runners are killed: the outcome is that of a run that nobody disturbed."""

from __future__ import annotations

import os
import random
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from executions import TOLERANT, Executions, executions, shell, stage
from shared import shared

from fuelclient.backends.local import LocalBackend
from fuelclient.engine.runs.processes import NOT_STARTED
from fuelclient.model.run import HistoryFilter, Run
from fuelclient.model.task import Task
from fuelclient.store.runners import Runner

NODES, TASKS = 6, 50
FAILING, IGNORED, RETRIED, LONE, LEFT_OUT = 31, 12, (5, 22, 40), 17, 9
"""What is special: a task that fails on node 3, one whose failure does not count, some that fail at first, one that
runs on one node at a time, and (each tenth) those whose condition is false."""

SEEDS = [pytest.param(seed, marks=[pytest.mark.slow] if seed else []) for seed in range(334)]


def graph(env: Executions) -> list[Task]:
    """Three hundred commands on six nodes, in three stages. Each notes its beginning and its end."""
    tasks = [TOLERANT, stage("begin"), stage("middle", requires=["begin"]), stage("end", requires=["middle"])]
    for number in range(TASKS):
        early = number < TASKS // 2
        before = [f"t{number - 1}"] if number % 5 else []
        attributes: dict[str, Any] = {
            "requires": ["begin" if early else "middle", *before],
            "required_for": ["middle" if early else "end"],
            "fail_on_error": number != IGNORED,
            "parameters": _parameters(env, number),
        }
        if number % 12 == 4:
            attributes["cross_depends"] = [{"name": f"t{number - 3}", "role": "compute"}]
        if number == FAILING:
            attributes["requires"] += ["t28", "t40"]  # which wait for other nodes, so either could be first
        if number in (38, 46):
            attributes["requires"] += ["t40"]  # so that the failing task is before them on its node
        if number % 10 == LEFT_OUT:
            attributes["condition"] = False
        tasks.append(shell(f"t{number}", **attributes))
    return tasks


def _parameters(env: Executions, number: int) -> dict[str, Any]:
    """The command: what it does in between decides how it ends, and how long it takes."""
    middle = "true"
    if number % 7 == 0:
        middle = "sleep 0.02"
    if number in RETRIED:
        mark = f"{env.directory}/mark-{number}-UID"
        middle = f"[ -e {mark} ] || {{ : > {mark}; false; }}"
    if number in (FAILING, IGNORED):
        middle = "[ UID != 3 ]"
    begin, end = env.note(f"begin t{number} UID"), env.note(f"end t{number} UID $code")
    cmd = f"{begin}; {middle}; code=$?; {end}; exit $code"
    found = {
        "cmd": {"yaql_exp": f"'{cmd}'.replace('UID', $.uid)"},
        "timeout": 60, "retries": int(number in RETRIED), "interval": 0,
    }  # fmt: skip
    return {**found, "strategy": {"type": "one_by_one"}} if number == LONE else found


@dataclass(frozen=True)
class Quiet:
    """What came of the run that nobody disturbed."""

    outcomes: dict[str, tuple[str, str]]
    codes: dict[str, int | None]
    nodes: dict[int, str]
    status: str
    message: str
    noted: Counter[str]


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Quiet:
    directory = tmp_path_factory.mktemp("quiet")
    shared("undisturbed", _undisturbed, directory)
    with closing(LocalBackend(str(directory / "engine.db"))) as backend:
        return seen(Executions(directory, backend))


def _undisturbed(directory: Path) -> None:
    env = executions(directory, NODES)
    env.graph(*graph(env))
    env.run()
    env.backend.close()


@pytest.fixture
def env(tmp_path: Path) -> Iterator[Executions]:
    found = executions(tmp_path, NODES)
    found.graph(*graph(found))
    yield found
    found.backend.close()


def seen(env: Executions) -> Quiet:
    """What there is to see of transaction 1."""
    ended = env.backend.runs.get(1)
    codes = {f"{row.task}@{row.node}": row.return_code for row in env.rows(1)}
    noted = Counter(env.noted())
    return Quiet(env.outcomes(1), codes, env.statuses(), str(ended.status), ended.message, noted)


def test_the_undisturbed_run_is_what_it_seems(quiet: Quiet) -> None:
    """One node fails at one task; what follows there never runs; everybody else goes on."""
    assert len(quiet.outcomes) == NODES * TASKS + 3
    assert quiet.outcomes[f"t{FAILING}@3"] == ("error", "")
    assert quiet.outcomes[f"t{FAILING + 1}@3"] == ("skipped", "dep_failed")
    assert quiet.outcomes[f"t{IGNORED}@3"] == ("skipped", "failure_ignored")
    assert quiet.outcomes[f"t{LEFT_OUT}@3"] == ("skipped", "condition")
    assert quiet.outcomes[f"t{TASKS - 2}@4"] == ("ready", "")
    assert quiet.nodes == {node: "error" if node == 3 else "ready" for node in range(1, NODES + 1)}
    assert (quiet.status, quiet.noted[f"begin t{RETRIED[0]} 1"], quiet.noted["begin t0 5"]) == ("ready", 2, 1)
    assert sum(quiet.noted.values()) > 2 * 240


def killed(env: Executions) -> bool:
    """The runner of transaction 1 is dead, as soon as there was one; False when the run has ended before."""
    working: list[Runner] = []

    def comes(found: Run) -> bool:
        working[:] = [one for one in [env.runner()] if one is not None and one.pid != NOT_STARTED]
        return bool(working) or found.is_final

    env.until(1, comes)
    for runner in working:
        os.kill(runner.pid, signal.SIGKILL)
    return not env.until(1, lambda found: found.is_final or found.runner == "gone").is_final


@pytest.mark.parametrize("seed", SEEDS)
def test_a_killed_runner_leaves_no_trace_in_the_outcome(env: Executions, quiet: Quiet, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - the same moments each time are the point
    env.begin()
    for _ in range(1 + seed % 2):
        threshold = chance.randrange(NODES * TASKS)
        already = len(env.noted())
        env.until(1, lambda found, until=already + threshold: found.is_final or len(env.noted()) >= until)
        if not killed(env):
            break
        env.backend.runs.resume(1)
    env.ended(1)

    found = seen(env)
    assert found.outcomes == quiet.outcomes
    assert found.codes == quiet.codes
    assert (found.nodes, found.status, found.message) == (quiet.nodes, quiet.status, quiet.message)
    assert found.noted == quiet.noted, "no command ran twice, and none was left out"
    assert all(row.time_end is not None for row in env.rows(1)), "no row was lost"
    begun = env.backend.runs.history(1, HistoryFilter(statuses=("ready", "error")))
    assert {row.attempts for row in begun} == {1}
