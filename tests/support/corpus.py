"""Find the corpus of real plugins and releases."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def corpus(*parts: str) -> Path:
    """Return a file or directory of the corpus; skip the test if it does not exist.

    The corpus is in the directory FUEL_CORPUS, by default `shared/corpus` beside the checkout.
    """
    root = Path(os.environ.get("FUEL_CORPUS") or Path(__file__).resolve().parents[3] / "shared" / "corpus")
    return _existing(root.joinpath(*parts))


def public(*parts: str) -> Path:
    """Return a file or directory of the public packages, releases and facts beside the corpus; skip the test if it
    does not exist."""
    return _existing(corpus().parent.joinpath("public", *parts))


def _existing(path: Path) -> Path:
    if not path.exists():
        pytest.skip(f"no corpus: {path} does not exist (set FUEL_CORPUS)")
    return path
