"""What deletions leave behind that were killed, and what history may grow to."""

from __future__ import annotations

import errno
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from command_line import CommandLine
from executions import Executions, shell
from processes import eventually

from fuelclient.engine.runs import sweep as delete
from fuelclient.engine.runs.jobs import executor_for
from fuelclient.engine.runs.paths import RESERVE, is_spool_on_nodes, runs_path
from fuelclient.engine.runs.processes import later
from fuelclient.engine.runs.runs import Runs
from fuelclient.engine.runs.sweep import sweep
from fuelclient.errors import Unavailable
from fuelclient.model.node import Node
from fuelclient.store import leftovers
from fuelclient.store.database import Database
from fuelclient.store.leftovers import Leftover

KILLED = """
import os, signal, sys
from fuelclient.main import main

def die(event, arguments):
    if event == "shutil.rmtree":
        os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(die)
sys.argv = ["fuel2", *sys.argv[1:]]
sys.exit(main())
"""
"""`fuel2` that is killed when it begins to remove files."""


def spools(env: Executions) -> list[str]:
    """Return what is left of runs on this machine, without the logs of sweeps."""
    return sorted(path.name for path in Path(f"{env.engine}.runs").iterdir() if path.name != "sweep.log")


def change(env: Executions, statement: str) -> None:
    """Change the engine file as time would."""
    with closing(sqlite3.connect(env.engine)) as connection, connection:
        connection.execute(statement)


def kept(env: Executions) -> list[int]:
    """Return the runs that are left after a sweep."""
    with closing(Database(str(env.engine))) as database:
        sweep(database)
    return [run.id for run in env.backend.runs.list(names=["deploy"])]


@pytest.mark.parametrize("command", [["env", "delete", "1", "--force"], ["task", "delete", "1"]])
def test_deletion_killed_after_commit_is_finished_later(env: Executions, command: list[str]) -> None:
    env.run()
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, "--engine", str(env.engine), *command], check=False, capture_output=True
    )
    assert killed.returncode == -signal.SIGKILL
    fuel2 = CommandLine(env.engine)
    assert fuel2.ok("task", "list", "-f", "json").json == []
    (spool,) = spools(env)  # the log of the runner has gone already

    fuel2.ok("node", "label", "set", "-l", "a=b", "--nodes", 1)  # not due yet: the deletion could still be at work
    change(env, "UPDATE leftovers SET due = '2000-01-01T00:00:00.000000'")
    fuel2.ok("task", "list")
    assert spools(env) == [spool]
    assert not (Path(f"{env.engine}.runs") / "sweep.log").exists(), "only commands that write sweep"

    fuel2.ok("node", "label", "set", "-l", "a=c", "--nodes", 1)
    assert eventually(lambda: not spools(env))
    assert (Path(f"{env.engine}.runs") / "sweep.log").read_text(encoding="utf-8") == ""


def test_removal_that_fails_is_retried_and_given_up(env: Executions) -> None:
    uuid = "0b1c2d3e-0000-4000-8000-000000000001"
    node, roots = Node(7, "gone", executor="no-such-kind"), (f"/var/tmp/fuel2-{uuid}",)  # noqa: S108
    there = Leftover(0, 0, uuid, node, "", ("7 (gone)",), roots)
    with closing(Database(str(env.engine))) as database:
        with database.write() as connection:
            there_id = leftovers.insert(connection, there, "2000-01-01T00:00:00.000000")
        dues = []
        for _ in range(21):
            with database.write() as connection:
                (found,) = delete.claim(connection)
                assert delete.claim(connection) == [], "another sweep leaves it alone"
                dues.append(connection.execute("SELECT due FROM leftovers").fetchone())
                connection.execute("UPDATE leftovers SET due = '2000-01-01T00:00:00.000000'")
            assert found.id == there_id
            (why,) = delete.remove(database, [found], executor_for)
            assert "7 (gone)" in why
        assert dues[:9] == sorted(dues[:9]) != [dues[0]] * 9
        assert dues[-1] is None
        with database.read() as connection:
            assert leftovers.due(connection, "9") == []


