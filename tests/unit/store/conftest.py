from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from fuelclient.store.database import Connection, Database


@pytest.fixture
def make() -> Iterator[Callable[[str], Database]]:
    """What opens engine files that are let go when the test ends."""
    with ExitStack() as stack:
        yield lambda path: stack.enter_context(closing(Database(path)))


@pytest.fixture
def connection(make: Callable[[str], Database], tmp_path: Path) -> Iterator[Connection]:
    """A write transaction on a new engine file."""
    with make(str(tmp_path / "engine.db")).write() as opened:
        yield opened
