"""A little of what `make fuzz` does, with one seed: nothing ends in an error that is not of this package."""

from __future__ import annotations

import pytest
from fuzz.mutation import LONGEST, fuzz
from fuzz.targets import TARGETS

EXECUTIONS = 150


@pytest.mark.parametrize("name", TARGETS)
def test_mutations_end_in_errors_of_the_package(name: str) -> None:
    with TARGETS[name].execute() as execute:
        _, found = fuzz(name, execute, TARGETS[name].seeds, EXECUTIONS, "1")

    if found is not None:
        found.error.add_note(f"{found.data!r}")
        raise found.error


def test_an_error_of_another_kind_is_found() -> None:
    def fails_on_zero(data: bytes) -> None:
        assert b"\0" not in data

    _, found = fuzz("planted", fails_on_zero, [b"planted"], 10_000, "1")

    assert found is not None
    assert b"\0" in found.data
    assert len(found.data) <= LONGEST
    assert isinstance(found.error, AssertionError)
