"""What a command does not need, it does not import: the run-time twin of the import contracts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"textual", "requests", "keystoneauth1", "keystoneclient", "yaql", "lark", "rustworkx", "tabulate", "cmd2"}


def modules_after(arguments: list[str], tmp_path: Path) -> set[str]:
    """The top-level modules that one command line has imported when it ends."""
    code = (
        "import sys; from fuelclient.main import main; code = main(sys.argv[1:]); "
        "sys.stderr.write('\\nMODULES ' + ' '.join(sorted({name.partition('.')[0] for name in sys.modules})));"
        "raise SystemExit(code)"
    )
    environment = {"HOME": str(tmp_path), "FUEL_ENGINE": str(tmp_path / "engine.db"), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    return set(done.stderr.rpartition("MODULES ")[2].split())


@pytest.mark.parametrize("line", ["", "--help", "-h", "help", "--version", "help --all"])
def test_the_overview_imports_no_framework(line: str, tmp_path: Path) -> None:
    loaded = modules_after(line.split(), tmp_path)
    assert "fuelclient" in loaded
    assert not loaded & (HEAVY | {"cliff", "stevedore", "prettytable", "yaml", "sqlite3", "logging"})


@pytest.mark.parametrize("line", ["graph list", "release list -f json", "node list -f csv", "env list -f value"])
def test_listing_imports_no_documents(line: str, tmp_path: Path) -> None:
    loaded = modules_after(line.split(), tmp_path)
    assert {"cliff", "sqlite3"} <= loaded
    assert not loaded & (HEAVY | {"yaml"})


def test_tabulate_is_imported_for_its_formats(tmp_path: Path) -> None:
    assert "tabulate" in modules_after(["graph", "list", "-f", "rst"], tmp_path)
