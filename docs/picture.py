"""Draw docs/preview.svg, what a terminal shows of the merged graph of the packaged example.

Run `.venv/bin/python docs/picture.py`, or `make renew`.
"""

from __future__ import annotations

import fcntl
import io
import os
import pty
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

from rich.console import Console
from rich.text import Text

WIDTH, LINES = 118, 28
LINE = "graph preview --env demo"


PICTURE = Path(__file__).with_name("preview.svg")


def drawn() -> str:
    """Return the picture as SVG."""
    with tempfile.TemporaryDirectory() as directory:
        environ = {"HOME": directory, "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}  # without the user's settings
        fuel2 = str(Path(sys.executable).with_name("fuel2"))
        subprocess.run([fuel2, "demo"], env=environ, check=True, capture_output=True)
        lines = shown([fuel2, *LINE.split()], {**environ, "TERM": "xterm-256color"})
    console = Console(record=True, width=WIDTH, file=io.StringIO())
    console.print(Text(f"$ fuel2 {LINE}", style="bold"))
    for line in [*lines[:LINES], "  ..."]:
        console.print(Text.from_ansi(line), soft_wrap=True)
    return console.export_svg(title="fuel2")


def shown(command: list[str], environ: dict[str, str]) -> list[str]:
    """Return the lines that a command prints on a terminal of `WIDTH` columns, with its colours."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, WIDTH, 0, 0))
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environ)
    os.close(theirs)
    printed = b""
    try:
        while part := os.read(ours, 65536):
            printed += part
    except OSError:  # what Linux raises once the other end is closed
        pass
    os.close(ours)
    if process.wait():
        raise SystemExit(printed.decode())
    return printed.decode().splitlines()


if __name__ == "__main__":
    PICTURE.write_text(drawn(), encoding="utf-8")
