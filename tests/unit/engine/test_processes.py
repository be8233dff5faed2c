"""Whether a process that once was a runner still is there."""

from __future__ import annotations

import os
import subprocess
import time
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from fuelclient.engine import Engine
from fuelclient.engine.runs import processes
from fuelclient.model.cluster import Cluster
from fuelclient.model.release import Release
from fuelclient.model.run import PARENT, Run, RunRequest
from fuelclient.model.status import RunStatus
from fuelclient.store import runners, runs
from fuelclient.store.database import Database
from fuelclient.store.inventory import clusters, releases

PARENT_RUN = Run(1, "u", 1, PARENT, RunStatus.RUNNING, RunRequest(1))


def test_this_process_lives() -> None:
    assert processes.is_alive(processes.this_process(PARENT_RUN))
    assert processes.this_process(PARENT_RUN).pid == os.getpid()


def test_reused_process_id_or_new_boot_is_another_process() -> None:
    runner = processes.this_process(PARENT_RUN)

    assert not processes.is_alive(replace(runner, boot_id="another"))
    assert not processes.is_alive(replace(runner, start_time="1"))


def test_ended_process_is_gone_even_if_not_collected() -> None:
    process = subprocess.Popen(["sleep", "30"])
    runner = processes.this_process(PARENT_RUN, pid=process.pid)
    try:
        assert processes.is_alive(runner)
        process.kill()
        while processes.start_time(process.pid):
            time.sleep(0.01)
        assert not processes.is_alive(runner)
    finally:
        process.wait()
    assert not processes.is_alive(runner)


def test_a_process_that_is_being_started_has_half_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    runner = processes.this_process(PARENT_RUN, pid=processes.NOT_STARTED)
    assert processes.is_alive(runner)

    monkeypatch.setattr(processes, "now", lambda: runner.heartbeat.replace("20", "21", 1))

    assert not processes.is_alive(runner)


def test_runner_in_another_pid_namespace_lives_by_heartbeat() -> None:
    """Its number means another process here, or none."""
    runner = processes.this_process(PARENT_RUN)
    boot = runner.boot_id.partition(" ")[0]
    elsewhere = replace(runner, boot_id=f"{boot} pid:[1]", start_time="1")

    assert processes.is_alive(elsewhere)
    assert not processes.is_alive(replace(elsewhere, heartbeat=processes.later(timedelta(minutes=-10))))
    assert processes.is_alive(replace(runner, boot_id=boot)), "as earlier versions wrote it"


@pytest.mark.parametrize("read", ["get", "list"])
def test_a_run_that_ends_while_it_is_read_has_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: str) -> None:
    """The runner stores the end and exits between the transaction that reads the run and the look at its process."""
    path = str(tmp_path / "engine.db")
    with closing(Engine(path)) as engine, closing(Database(path)) as runner:
        with runner.write() as connection:
            release = releases.insert(connection, Release(0, "r", "1"))
            cluster = clusters.insert(connection, Cluster(0, "c", release))
            run_id = runs.insert(connection, replace(PARENT_RUN, cluster_id=cluster, request=RunRequest(cluster)))
            running = replace(PARENT_RUN, id=run_id, cluster_id=cluster)
            runners.put(connection, processes.this_process(running))

        def ended_meanwhile(_pid: int) -> str:
            with runner.write() as connection:
                runs.update(connection, replace(running, status=RunStatus.READY))
            return ""

        monkeypatch.setattr(processes, "start_time", ended_meanwhile)
        run = engine.runs.get(run_id) if read == "get" else engine.runs.list()[0]
    assert (run.status, run.runner) == ("ready", "")
