"""What holds for every test: properties are judged by their answers, not by how busy the machine is, and what the tests
start can be interrupted."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings
from opened import close_all

settings.register_profile("fuelclient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("fuelclient")

# A shell that puts a job into the background lets it ignore interrupts, and so would everything that the job starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def close_what_was_opened() -> Iterator[None]:
    """Close the engine files that a test opened."""
    yield
    close_all()
