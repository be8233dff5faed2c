"""What every kind of executor does with jobs that are stopped, or whose runner is gone, and with what they leave."""

from __future__ import annotations

import asyncio
import os
import signal
from dataclasses import replace

import pytest
from contract.executors.conftest import Place
from processes import eventually, living

from fuelclient.executors.executor import MachineExecutor
from fuelclient.executors.job import Job, Outcome


def waiting(place: Place, task: str = "task", then: str = "echo ended", **parameters: object) -> Job:
    """A job whose command begins with a line in the file `task`, and waits for the file `go`."""
    cmd = f"echo x >> {place.root}/{task}; until [ -e {place.root}/go ]; do sleep 0.05; done; {then}"
    return place.job("shell", task, cmd=cmd, **{"timeout": 60, "retries": 0, **parameters})


def test_a_kill_ends_the_command_and_makes_no_retry(place: Place) -> None:
    job = waiting(place, retries=5)

    async def killed(executor: MachineExecutor) -> Outcome:
        running = asyncio.ensure_future(executor.run(job, place.lines.append))
        assert await asyncio.to_thread(eventually, (place.root / "task").exists, 60)
        await executor.kill(job)
        return await running

    outcome = place.with_executor(killed)
    assert (outcome.status, outcome.reason) == ("error", "interrupted")
    assert outcome.message.startswith("stopped")
    assert (place.root / "task").read_text() == "x\n"


def test_what_a_dead_runner_left_is_ended_by_another(place: Place) -> None:
    sleeper = place.root / "sleeper"
    sleeper.write_text("trap '' TERM\nwhile :; do sleep 0.1; done\n")
    job = waiting(place, then="", retries=5)
    job = replace(
        job, parameters={**job.parameters, "cmd": f"bash {sleeper} & touch {place.root}/task; bash {sleeper}"}
    )
    place.leave(job, place.root / "task")
    assert living(f"bash {sleeper}")

    place.with_executor(lambda executor: executor.kill(job))

    assert not living(f"bash {sleeper}")
    outcome = place.recover(job)
    assert outcome is not None
    assert outcome.message.startswith("stopped")


def test_a_job_that_was_killed_before_it_began_never_begins(place: Place) -> None:
    job = place.job("shell", cmd=f"touch {place.root}/ran")
    place.with_executor(lambda executor: executor.kill(job))
    (outcome,) = place.run(job)
    assert outcome.status == "error"
    assert not (place.root / "ran").exists()


def test_another_runner_takes_a_result_and_waits_for_what_runs(place: Place) -> None:
    done = place.job("shell", "done", cmd=f"echo x >> {place.root}/done; exit 4", retries=0)
    runs, new = waiting(place, "runs"), place.job("shell", "new", cmd=f"echo x >> {place.root}/new")
    place.run(done)
    place.leave(runs, place.root / "runs")
    (place.root / "go").touch()
    outcomes = [place.recover(job) for job in (done, runs, new)]
    assert [outcome and (outcome.status, outcome.rc) for outcome in outcomes] == [
        ("error", 4), ("ready", 0), ("ready", 0),
    ]  # fmt: skip
    assert [(place.root / name).read_text() for name in ("done", "runs", "new")] == ["x\n"] * 3


def test_another_runner_makes_the_retries_that_are_left(place: Place) -> None:
    job = waiting(place, then="exit 9", retries=2, interval=0.1)
    place.leave(job, place.root / "task")
    (place.root / "go").touch()
    outcome = place.recover(job)
    assert outcome is not None
    assert (outcome.rc, outcome.summary["tries"]) == (9, 3)
    assert (place.root / "task").read_text() == "x\n" * 3


def test_a_lost_result_is_for_a_person_to_decide(place: Place) -> None:
    job = waiting(place)
    place.leave(job, place.root / "task")
    leader = int((place.spool(job) / "pid").read_text().split()[0])
    os.killpg(leader, signal.SIGKILL)
    assert place.recover(job) is None
    (outcome,) = place.run(replace(place.job("shell", cmd="echo again"), attempt=2))
    assert outcome.summary["out"] == "again"


def test_two_executors_run_one_job_once(place: Place) -> None:
    job = place.job("shell", cmd=f"echo x >> {place.root}/log; sleep 0.3; exit 5", retries=0)

    async def both(executor: MachineExecutor) -> list[Outcome]:
        other = MachineExecutor(place.options)
        try:
            return list(await asyncio.gather(*(each.run(job, place.lines.append) for each in (executor, other))))
        finally:
            await other.close()

    outcomes = place.with_executor(both)
    assert [outcome.rc for outcome in outcomes] == [5, 5], (outcomes, place.lines)
    assert (place.root / "log").read_text() == "x\n"
    assert [path.name for path in place.spool(job).glob("claim.*")] == ["claim.1.1"]


def test_spools_are_removed_but_not_under_a_command_that_runs(place: Place) -> None:
    job = waiting(place)
    place.leave(job, place.root / "task")
    assert "still runs" in place.forget()
    (place.root / "go").touch()
    assert eventually((place.spool(job) / "rc").exists)
    assert eventually(lambda: place.forget() == "")
    assert not place.spools.exists()
    assert place.forget() == "", "nothing is there any more"


def test_spools_of_another_user_are_left_alone(place: Place) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root may give directories away")
    place.spools.mkdir(parents=True)
    os.chown(place.spools, 65534, 65534)
    for kind, parameters in (("shell", {"cmd": "true"}), ("upload_file", {"path": f"{place.root}/x", "data": "x"})):
        (outcome,) = place.run(place.job(kind, **parameters))
        assert outcome.status == "error"
        assert str(place.spools) in outcome.message
    assert place.forget()
    assert place.spools.exists()
