"""A disk without a single free byte: what is there can be looked at, and deleting a run makes room.

The disk is a small file system in memory. It is mounted where nobody else sees it: this module runs itself once more in
a mount namespace of its own, does there what `_inside` says, and prints what came of it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine
from executions import Executions, executions, shell
from sshd import can_isolate

from fuelclient.engine.runs.processes import NOT_STARTED
from fuelclient.model.status import RunStatus

_SIZE, _OUTPUT = "24m", 4_000_000
_LOG = 500_000
"""The bytes that the engine file's log may take of what was freed: the deletion itself is written there."""


def test_a_run_can_be_deleted_and_makes_room(tmp_path: Path) -> None:
    seen = _seen(tmp_path, "ended")

    assert seen["list"] == [0, ""]
    assert seen["delete"][0] == 0, seen
    assert seen["after"] == [0, "[]"]
    assert seen["freed"] >= _OUTPUT - _LOG


def test_a_run_whose_runner_was_killed_can_be_deleted_by_force(tmp_path: Path) -> None:
    seen = _seen(tmp_path, "killed")

    assert seen["stop"][0] == 3, seen
    assert "cannot grow: the disk is full. Free some space; nothing was changed." in seen["stop"][1]
    assert seen["delete"][0] == 0, seen
    assert seen["after"] == [0, "[]"]
    assert seen["freed"] >= _OUTPUT - _LOG


def test_run_that_fills_the_disk_fails_with_the_path(tmp_path: Path) -> None:
    seen = _seen(tmp_path, "filled")

    assert seen["status"] == "error"
    assert seen["message"] == f"The disk of {tmp_path}/engine/engine.db is full."
    assert seen["rows"] == {"fills@1": "error", "next@1": "skipped"}
    assert seen["free"], "another run may begin"


def _seen(directory: Path, how: str) -> dict[str, Any]:
    if not can_isolate():
        pytest.skip("a disk that is full needs a mount namespace, for which one has to be root")
    root = Path(__file__).resolve().parents[2]
    paths = os.pathsep.join(str(path) for path in (root, root / "tests" / "support"))
    done = subprocess.run(
        ["unshare", "--mount", sys.executable, __file__, str(directory), how],
        stdout=subprocess.PIPE, text=True, check=True, env={**os.environ, "PYTHONPATH": paths},
    )  # fmt: skip
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _inside(disk: Path, how: str) -> dict[str, Any]:
    """What can be done with a run that has `ended`, or whose runner was `killed`, once the disk is full."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={_SIZE}", "none", str(disk)], check=True)
    env = executions(disk / "engine", 1)
    if how == "filled":
        return _filled(env, disk)
    wait = "" if how == "ended" else f"; until [ -e {disk}/go ]; do sleep 0.05; done"
    env.graph(shell("talks", f"head -c {_OUTPUT} /dev/zero; {env.note('said')}{wait}"))
    number = env.begin().id
    if how == "ended":
        env.ended(number)
    else:
        env.until(number, lambda _: env.noted())
        _kill(env, number)
    env.backend.close()
    _fill(disk)
    fuel2 = CommandLine(env.engine)
    listed = fuel2("task", "list", "-f", "json")
    seen: dict[str, Any] = {"list": [listed.code, listed.err]}
    if how == "killed":
        stopped = fuel2("task", "stop", number)
        seen["stop"] = [stopped.code, stopped.err]
    deleted = fuel2("task", "delete", number, *(["--force"] if how == "killed" else []))
    seen["delete"] = [deleted.code, deleted.err]
    found = os.statvfs(disk)
    seen["freed"] = found.f_bavail * found.f_frsize
    (disk / "go").touch()
    after = fuel2("task", "list", "-f", "json")
    return {**seen, "after": [after.code, after.out.strip()]}


def _filled(env: Executions, disk: Path) -> dict[str, Any]:
    """What becomes of a run whose only command takes all the room that is left, again and again."""
    fills = f"while :; do cat /dev/zero >> {disk}/ballast; sleep 0.05; done 2> /dev/null"
    env.graph(shell("fills", fills), shell("next", requires=["fills"]))
    ended = env.ended(env.begin().id)
    (disk / "ballast").unlink()
    rows = {name: status for name, (status, _) in env.outcomes(ended.id).items()}
    env.graph(shell("fine"))
    free = env.run().status == "ready"
    return {"status": ended.status, "message": ended.message, "rows": rows, "free": free}


def _kill(env: Executions, number: int) -> None:
    runner = env.runner()
    assert runner is not None
    assert runner.pid != NOT_STARTED
    os.kill(runner.pid, signal.SIGKILL)
    env.until(number, lambda found: found.status is RunStatus.RUNNING and found.runner == "gone")


def _fill(disk: Path) -> None:
    """There is not a byte left."""
    handle = os.open(disk / "ballast", os.O_WRONLY | os.O_CREAT)
    size = 1 << 16
    while size:
        try:
            os.write(handle, b"x" * size)
        except OSError:
            size //= 2
    os.close(handle)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(_inside(Path(sys.argv[1]), sys.argv[2])))
