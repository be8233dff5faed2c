"""Processes of their own that run code which a test has as a text."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    """A process that runs `code` in the checkout, so that it can import the package; whoever starts it waits for it."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        cwd=_ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
