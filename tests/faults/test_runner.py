"""A runner that is killed: what it had begun is taken over, and the outcome is that of a run that nobody disturbed."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from executions import TOLERANT, Executions, executions, shell, stage

from fuelclient.engine.recovery import NOT_STARTED
from fuelclient.errors import Conflict, StalePlan
from fuelclient.model.task import Task
from fuelclient.model.transaction import HistoryFilter

NODES = 5
COMMANDS = 12


def graph(env: Executions) -> list[Task]:
    """Sixty commands on five nodes, in three stages, with a limit, a failure of one node, and tasks that wait for
    other nodes. Each command notes its beginning and its end."""
    tasks = [TOLERANT, stage("begin"), stage("middle", requires=["begin"]), stage("end", requires=["middle"])]
    for number in range(COMMANDS):
        early = number < COMMANDS // 2
        before = [f"t{number - 1}"] if number % 3 else []
        attributes: dict[str, Any] = {
            "requires": ["begin" if early else "middle", *before],
            "required_for": ["middle" if early else "end"],
        }
        if number == 4:
            attributes["cross_depends"] = [{"name": "t1", "role": "compute"}]
        middle = "sleep 0.02" if number != 7 else "sleep 0.02; [ UID != 3 ]"
        begin, end = env.note(f"begin t{number} UID"), env.note(f"end t{number} UID")
        cmd = f"{begin}; {middle}; code=$?; {end}; exit $code"
        rendered = {"yaql_exp": f"'{cmd}'.replace('UID', $.uid)"}
        tasks.append(shell(f"t{number}", rendered, **attributes))
    return tasks


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Executions]:
    """An environment on which the graph has run to its end."""
    env = executions(tmp_path_factory.mktemp("undisturbed"), NODES)
    env.graph(*graph(env))
    env.run()
    yield env
    env.backend.close()


def kill(env: Executions, transaction_id: int) -> bool:
    """Kill whoever runs the transaction, as soon as there is somebody; False when it has ended."""
    while not env.backend.transactions.get(transaction_id).is_final:
        runner = env.runner()
        if runner is not None and runner.pid != NOT_STARTED:
            os.kill(runner.pid, signal.SIGKILL)
            return True
        time.sleep(0.005)
    return False


def is_gone(env: Executions, transaction_id: int) -> None:
    env.until(transaction_id, lambda found: found.is_final or found.runner == "gone")


def disturbed(env: Executions, seed: int) -> int:
    """Execute the graph, killing its runner three times; how often that was in time."""
    chance = random.Random(seed)  # noqa: S311 - the same moments each time are the point
    env.graph(*graph(env))
    begun = env.begin()
    kills = 0
    for _ in range(3):
        time.sleep(chance.uniform(0, 0.9))
        if not kill(env, begun.id):
            break
        kills += 1
        is_gone(env, begun.id)
        if env.backend.transactions.get(begun.id).is_final:
            break
        env.backend.transactions.resume(begun.id)
    env.ended(begun.id)
    return kills


def check(env: Executions, undisturbed: Executions) -> None:
    assert env.outcomes(1) == undisturbed.outcomes(1)
    assert env.statuses() == undisturbed.statuses()
    assert str(env.backend.transactions.get(1).status) == str(undisturbed.backend.transactions.get(1).status)
    assert env.backend.transactions.get(1).message == undisturbed.backend.transactions.get(1).message
    assert Counter(env.noted()) == Counter(undisturbed.noted()), "no command ran twice, and none was left out"
    assert all(row.time_end is not None for row in env.rows(1))


@pytest.mark.parametrize("seed", [pytest.param(seed, marks=[pytest.mark.slow]) for seed in range(200)])
def test_a_killed_runner_leaves_no_trace_in_the_outcome(tmp_path: Path, undisturbed: Executions, seed: int) -> None:
    env = executions(tmp_path, NODES)
    try:
        assert disturbed(env, seed) >= 0
        check(env, undisturbed)
    finally:
        env.backend.close()


def test_the_undisturbed_run_is_what_it_seems(undisturbed: Executions) -> None:
    """One node fails at one task; what follows there never runs; everybody else goes on."""
    outcomes = undisturbed.outcomes(1)

    assert len(outcomes) == NODES * COMMANDS + 3
    assert outcomes["t7@3"] == ("error", "")
    assert outcomes["t8@3"] == ("skipped", "dep_failed")
    assert outcomes["t11@4"] == ("ready", "")
    assert undisturbed.statuses() == {1: "ready", 2: "ready", 3: "error", 4: "ready", 5: "ready"}
    assert str(undisturbed.backend.transactions.get(1).status) == "ready"
    noted = Counter(undisturbed.noted())
    assert set(noted.values()) == {1}
    assert noted["begin t0 5"] == 1


@pytest.fixture
def env(tmp_path: Path) -> Iterator[Executions]:
    found = executions(tmp_path, 2)
    yield found
    found.backend.close()


def killed(env: Executions, cmd: str) -> int:
    """A transaction whose runner was killed while `cmd` was running on both nodes."""
    env.graph(shell("slow", cmd), shell("next", env.note("next"), requires=["slow"]))
    begun = env.begin()
    env.until(begun.id, lambda _: len(env.backend.transactions.history(begun.id, RUNNING)) == 2 and env.noted())
    assert kill(env, begun.id)
    is_gone(env, begun.id)
    return begun.id


RUNNING = HistoryFilter(statuses=("running",))


def test_a_command_that_outlives_its_runner_is_waited_for(env: Executions) -> None:
    transaction_id = killed(env, f"{env.note('began')}; sleep 1.5; {env.note('ended')}")

    assert env.backend.transactions.get(transaction_id).runner == "gone"
    env.backend.transactions.resume(transaction_id)
    found = env.ended(transaction_id)

    assert str(found.status) == "ready"
    assert Counter(env.noted()) == {"began": 2, "ended": 2, "next": 2}


def test_who_executes_meanwhile_is_told_what_to_do(env: Executions) -> None:
    transaction_id = killed(env, f"{env.note('began')}; sleep 1")

    with pytest.raises(Conflict, match=rf"Transaction {transaction_id} has not ended .* runner was killed.*resume"):
        env.begin()
    env.backend.transactions.stop(transaction_id)
    found = env.backend.transactions.get(transaction_id)

    assert str(found.status) == "error"
    assert env.outcomes(transaction_id)["slow@1"] == ("error", "interrupted")
    assert env.outcomes(transaction_id)["next@1"] == ("skipped", "stopped")
    assert env.statuses() == {1: "error", 2: "error"}
    assert env.runner() is None
    with pytest.raises(Conflict, match="has ended"):
        env.backend.transactions.resume(transaction_id)


def test_a_graph_that_was_changed_is_not_resumed(env: Executions) -> None:
    transaction_id = killed(env, f"{env.note('began')}; sleep 1")
    env.graph(shell("slow", "true"), shell("next", env.note("next"), requires=["slow"]))

    with pytest.raises(StalePlan, match="has changed since"):
        env.backend.transactions.resume(transaction_id)
    assert str(env.backend.transactions.get(transaction_id).status) == "running"


def machine_died(env: Executions, cmd: str) -> int:
    """A transaction whose runner was killed together with everything that it had started."""
    env.graph(shell("slow", cmd), shell("next", env.note("next"), requires=["slow"]))
    begun = env.begin()
    env.until(begun.id, lambda _: len(env.noted()) == 2)
    assert kill(env, begun.id)
    is_gone(env, begun.id)
    for path in Path(f"{env.engine}.runs").glob("*/*/*/slow/pid"):
        leader = int(path.read_text(encoding="utf-8").split()[0])
        os.killpg(leader, signal.SIGKILL)
    return begun.id


def test_what_nobody_knows_the_end_of_asks(env: Executions) -> None:
    transaction_id = machine_died(env, f"{env.note('began')}; sleep 30; {env.note('ended')}")

    env.backend.transactions.resume(transaction_id)
    found = env.until(transaction_id, lambda one: one.runner == "gone" and "not known" in told(env, transaction_id))

    assert str(found.status) == "running"
    for row in env.backend.transactions.history(transaction_id, RUNNING):
        assert (row.task, row.reason, row.attempts) == ("slow", "interrupted", 1)
    with pytest.raises(Conflict, match=r"It is not known how these ended.*: slow@1, slow@2\..*--rerun-interrupted"):
        env.backend.transactions.resume(transaction_id)


def test_what_was_interrupted_is_run_again_when_somebody_says_so(env: Executions) -> None:
    cmd = f"{env.note('began')}; [ $(grep -c began {env.notes}) -gt 2 ] || sleep 30; {env.note('ended')}"
    transaction_id = machine_died(env, cmd)

    env.backend.transactions.resume(transaction_id, rerun_interrupted=True)
    found = env.ended(transaction_id)

    assert str(found.status) == "ready"
    assert Counter(env.noted()) == {"began": 4, "ended": 2, "next": 2}
    slow = env.backend.transactions.history(transaction_id, HistoryFilter(tasks=("slow",)))
    assert [(row.attempts, row.reason) for row in slow] == [(2, ""), (2, "")]


def told(env: Executions, transaction_id: int) -> str:
    """What the newest event says."""
    return env.backend.transactions.events(transaction_id)[-1].message
