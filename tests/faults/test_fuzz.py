"""A little of what `make fuzz` does, with one seed: nothing ends in an error that is not of this package."""

from __future__ import annotations

from pathlib import Path

import pytest
from fuzz.__main__ import inputs_of, main
from fuzz.mutation import LONGEST, fuzz
from fuzz.targets import TARGETS

EXECUTIONS = 150


@pytest.mark.parametrize("name", TARGETS)
def test_mutations_end_in_errors_of_the_package(name: str) -> None:
    with TARGETS[name].execute() as execute:
        found = fuzz(name, execute, TARGETS[name].seeds, EXECUTIONS, "1").found

    if found is not None:
        found.error.add_note(f"{found.data!r}")
        raise found.error


def test_an_error_of_another_kind_is_found() -> None:
    def fails_on_zero(data: bytes) -> None:
        assert b"\0" not in data

    found = fuzz("planted", fails_on_zero, [b"planted"], 10_000, "1").found

    assert found is not None
    assert b"\0" in found.data
    assert len(found.data) <= LONGEST
    assert isinstance(found.error, AssertionError)


def test_what_reached_new_lines_is_where_the_next_time_starts(tmp_path: Path) -> None:
    assert main(["40", "1", "subgraph", "--corpus", str(tmp_path)]) == 0
    kept = tmp_path / "subgraph"
    names = {path.name for path in kept.iterdir()}
    assert {path.read_bytes() for path in kept.iterdir()} >= set(TARGETS["subgraph"].seeds)

    (kept / "own").write_bytes(b"t3:t0")
    assert main(["40", "2", "subgraph", "--corpus", str(tmp_path)]) == 0
    assert {path.name for path in kept.iterdir()} >= names
    assert b"t3:t0" in inputs_of("subgraph", tmp_path)
