"""`fuel2`: the program's entry point.

Questions that the command table answers (`fuel2`, `--help`, `help`, `--version`) never import the command
framework; everything else is handed to `fuelclient.commands.shell`.
"""

from __future__ import annotations

import atexit
import gc
import io
import os
import sys
from collections.abc import Sequence
from typing import TextIO

_NEW_OBJECTS = 100_000
"""How many containers come into being before the collector looks at them, in place of Python's 700."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code (see `fuelclient.commands.exits`); nothing is raised."""
    if argv is None:  # a process of our own
        _collect_rarely()
    arguments = list(sys.argv[1:] if argv is None else argv)
    _prepare_streams()
    code = _exit_code(arguments)
    try:
        sys.stderr.flush()
    except OSError:  # its terminal has gone, or its disk is full: nobody is left to be told
        _forget(sys.stderr)
    return code


def _exit_code(arguments: list[str]) -> int:
    code = 0
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        _forget(sys.stdout)
        return 141
    except OSError as error:  # a full disk behind stdout; what a command itself meets is reported by the shell
        _forget(sys.stdout)
        if not code:
            sys.stderr.write(f"stdout cannot be written: {error.strerror}.\n")
        return code or 1
    return code


def _run(arguments: list[str]) -> int:
    answer = _answer(arguments)
    if answer:
        sys.stdout.write(answer)
        return 0
    from fuelclient.commands.shell import FuelShell

    return FuelShell().run(arguments)


def _answer(arguments: list[str]) -> str:
    """What the command table alone can say to this line, or an empty string."""
    if arguments in ([], ["-h"], ["--help"], ["help"], ["help", "--all"]):
        from fuelclient.commands.overview import overview

        return overview(everything="--all" in arguments)
    if arguments == ["--version"]:
        from fuelclient.commands.overview import version

        return version()
    return ""


def _collect_rarely() -> None:
    """Cycles are looked for once in a while, and at the end not at all.

    A short command makes modules and values that live until it ends: looking for garbage among them, again and again,
    is a sixth of its time. Servers and the terminal UI keep a collector that works: between two collections their
    cycles may hold some tens of megabytes.
    """
    gc.set_threshold(_NEW_OBJECTS)
    atexit.register(gc.freeze)  # the interpreter's last collections then find nothing to look at


def _prepare_streams() -> None:
    """Replace streams that the caller closed (`>&-`), which Python leaves out, by ones that go nowhere; characters that
    the locale does not have are escaped, whatever is printed."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 (it lives as long as we do)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _forget(stream: TextIO) -> None:
    """Send what is still buffered nowhere: the reader has left, and the interpreter would complain at exit, and end
    with a code of its own."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


if __name__ == "__main__":
    sys.exit(main())
