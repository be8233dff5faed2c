"""The entry point of `fuel2`.

This is a package because python-fuelclient has a module of this name: installed into the same environment, it
overwrites files of ours, and Python prefers a package to a module. So this one still runs, and says what happened.

What the command table alone can answer (`fuel2`, `--help`, `help`, `--version`), and what a shell runs at each press
of Tab (`complete --words`), never imports the command framework; `fuelclient.commands.shell` handles everything else.
"""

from __future__ import annotations

import atexit
import gc
import io
import os
import sys
from collections.abc import Sequence
from typing import TextIO

import fuelclient

COLLECTION_THRESHOLD = 100_000
"""How many new containers trigger the garbage collector; Python's default is 700."""

_OLDER_THRESHOLD = 50
"""After how many collections the survivors are searched, too; Python's default is 10. A graph of 20 000 tasks makes a
million containers, and searching all of them takes a tenth of an answer about it."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code (see `fuelclient.commands.exits`). Raise nothing."""
    if argv is None:  # run as a program, which may change the process
        _collect_rarely()
        _buffer_stdout()
    arguments = list(sys.argv[1:] if argv is None else argv)
    _prepare_streams()
    code = _exit_code(arguments)
    try:
        sys.stderr.flush()
    except OSError:  # its terminal is gone or its disk is full: there is nowhere left to report this
        _discard(sys.stderr)
    return code


def _exit_code(arguments: list[str]) -> int:
    code = 0
    if not hasattr(fuelclient, "_Absent"):  # these are the first lines of another distribution
        sys.stderr.write(_overwritten())
        return 7
    try:
        if text := _answer(arguments):
            from fuelclient.commands.global_options import show

            show(text, sys.stdout)
        else:
            from fuelclient.commands.shell import FuelShell

            code = FuelShell().run(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        _discard(sys.stdout)
        return 141
    except OSError as error:  # from stdout, such as a full disk; the shell reports errors of commands
        _discard(sys.stdout)
        if not code:
            sys.stderr.write(f"Cannot write to stdout: {error.strerror}.\n")
        return code or 1
    return code


def _overwritten() -> str:
    """What to do about another distribution that has overwritten `fuelclient/__init__.py`."""
    from fuelclient import installed

    others = installed.intruders()
    names = " and ".join(others) or "another package"
    return (
        f"Files of fuelclient were overwritten by {names} in the environment {sys.prefix}; "
        f"both cannot be in one. To keep fuel2 here:\n  {installed.reinstalling(*others)}\n"
    )


def _answer(arguments: list[str]) -> str:
    """The output if it needs no command framework, else an empty string."""
    if arguments in ([], ["-h"], ["--help"], ["help"], ["help", "--all"]):
        from fuelclient.commands.global_options import overview

        return overview(everything="--all" in arguments)
    if arguments == ["--version"]:
        from fuelclient.commands.global_options import version

        return version()
    if arguments[:2] == ["complete", "--words"]:
        from fuelclient.commands.completion import answer

        return answer(arguments[2:])
    return ""


def _collect_rarely() -> None:
    """Collect garbage rarely, and not at all at the end.

    Almost all objects of a short command live until it ends, and searching them for garbage takes a sixth of its time.
    The server and the terminal UI still collect: between two collections their cycles may hold some tens of
    megabytes.
    """
    gc.set_threshold(COLLECTION_THRESHOLD, _OLDER_THRESHOLD)
    atexit.register(gc.freeze)  # leaves nothing for the interpreter's last collections


def _prepare_streams() -> None:
    """Replace streams that the caller closed (`>&-`), which are None in Python, by /dev/null; writing to stdout fails,
    as it does in other programs. Make both output streams escape characters that the locale cannot encode."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, os.O_WRONLY if name == "stderr" else os.O_RDONLY)
            setattr(sys, name, os.fdopen(opened, "r" if name == "stdin" else "w", encoding="utf-8"))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _buffer_stdout() -> None:
    """Give a raw stdout (PYTHONUNBUFFERED) a buffer: it drops what an almost full disk does not take, and says
    nothing."""
    stream = sys.stdout
    if isinstance(stream, io.TextIOWrapper) and isinstance(stream.buffer, io.RawIOBase):
        encoding = stream.encoding
        raw = stream.detach()
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(raw), encoding, line_buffering=True)
        sys.__stdout__ = sys.stdout  # type: ignore[misc]  # where Python measures the terminal


def _discard(stream: TextIO) -> None:
    """Send buffered output to /dev/null; else the interpreter would report an error at exit and change the exit
    code."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
