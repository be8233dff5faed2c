"""Every function of YAQL ends on sequences that do not end, whatever it is called with."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import endless_expressions
import pytest
import yaql  # type: ignore[import-untyped]

from fuelclient.expressions.library import UNCOUNTED


def functions() -> list[str]:
    """The functions and methods of YAQL, without those that a process with limits of its own evaluates."""
    names: set[str] = set()
    layer = yaql.create_context()
    while layer is not None:
        names |= {name for name in layer._functions if name.isidentifier()}
        layer = layer.parent
    return sorted(names - UNCOUNTED)


@pytest.mark.slow
@pytest.mark.parametrize("name", functions())
def test_a_function_ends_on_endless_sequences(name: str) -> None:
    done = subprocess.run(
        [sys.executable, endless_expressions.__file__, name],
        cwd=Path(__file__).resolve().parents[3], capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, (done.stdout.splitlines()[-1:], done.stderr[-1000:])
