"""Limits on the length of files and functions, and on vague names."""

from __future__ import annotations

import ast
from pathlib import Path

from failures import failures

ROOT = Path(__file__).resolve().parents[2]
FILE_LINES = 600
FUNCTION_LINES = 60
VAGUE = {"utils.py", "util.py", "helpers.py", "helper.py", "common.py", "misc.py"}

MODULES = sorted((ROOT / "fuelclient").rglob("*.py"))


def test_modules_and_functions_are_short() -> None:
    def check(path: Path) -> None:
        source = path.read_text(encoding="utf-8")
        assert len(source.splitlines()) <= FILE_LINES
        long = [
            f"{node.name} ({node.end_lineno - node.lineno + 1} lines)"
            for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and node.end_lineno is not None
            and node.end_lineno - node.lineno + 1 > FUNCTION_LINES
        ]
        assert not long, f"split these functions: {', '.join(long)}"

    assert failures(MODULES, check) == {}


def test_no_module_has_a_vague_name() -> None:
    assert MODULES
    assert not [path for path in MODULES if path.name in VAGUE]


def test_every_module_has_a_docstring() -> None:
    def check(path: Path) -> None:
        assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))

    assert failures(MODULES, check) == {}
