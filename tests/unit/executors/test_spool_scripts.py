"""Races of several executors that start one job in one spool."""

from __future__ import annotations

import asyncio
import os
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from fuelclient.executors import spool as spool_scripts
from fuelclient.executors.job import Recipe
from fuelclient.executors.local import LocalSpool, LocalTransport
from fuelclient.executors.spool import Seen


def test_job_run_by_another_executor_is_not_started_again(tmp_path: Path) -> None:
    """Its leader empties every script in the spool, also the one that is about to be measured here: a tool does it in
    between, as another process might."""
    spool, tools = tmp_path / "root" / "spool", tmp_path / "tools"
    tools.mkdir()
    other = "#!/bin/sh\necho boot > claim.1.1\nfor file in cmd.*; do : > $file; done\necho '1.1 0 exit' > rc\necho 0\n"
    (tools / "wc").write_text(other)
    (tools / "wc").chmod(0o755)
    script = f"touch {tmp_path}/ran".encode()
    words = [str(spool), str(spool.parent), "1.1", str(len(script)), "0", "4096", spool_scripts.WRAPPER]

    done = subprocess.run(
        ["sh", "-c", spool_scripts.LAUNCH, "fuel2", *words],
        input=script, capture_output=True, check=False, env={"PATH": f"{tools}:{os.defpath}"},
    )  # fmt: skip

    assert (done.returncode, done.stderr) == (0, b"")
    assert b"claim 1.1\nrc 1.1 0 exit\n" in done.stdout
    assert not (tmp_path / "ran").exists()
    assert not list(spool.glob("cmd*"))


def test_executors_in_one_process_start_one_job_once(tmp_path: Path) -> None:
    """A Dask worker starts the tries of several runners in threads of one process."""
    together = threading.Barrier(6)

    def launch(spool: str) -> Seen:
        together.wait()
        recipe = Recipe(f"echo x >> {spool}/log; exit 5")
        return asyncio.run(LocalSpool(LocalTransport(), str(tmp_path / "root"), spool).launch(recipe, "1.1", 0))

    with ThreadPoolExecutor(6) as threads:
        for number in range(20):
            spool = str(tmp_path / "root" / str(number))
            assert all(seen.claimed for seen in threads.map(launch, [spool] * 6))
            assert (Path(spool) / "log").read_text() == "x\n"
