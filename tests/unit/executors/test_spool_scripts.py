"""Races in the scripts of the spool, made certain by a tool that does in between what another process might."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from fuelclient.executors import spool_scripts


def test_a_job_that_another_executor_just_ran_is_started_by_neither_again_nor_refused(tmp_path: Path) -> None:
    """Its leader empties every script in the spool, also the one that is about to be measured here."""
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
