"""Of what a command writes, every kind of executor keeps the first megabyte and the last ones, and says what is left
out."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import pytest
from contract.executors.conftest import Place
from processes import eventually

MEGABYTE = 1 << 20
CUT = re.compile(rb"\n\[(\d+) bytes are left out here: OUTPUT_MEGABYTES is (\d+)\]\n")


@cache
def numbers() -> bytes:
    return "".join(f"{number}\n" for number in range(1, 1_500_001)).encode()


def kept(written: bytes, megabytes: int) -> bytes:
    """Return what is to be kept of an output."""
    left = len(written) - megabytes * MEGABYTE
    if left <= 0:
        return written
    line = f"\n[{left} bytes are left out here: OUTPUT_MEGABYTES is {megabytes}]\n".encode()
    return written[:MEGABYTE] + line + written[len(written) - (megabytes - 1) * MEGABYTE :]


SIZES = [
    (0, 2), (1, 2), (MEGABYTE, 2), (2 * MEGABYTE - 1, 2), (2 * MEGABYTE, 2), (2 * MEGABYTE + 1, 2),
    (3 * MEGABYTE + 7, 2), (9 * MEGABYTE + 123, 2), (9 * MEGABYTE + 123, 3), (9 * MEGABYTE + 123, 8),
]  # fmt: skip
QUICK = {("out", 2 * MEGABYTE, 2), ("out", 2 * MEGABYTE + 1, 2), ("err", 9 * MEGABYTE + 123, 3)}
"""What the quick tests write: all that is kept, one byte more, and much more on the other stream."""


@pytest.mark.parametrize(
    ("stream", "size", "megabytes"),
    [
        pytest.param(stream, *size, marks=() if (stream, *size) in QUICK else pytest.mark.slow)
        for size in SIZES
        for stream in ("out", "err")
    ],
)
def test_the_beginning_and_the_end_are_kept(place: Place, stream: str, size: int, megabytes: int) -> None:
    place.options = replace(place.options, output_megabytes=megabytes)
    job = place.job("shell", cmd=f"seq 1 1500000 | head -c {size} {'>&2' if stream == 'err' else ''}", retries=0)

    (outcome,) = place.run(job)

    assert (outcome.status, outcome.rc) == ("ready", 0), outcome
    found = (place.spool(job) / stream).read_bytes()
    assert found == kept(numbers()[:size], megabytes)
    whole = sum(path.stat().st_size for path in place.spool(job).iterdir())
    assert whole < (megabytes + 1) * MEGABYTE


def test_the_outputs_of_many_tries_have_one_limit(place: Place) -> None:
    place.options = replace(place.options, output_megabytes=2)
    job = place.job(
        "shell", cmd=f"seq 1 1500000 | head -c {5 * MEGABYTE}; echo last >&2; exit 3", retries=3, interval=0
    )

    (outcome,) = place.run(job)

    assert outcome.message.endswith("last")
    found = (place.spool(job) / "out").read_bytes()
    assert len(found) < 4 * MEGABYTE
    assert found.startswith(numbers()[:MEGABYTE])
    assert found.endswith(numbers()[4 * MEGABYTE : 5 * MEGABYTE])
    assert CUT.search(found)


def test_lines_are_readable_at_once_and_kept_whole(place: Place) -> None:
    go, begun = place.root / "go", place.root / "begun"
    cmd = (
        f"for i in $(seq 300); do echo line $i; done; touch {begun}; until [ -e {go} ]; do sleep 0.05; done; "
        "for i in $(seq 301 600); do echo line $i; done"
    )
    job = place.job("shell", cmd=cmd)
    place.leave(job, begun)
    expected = "".join(f"line {number}\n" for number in range(1, 601))
    first = expected[: expected.index("line 301\n")]

    # what the command has written goes through a pipe, and may come a moment later than its file
    assert eventually(lambda: place.with_executor(lambda executor: executor.read(job, "out")) == first.encode())
    go.touch()
    assert (outcome := place.recover(job)) is not None
    assert outcome.status == "ready"
    assert (place.spool(job) / "out").read_text() == expected


def test_a_process_that_outlives_its_command_may_go_on_writing(place: Place) -> None:
    """Nothing waits for it, and nothing ends it."""
    go, done = place.root / "go", place.root / "done"
    late = f"until [ -e {go} ]; do sleep 0.05; done; echo late && touch {done}"
    job = place.job("shell", cmd=f"setsid bash -c '{late}' & echo hi")

    (outcome,) = place.run(job)

    assert (outcome.status, outcome.summary["out"]) == ("ready", "hi")
    go.touch()
    assert eventually(lambda: done.exists() and (place.spool(job) / "out").read_text() == "hi\nlate\n", 60)
