"""Mutations of texts and bytes, and a loop that keeps those which reach new lines of the package.

New lines are seen on Python 3.12 and later, where that costs next to nothing; before, all mutations start from
seeds.
"""

from __future__ import annotations

import random
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

PACKAGE = "/fuelclient/"
LONGEST = 4096
SECONDS, PATIENCE = 10, 120
"""How much processor time one execution may take, and how long it may wait: a busy machine lets it wait for seconds."""

KEPT = 5_000
"""How many inputs are kept to start from."""

TOKENS = (
    b"\0", b"\xff", b"\n", b"---\n", b"- ", b": ", b"{", b"}", b"[", b"]", b"'", b'"', b"$", b"$.", b"(", b")", b"()",
    b".", b",", b"&a ", b"*a", b"<<: *a", b"!!python/object:x ", b"!!int ", b"0x", b"1e309", b"-1",
    b"null", b"true", b"~", b"|", b"||", b"*", b"+", b"?", b"(a+)+", b"{1,9999}", b"(?:", b"\\d", b"[^a]", b"^", b"/",
    b"../", b"and ", b"or ", b"not ", b" in ", b"==", b"yaql_exp", b"select(", b"toSet()", b"range(9999999)",
    b"pow(9,9999)",
    b"99999999999999999999",
    b"id: ", b"type: ", b"roles: ", b"requires: ", b"parameters: ", b"\xed\xa0\x80", b"\xe2\x80\xae", b"\xc2\x85",
)  # fmt: skip


class TooSlow(BaseException):
    """An execution took longer than it may."""


def mutated(chance: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Return `data` after one to eight changes."""
    for _ in range(1 << chance.randrange(4)):
        at, end = sorted((chance.randrange(len(data) + 1), chance.randrange(len(data) + 1)))
        end = min(end, at + 64)
        match chance.randrange(7):
            case 0:
                data = data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]
            case 1:
                data = data[:at] + data[end:]
            case 2:
                data = data[:end] + data[at:end] * chance.choice((1, 1, 2, 50)) + data[end:]
            case 3:
                other = chance.choice(others)
                begin = chance.randrange(len(other) + 1)
                data = data[:at] + other[begin : begin + chance.randrange(64)] + data[at:]
            case 4:
                flipped = bytes(byte ^ 1 << chance.randrange(8) for byte in data[at : at + 1])
                data = data[:at] + flipped + data[at + 1 :]
            case _:
                data = data[:at] + chance.choice(TOKENS) + data[at if chance.random() < 0.5 else end :]
    return data[:LONGEST]


@dataclass(frozen=True)
class Found:
    """An input that ended in an error of no known kind, or took too long."""

    target: str
    data: bytes
    error: BaseException


@dataclass(frozen=True)
class Fuzzed:
    """What came of fuzzing a target: the inputs that reached new lines, the seconds that the slowest one took, and the
    first find."""

    kept: Sequence[bytes]
    slowest: float
    found: Found | None


def fuzz(target: str, execute: Callable[[bytes], None], seeds: Sequence[bytes], executions: int, seed: str) -> Fuzzed:
    """Execute `seeds`, and mutations of them and of what reached new lines, until the first find."""
    chance = random.Random(seed)  # noqa: S311 - a seed repeats what was found
    inputs, slowest = list(seeds), 0.0
    with _NewLines() as new, _Limit() as limit:
        for number in range(executions):
            data = inputs[number] if number < len(seeds) else mutated(chance, chance.choice(inputs), inputs)
            began = time.process_time()
            try:
                with limit:
                    execute(data)
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt):
                    raise
                return Fuzzed(inputs[len(seeds) :], slowest, Found(target, data, error))
            slowest = max(slowest, time.process_time() - began)
            if new.seen() and number >= len(seeds) and len(inputs) < KEPT:
                inputs.append(data)
    return Fuzzed(inputs[len(seeds) :], slowest, None)


class _Limit:
    """Raises `TooSlow` in its block after `SECONDS` of processor time, or after `PATIENCE` seconds."""

    def __enter__(self) -> _Limit:
        signal.signal(signal.SIGPROF, self._raise)
        signal.signal(signal.SIGALRM, self._raise)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        signal.setitimer(signal.ITIMER_REAL, PATIENCE)
        return self

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)

    def _raise(self, number: int, _frame: FrameType | None) -> None:
        limit = f"{SECONDS} s of processor time" if number == signal.SIGPROF else f"{PATIENCE} s"
        raise TooSlow(f"more than {limit}, ended {time.ctime()}")


class _NewLines:
    """Tells whether a line of the package was reached for the first time since it was asked."""

    def __init__(self) -> None:
        self._new = False
        self._monitoring: Any = getattr(sys, "monitoring", None)

    def __enter__(self) -> _NewLines:
        if self._monitoring is not None:
            own = self._monitoring.COVERAGE_ID
            self._monitoring.use_tool_id(own, "fuzz")
            self._monitoring.register_callback(own, self._monitoring.events.LINE, self._line)
            self._monitoring.set_events(own, self._monitoring.events.LINE)
        return self

    def __exit__(self, *_: object) -> None:
        if self._monitoring is not None:
            self._monitoring.set_events(self._monitoring.COVERAGE_ID, 0)
            self._monitoring.free_tool_id(self._monitoring.COVERAGE_ID)
            self._monitoring.restart_events()

    def _line(self, code: CodeType, _line: int) -> object:
        self._new |= PACKAGE in code.co_filename
        return self._monitoring.DISABLE

    def seen(self) -> bool:
        new, self._new = self._new, False
        return new
