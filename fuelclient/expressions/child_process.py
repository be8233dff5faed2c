"""Evaluate expressions by the library in child processes, which have limits of time and memory and can be killed.

A process has at most two of them, which are started when they are first needed and then wait for more expressions.
They get only the facts that an expression names. They end with their parent, however it ends. What starts them is
imported with the first one: it takes 6 ms, and most plans need none.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any

from fuelclient.errors import Unavailable
from fuelclient.expressions import limits
from fuelclient.expressions.facts import Views

AT_ONCE = 2
"""How many children a process has, so that a server has processor time for other requests."""

_PROGRAM = "import sys; from fuelclient.expressions import yaql_library; yaql_library.serve(*map(int, sys.argv[1:]))"


class Exhausted(Exception):
    """An evaluation has exceeded a limit of its process."""

    def __init__(self, reason: str, hint: str) -> None:
        super().__init__(reason)
        self.hint = hint


def answer(text: str, facts: Mapping[str, Any], views: Views) -> Any:
    """What a child answers to an expression and its facts, within the time that is left for those of `views`.

    Raise `Exhausted` for a limit, and `Unavailable` if all children are busy for as long, or if others wait for them
    already. Waiting for a turn does not count as computing: who had none is to try again, not to change its graph.
    A plan that has no time left is not given a turn, for which it would wait, and which would cost a child.
    """
    if views.computed >= limits.seconds():
        raise _too_long()
    with _creating:
        pool = _pool(os.getpid())
    with contextlib.ExitStack() as turn:
        with _counted(views, "waited"):
            turn.enter_context(pool.turn(limits.seconds() - views.waited))
        with _counted(views, "computed"):
            return pool.answer(text, facts, limits.seconds() - views.computed)


@contextlib.contextmanager
def _counted(views: Views, name: str) -> Iterator[None]:
    """Add the seconds of the block to an attribute of `views`."""
    begin = time.monotonic()
    try:
        yield
    finally:
        setattr(views, name, getattr(views, name) + time.monotonic() - begin)


_creating = threading.Lock()  # otherwise threads that are first at the same time would each make a pool


@functools.cache
def _pool(_pid: int) -> _Pool:
    """The children of this process; a fork has its own."""
    pool = _Pool()
    atexit.register(pool.close)
    return pool


class _Killed(Exception):
    """A child has ended, and not at one of its limits."""


class _Child:
    def __init__(self) -> None:
        import subprocess
        from multiprocessing import Pipe

        self._connection, theirs = Pipe()
        program = [sys.executable, "-P", "-c", _PROGRAM, str(theirs.fileno()), str(os.getpid())]
        self._process = subprocess.Popen(  # noqa: S603 - our own module
            program, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()], env={**os.environ, "PYTHONHASHSEED": "0"}, start_new_session=True,
        )  # fmt: skip
        theirs.close()

    def answer(self, text: str, facts: Mapping[str, Any], left: float) -> Any:
        try:
            self._connection.send((text, facts, left))
            if not self._connection.poll(left):
                self._process.kill()
                raise _too_long()
            return self._connection.recv()
        except (EOFError, OSError):
            from subprocess import TimeoutExpired

            with contextlib.suppress(TimeoutExpired):
                self._process.wait(1)  # so that its own exit code tells why
            self._process.kill()
            raise _why(self._process.wait()) from None

    def end(self) -> None:
        self._connection.close()
        self._process.kill()
        self._process.wait()


class _Pool:
    """Children that wait for expressions, at most `AT_ONCE`."""

    def __init__(self) -> None:
        from concurrent.futures import ThreadPoolExecutor

        self._free = threading.BoundedSemaphore(AT_ONCE)
        self._places = threading.BoundedSemaphore(2 * AT_ONCE)  # for who computes or waits; a server has more threads
        self._waiting: list[_Child] = []
        # Linux kills a child when the thread that started it ends, so one thread that lives as long as the process does
        self._starter = ThreadPoolExecutor(1, "expressions")

    @contextlib.contextmanager
    def turn(self, left: float) -> Iterator[None]:
        """Hold one of the children for the block. Raise `Unavailable` if none is free within `left` seconds."""
        with contextlib.ExitStack() as held:
            for semaphore, seconds in ((self._places, 0.0), (self._free, max(0.0, left))):
                if not semaphore.acquire(timeout=seconds):
                    message = f"{AT_ONCE} expressions that take long are being evaluated already."
                    raise Unavailable(message, hint="Try again when they have ended.")
                held.callback(semaphore.release)
            yield

    def answer(self, text: str, facts: Mapping[str, Any], left: float) -> Any:
        until = time.monotonic() + left
        for _ in range(2):
            with contextlib.suppress(_Killed):
                return self._answer(text, facts, until)
        raise Exhausted("its process was killed twice", "Does this machine have enough memory?")

    def close(self) -> None:
        while self._waiting:
            self._waiting.pop().end()

    def _answer(self, text: str, facts: Mapping[str, Any], until: float) -> Any:
        try:
            child = self._waiting.pop()
        except IndexError:
            child = self._starter.submit(_Child).result()
        try:
            answered = child.answer(text, facts, max(0.0, until - time.monotonic()))
        except BaseException:
            child.end()
            raise
        self._waiting.append(child)
        return answered


def _too_long() -> Exhausted:
    hint = "Compute it in the task itself, or raise EXPRESSION_SECONDS in a settings file."
    return Exhausted(f"the expressions of one plan take more than {limits.seconds():g} seconds", hint)


def _why(code: int) -> Exhausted | _Killed:
    import signal

    if code in (0, -signal.SIGKILL):
        return _Killed()
    if code == -signal.SIGXCPU:
        return _too_long()
    return Exhausted(f"it takes more than {limits.MEMORY // 2**20} MB of memory", "Compute it in the task itself.")
