"""The contracts on imports hold: floors, pure floors, front ends."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_import_contracts_hold() -> None:
    pytest.importorskip("importlinter", reason="import-linter comes with the extra [test]")
    code = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(no_cache=True))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_two_modules_import_each_other() -> None:
    """Not inside functions either, nor for types only."""
    files = {".".join(file.relative_to(ROOT).with_suffix("").parts): file for file in ROOT.glob("fuelclient/**/*.py")}
    arrows = set()
    for name, file in files.items():
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                found = {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
                arrows |= {(name, other) for other in found & files.keys()}
    assert len(arrows) > 1000
    assert [arrow for arrow in arrows if arrow[::-1] in arrows] == []
