"""Compare processes with different hash seeds, which iterate over sets of strings in different orders."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import zip_longest
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]


def same_answer(code: str, *arguments: str, seeds: int = 3) -> str:
    """Return what `code` prints, and assert that it is the same under several hash seeds. It imports what tests do."""
    answers = [_answer(code, arguments, str(seed)) for seed in range(1, seeds + 1)]
    differing = [lines for lines in zip_longest(*map(str.splitlines, answers)) if len({*lines}) > 1]
    assert answers == answers[:1] * seeds, differing[:1]
    return answers[0]


def _answer(code: str, arguments: tuple[str, ...], seed: str) -> str:
    environment = {
        **os.environ,
        "PYTHONHASHSEED": seed,
        "PYTHONPATH": os.pathsep.join(str(_ROOT / part) for part in ("", "tests", "tests/support")),
    }
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=environment, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout
