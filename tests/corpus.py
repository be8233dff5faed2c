"""Where the corpus of real plugins and releases lies, for tests that read it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def corpus(*parts: str) -> Path:
    """A file or directory of the corpus; the test is skipped, with the reason, where there is none.

    The corpus is looked for in FUEL_CORPUS, else in `shared/corpus` beside the checkout.
    """
    root = Path(os.environ.get("FUEL_CORPUS") or Path(__file__).resolve().parents[2] / "shared" / "corpus")
    path = root.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"no corpus: {path} does not exist (set FUEL_CORPUS)")
    return path
