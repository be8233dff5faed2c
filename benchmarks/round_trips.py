"""Print one table: how many requests commands send to a master, beside the original client.

`python -m benchmarks.round_trips`. The master is a replay of the recordings of a real one, so the figures are exact and
take no other machine.
"""

from __future__ import annotations

import logging
import os
import sys
import tempfile
from pathlib import Path

_TESTS = Path(__file__).resolve().parents[1] / "tests" / "support"


def table() -> None:
    """Print a row for each command that the tests count, and the sum."""
    sys.path.append(str(_TESTS))  # the tests know how to replay the recordings
    from request_counts import COUNTED, CREDENTIALS, requests_of

    os.environ.update(CREDENTIALS)
    logging.disable(logging.CRITICAL)
    print(f"{'requests to a master':<80}{'fuel2':>6}{'original':>10}")
    sums = [0, 0]
    for text in COUNTED:
        with tempfile.TemporaryDirectory(prefix="fuel2-bench-") as directory:
            sent = requests_of(text, Path(directory))
        sums = [sums[0] + sent.ours, sums[1] + sent.theirs]
        print(f"{text:<80}{sent.ours:>6}{sent.theirs:>10}")
    print(f"{'all of these':<80}{sums[0]:>6}{sums[1]:>10}")
    logging.disable(logging.NOTSET)


if __name__ == "__main__":
    table()
