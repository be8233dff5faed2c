"""Find the corpus of real plugins and releases."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def corpus(*parts: str) -> Path:
    """Return a file or directory of the corpus; skip the test if it does not exist.

    The corpus is in the directory FUEL_CORPUS, by default `shared/corpus` beside the checkout.
    """
    root = Path(os.environ.get("FUEL_CORPUS") or Path(__file__).resolve().parents[2] / "shared" / "corpus")
    path = root.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"no corpus: {path} does not exist (set FUEL_CORPUS)")
    return path
