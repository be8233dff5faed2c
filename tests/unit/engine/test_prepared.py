"""The pipe through which a runner gets what its starter has prepared."""

from __future__ import annotations

import os
import threading

import pytest

from fuelclient.engine.runs.background import hand_over, received, unpacked


def test_more_than_a_pipe_holds_goes_through() -> None:
    there, here = os.pipe()
    data = os.urandom(3_000_000)
    writer = threading.Thread(target=hand_over, args=(here, data))
    writer.start()
    assert received(there) == data
    writer.join()


def test_a_starter_goes_on_without_its_runner() -> None:
    there, here = os.pipe()
    os.close(there)
    hand_over(here, b"x" * 3_000_000)
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(here)


@pytest.mark.parametrize("written", [b"", b"\0" * 7, b"\0\0\0\0\0\0\0\x09only"])
def test_a_runner_goes_on_without_its_starter(written: bytes) -> None:
    there, here = os.pipe()
    os.write(here, written)
    os.close(here)
    assert unpacked(received(there)) is None


@pytest.mark.slow
@pytest.mark.parametrize("written", [b"", b"\0\0\0\0\0\0\0\x09only"])
def test_neither_waits_for_long_for_a_stopped_one(written: bytes) -> None:
    there, here = os.pipe()
    os.write(here, written)
    assert unpacked(received(there)) is None
    os.close(here)
    there, here = os.pipe()
    hand_over(here, b"x" * 3_000_000)
    os.close(there)
