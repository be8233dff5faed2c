"""Small packages, each a text of metadata and some files."""

from __future__ import annotations

from pathlib import Path

import pytest
from unit.plugins.load.loading import HEAD, Build


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Makes a package of the given metadata (behind the head, which has three lines) and files."""

    def package(metadata: str = "", *, head: str = HEAD, **named: str) -> Path:
        root = tmp_path / "sample"
        root.mkdir(exist_ok=True)
        (root / "metadata.yaml").write_text(head + metadata)
        for name, text in named.items():
            path = root / name.replace("__", "/").replace("_yaml", ".yaml").replace("_json", ".json")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return root

    return package
