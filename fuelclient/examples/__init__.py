"""Example data: a release, two plugins, nodes, and graphs of an environment.

README.md in this directory describes each part. `fuel2 demo` loads all of it.
"""

from __future__ import annotations

from pathlib import Path


def directory() -> Path:
    """Return the directory with `release/`, `plugins/`, `cluster/` and `nodes.yaml`."""
    return Path(__file__).parent
