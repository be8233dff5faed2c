"""Evaluate in a process of its own what no count bounds: it has limits of processor time and memory, and can be killed.

Such expressions are rare (see `library.UNCOUNTED`, and patterns with references to groups). The process gets the facts
once, answers one expression after another, and ends with the views that it belongs to, or with its parent.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import weakref
from collections.abc import Callable, Mapping
from typing import IO, Any

from fuelclient.expressions import limits
from fuelclient.expressions.budget import give_turn_back, set_apart, take_turn
from fuelclient.expressions.errors import ExpressionError, MissingFact
from fuelclient.expressions.facts import Facts, Past, View, Views
from fuelclient.expressions.functions import UNDEFINED

_PR_SET_PDEATHSIG = 1  # linux/prctl.h

_EVALUATOR = """
from fuelclient.expressions import child_process, yaql_engine
child_process.serve(lambda text, view: yaql_engine.parse(text).value(view))
"""
"""The program of the process: only there does this module need the one that uses it."""

Evaluate = Callable[[str, View], Any]


class Exhausted(Exception):
    """An evaluation has exceeded a limit of its process."""

    def __init__(self, reason: str, hint: str) -> None:
        super().__init__(reason)
        self.hint = hint


def value(text: str, view: View) -> Any:
    """The value of an expression as `Yaql.value` does.

    Raise `ExpressionError`, `Exhausted` for a limit, and `Crowded` as `take_turn` does.
    """
    take_turn()
    try:
        process = view.views.apart
        if process is None:
            process = view.views.apart = _Process(view.views)
        return process.value(text, view)
    finally:
        give_turn_back()


class _Killed(Exception):
    """The process of an evaluation was killed, and not by one of its limits."""


class _Process:
    """The process that evaluates expressions for some views."""

    def __init__(self, views: Views) -> None:
        self._views = weakref.ref(views)
        self.process: subprocess.Popen[bytes] | None = None

    def value(self, text: str, view: View) -> Any:
        # Linux kills the process when the thread that started it ends, though the views may go on in another
        for _ in range(2):
            with contextlib.suppress(_Killed):
                kind, answer, touched = self._answer(text, view)
                break
        else:
            raise Exhausted("its process was killed twice", "Does this machine have enough memory?")
        if touched:
            view.views.reads.mark()
        if kind == "failed":
            message, hint = answer
            raise ExpressionError(message, text, hint=hint)
        if kind == "missing":
            message, path, hint = answer
            raise MissingFact(message, text, path, hint=hint)
        return UNDEFINED if kind == "undefined" else answer

    def _answer(self, text: str, view: View) -> tuple[str, Any, bool]:
        process = self.process or self._started()
        assert process.stdin  # noqa: S101 - both are pipes
        assert process.stdout  # noqa: S101 - both are pipes
        try:
            _send(process.stdin, (text, view.uid, view.moment))
            answer: tuple[str, Any, bool] = pickle.load(process.stdout)  # noqa: S301 - our own process
        except (EOFError, OSError, pickle.UnpicklingError):
            self.process = None
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(1)  # so that its own exit code tells why
            raise _why(_end(process)) from None
        return answer

    def _started(self) -> subprocess.Popen[bytes]:
        views = self._views()
        assert views is not None  # noqa: S101 - the views ask
        process = subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-P", "-c", _EVALUATOR, str(os.getpid())],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        weakref.finalize(views, _end, process)
        moments = {key: _parts(facts) for key, facts in views.past.moments.items()}
        assert process.stdin  # noqa: S101 - a pipe
        _send(process.stdin, (limits.seconds(), _parts(views.facts), moments))
        self.process = process
        return process


def _parts(facts: Facts) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    return facts.common, facts.nodes


def _send(stream: IO[bytes], message: Any) -> None:
    pickle.dump(message, stream)
    stream.flush()


def _end(process: subprocess.Popen[bytes]) -> int:
    """End a process, and return its exit code."""
    for stream in (process.stdin, process.stdout):
        if stream:
            with contextlib.suppress(BrokenPipeError):  # a request that it has not read
                stream.close()
    process.kill()
    return process.wait()


def _why(code: int) -> Exhausted | _Killed:
    if code == -signal.SIGKILL:
        return _Killed()
    if code == -signal.SIGXCPU:
        hint = "Compute it in the task itself, or raise EXPRESSION_SECONDS in a settings file."
        return Exhausted(f"it takes more than {limits.seconds()} seconds of processor time", hint)
    return Exhausted(f"it takes more than {limits.MEMORY // 2**20} MB of memory", "Compute it in the task itself.")


def serve(evaluate: Evaluate) -> None:
    """Answer the requests of the parent, on standard input, until it closes the pipe."""
    import resource

    _end_with(int(sys.argv[1]))
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    seconds, now, moments = pickle.load(requests)  # noqa: S301 - the parent is our own process
    views = Views(Facts(*now), Past({key: Facts(*parts) for key, parts in moments.items()}, {}), memoise=False)
    set_apart()
    # What this imports is none of the memory of an expression.
    _evaluated(evaluate, views, ("regex('a').matches('a')", "null", None))
    with open("/proc/self/statm", encoding="ascii") as size:
        taken = int(size.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + limits.MEMORY, taken + limits.MEMORY))
    while True:
        try:
            request = pickle.load(requests)  # noqa: S301 - as above
        except EOFError:
            return
        used = resource.getrusage(resource.RUSAGE_SELF)
        resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + seconds + 1, -1))
        _send(answers, _evaluated(evaluate, views, request))


def _evaluated(evaluate: Evaluate, views: Views, request: tuple[str, str, Any]) -> tuple[str, Any, bool]:
    """The kind of an answer, the value or the error, and whether it was read from what differs between nodes."""
    text, uid, moment = request
    views.reads.reset()
    try:
        answer = evaluate(text, View(views, uid, moment))
    except MissingFact as error:
        return "missing", (error.message, error.path, error.hint), views.reads.node
    except ExpressionError as error:
        return "failed", (error.message, error.hint), views.reads.node
    if answer is UNDEFINED:
        return "undefined", None, views.reads.node
    return "value", answer, views.reads.node


def _end_with(parent: int) -> None:
    """Have Linux kill this process when its parent ends, also in the middle of an evaluation."""
    if sys.platform != "linux":
        return
    import ctypes

    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before the call
        sys.exit()
