"""Streams that are lost before the end, or take a part of what they get."""

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


_ALMOST_FULL = """
import io, os, sys
from fuelclient.main import main

class Disk(io.RawIOBase):
    taken = b""

    def writable(self):
        return True

    def write(self, data):
        self.taken += bytes(data[:3])
        return min(3, len(data))

disk = Disk()
sys.stdout = io.TextIOWrapper(disk, encoding="utf-8", write_through=True)
sys.argv = ["fuel2", "--version"]
code = main()
print(code, disk.taken, file=sys.stderr, flush=True)
os._exit(0)
"""


def test_what_a_raw_stdout_does_not_take_at_once_is_written_again() -> None:
    """With PYTHONUNBUFFERED, stdout is raw; a disk that is almost full takes a part of what it gets."""
    done = subprocess.run([sys.executable, "-c", _ALMOST_FULL], capture_output=True, text=True, check=True)
    assert done.stderr.startswith("0 b'fuel2 12")
    assert done.stderr.endswith("\\n'\n")


def test_what_a_lost_terminal_did_not_take_changes_no_exit_code() -> None:
    master, slave = pty.openpty()
    quiet = subprocess.DEVNULL
    with subprocess.Popen([sys.executable, "-c", _WAITS], stdin=quiet, stdout=quiet, stderr=slave) as process:
        os.close(slave)
        assert os.read(master, 1) == b"."
        os.close(master)
        assert process.wait(60) == 129
