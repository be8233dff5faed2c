"""Streams that are lost before the end: the exit code is that of the command all the same."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

_WAITS = """
import os, sys
from fuelclient import main
from fuelclient.commands.shell import FuelShell
sys.stderr.reconfigure(line_buffering=False, write_through=False)

def ended(shell, arguments):
    sys.stderr.write("the last words")
    try:
        while True:
            os.write(2, b".")
    except OSError:
        return 129

FuelShell.run = ended
sys.exit(main.main(["tui"]))
"""


def test_what_a_lost_terminal_did_not_take_changes_no_exit_code() -> None:
    master, slave = pty.openpty()
    quiet = subprocess.DEVNULL
    with subprocess.Popen([sys.executable, "-c", _WAITS], stdin=quiet, stdout=quiet, stderr=slave) as process:
        os.close(slave)
        assert os.read(master, 1) == b"."
        os.close(master)
        assert process.wait(60) == 129
