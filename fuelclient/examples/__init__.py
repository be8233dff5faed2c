"""Examples that come with the package: a release, two plugins, nodes and graphs of an environment.

All of it is data; README.md beside this file says what each part is. `fuel2 demo` loads it.
"""

from __future__ import annotations

from pathlib import Path


def directory() -> Path:
    """Where the examples lie: `release/`, `plugins/`, `cluster/` and `nodes.yaml`."""
    return Path(__file__).parent