def test_no_more_runs_are_kept_than_the_settings_say(env: Executions, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = [env.run(force=True).id for _ in range(4)]
    assert kept(env) == numbers
    monkeypatch.setenv("FUEL_RETENTION_RUNS", "2")
    last = env.run(force=True).id

    assert eventually(lambda: len(spools(env)) == 4)  # of each of two runs, its spool and the log of its runner
    assert kept(env) == [numbers[-1], last]


def test_runs_of_long_ago_go_but_not_the_last_success(env: Executions, monkeypatch: pytest.MonkeyPatch) -> None:
    first, success = env.run().id, env.run(force=True).id
    env.graph(shell("said", "exit 1"))
    failure, latest = env.run(force=True).id, env.run(force=True).id
    change(env, "UPDATE transactions SET time_end = '2001-01-01T00:00:00.000000'")
    assert kept(env) == [success, latest]
    assert first < failure

    change(env, "UPDATE transactions SET time_end = '2001-01-01T00:00:00.000000'")
    monkeypatch.setenv("FUEL_RETENTION_DAYS", "0")
    assert kept(env) == [success, latest]


def test_deletion_while_the_runner_removes_its_reserve(env: Executions, monkeypatch: pytest.MonkeyPatch) -> None:
    run = env.run()
    (reserve := runs_path(str(env.engine)) / run.uuid / RESERVE).write_bytes(b"")
    unlink = os.unlink

    def unlink_too_late(path: str | Path, *, dir_fd: int | None = None) -> None:
        if dir_fd is not None and reserve.exists():  # a directory is being removed
            unlink(reserve)
        unlink(path, dir_fd=dir_fd)

    with monkeypatch.context() as patched:
        patched.setattr(os, "unlink", unlink_too_late)
        assert env.backend.runs.delete(run.id) == ()
    assert spools(env) == []


def test_files_that_cannot_be_seen_are_reported(env: Executions, monkeypatch: pytest.MonkeyPatch) -> None:
    run = env.run()

    def hidden(path: Path) -> os.stat_result:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    with monkeypatch.context() as patched:
        patched.setattr(Path, "lstat", hidden)
        (why,) = env.backend.runs.delete(run.id)
    assert why.endswith("stays: Permission denied.")
    assert spools(env)


def test_history_has_a_limit_of_room(env: Executions, monkeypatch: pytest.MonkeyPatch) -> None:
    env.graph(shell("said", "head -c 900000 /dev/zero"))
    ran = [env.run(force=True) for _ in range(3)]
    numbers = [run.id for run in ran]
    (runs_path(str(env.engine)) / ran[-1].uuid / RESERVE).write_bytes(bytes(2 << 20))  # as if its runner were late
    monkeypatch.setenv("FUEL_RETENTION_MEGABYTES", "2")

    assert kept(env) == numbers[1:]
    assert len(spools(env)) == 4


def test_no_more_runs_go_than_must_whatever_takes_the_room(env: Executions, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = [env.run(force=True).id for _ in range(3)]
    first_events = "SELECT min(id) FROM events GROUP BY parent_id"
    change(env, f"UPDATE events SET message = hex(zeroblob(450000)) WHERE id IN ({first_events})")  # noqa: S608
    monkeypatch.setenv("FUEL_RETENTION_MEGABYTES", "2")

    assert kept(env) == numbers[1:]


def test_a_run_without_an_end_is_as_old_as_its_beginning(env: Executions, monkeypatch: pytest.MonkeyPatch) -> None:
    first, latest = env.run(force=True).id, env.run(force=True).id
    change(env, "UPDATE transactions SET time_end = NULL")
    assert kept(env) == [first, latest]
    monkeypatch.setenv("FUEL_RETENTION_DAYS", "1")
    change(env, "UPDATE transactions SET time_start = '2001-01-01T00:00:00.000000'")

    assert kept(env) == [latest]


def test_runs_stay_while_a_resumable_run_compares_with_them(env: Executions, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, interrupted = (env.run(force=True).id for _ in range(3))
    monkeypatch.setenv("FUEL_RETENTION_RUNS", "1")
    change(env, f"UPDATE transactions SET status = 'running' WHERE id = {interrupted}")  # noqa: S608
    assert kept(env) == [first, second, interrupted]

    CommandLine(env.engine).ok("task", "stop", interrupted)
    assert kept(env) == [interrupted]


def test_a_user_deletes_runs_by_age(env: Executions) -> None:
    ran = [env.run(force=True) for _ in range(3)]
    assert {run.status for run in ran} == {"ready"}, ran
    numbers = [run.id for run in ran]
    fuel2 = CommandLine(env.engine)
    assert fuel2.ok("task", "delete", "--older-than", "1d").out == "0 tasks deleted\n"
    # Not so old that the limit of a year holds: the last runner's own sweep, which may be late, would delete it first.
    change(env, f"UPDATE transactions SET time_end = '{later(timedelta(days=-10))}' WHERE id < 3")  # noqa: S608

    assert fuel2.ok("task", "delete", "--older-than", "1d", "--env", 1).out == "1 task deleted\n"

    assert [run.id for run in env.backend.runs.list(names=["deploy"])] == numbers[1:]
    assert fuel2("task", "delete").code == fuel2("task", "delete", 3, "--older-than", "1d").code == 2
    assert fuel2("task", "delete", numbers[1], "--env", 1).code == 2


def test_outputs_stay_if_their_run_cannot_be_deleted(env: Executions) -> None:
    run_id = env.run().id
    with closing(sqlite3.connect(env.engine, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with closing(Database(str(env.engine), busy_seconds=0.1)) as own, pytest.raises(Unavailable, match="locked"):
            Runs(own).delete(run_id)

    assert env.backend.runs.logs(run_id, "said", "1").output == "here\n"


@pytest.mark.parametrize("uuid", ["/VICTIM", "../victim", ""])
def test_nothing_is_removed_outside_the_directory_of_runs(tmp_path: Path, uuid: str) -> None:
    """An engine file that was imported or restored may name anything."""
    victim = tmp_path / "victim"
    (tmp_path / "engine.db.runs").mkdir()
    victim.mkdir()

    told = delete._remove_here(str(tmp_path / "engine.db"), Leftover(1, 5, uuid.replace("/VICTIM", str(victim))))

    assert "no UUID" in told
    assert victim.is_dir()
    assert (tmp_path / "engine.db.runs").is_dir()
    assert not is_spool_on_nodes("/var/tmp/fuel2-../../etc")  # noqa: S108
