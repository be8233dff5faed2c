"""Tests pass whatever the user who runs them has configured."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from fuelclient.settings import SPECS

ROOT = Path(__file__).resolve().parents[2]

SELECTED = (
    "tests/contract/test_graphs.py::TestGraph::test_a_second_upload_replaces_the_tasks_only[remote]",
    "tests/golden/test_formats.py",
    "tests/snapshots/test_pictures.py::test_examples[environments-80x24]",
    "tests/unit/commands/test_config.py",
    "tests/unit/commands/test_execute.py::test_a_run_that_is_waited_for",
    "tests/unit/plugins/test_build.py::test_what_was_built_unpacks_into_what_was_packed",
    "tests/unit/test_docs_sessions.py::test_a_guide_prints_what_it_shows[package.md]",
    "tests/unit/test_isolation.py::test_nothing_of_the_user_is_left",
    "tests/unit/test_settings.py",
)
"""Tests that read settings, print tables, speak HTTP, start a runner, build a package and draw."""

HOSTILE = {
    **{variable: "/nonexistent/x" for spec in SPECS for variable in spec.environment},
    **{f"XDG_{name}": "/proc/nope" for name in ("CACHE_HOME", "CONFIG_HOME", "DATA_HOME", "RUNTIME_DIR", "STATE_HOME")},
    "COLUMNS": "20", "DASK_CONFIG": "/proc/nope", "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "1ms",
    "FORCE_COLOR": "1", "FUELCLIENT_CUSTOM_SETTINGS": "/nonexistent/settings.yaml", "GIT_DIR": "/proc/nope",
    "KEYSTONE_PASS": "p", "KEYSTONE_USER": "u", "LC_ALL": "C", "LINES": "3", "LISTEN_PORT": "x", "NO_COLOR": "1",
    "PYTHONHASHSEED": "7", "PYTHONWARNINGS": "error", "SERVER_ADDRESS": "http://127.0.0.1:1", "SERVER_PORT": "x",
    "SOURCE_DATE_EPOCH": "x", "SSH_AUTH_SOCK": "/proc/nope", "TERM": "dumb", "TEXTUAL_THEME": "nope",
    "TZ": "Asia/Kathmandu", "http_proxy": "http://127.0.0.1:1", "https_proxy": "http://127.0.0.1:1",
}  # fmt: skip


@pytest.mark.slow
def test_settings_of_the_user_change_no_test(tmp_path: Path) -> None:
    own = tmp_path / ".config" / "fuel" / "fuel_client.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("SERVER_ADDRESS: 127.0.0.1:1\nENGINE: /proc/nope\n", encoding="utf-8")
    # What hangs shows where, long before the time is up.
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-o", "faulthandler_timeout=240"]
    command = [sys.executable, "-m", "pytest", *options, *SELECTED]
    environment = {
        "PATH": os.environ["PATH"], "HOME": str(tmp_path), "TMPDIR": tempfile.gettempdir(), **HOSTILE
    }  # fmt: skip

    done = subprocess.run(
        command, cwd=ROOT, env=environment, umask=0o077, capture_output=True, text=True, check=False, timeout=900
    )

    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


def test_the_place_of_the_corpus_is_kept() -> None:
    code = "import conftest, os; print(os.environ.get('FUEL_CORPUS'), os.environ.get('FUEL_ENGINE'))"
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join(str(ROOT / part) for part in ("tests", "tests/support")),
        "FUEL_CORPUS": "/c",
        "FUEL_ENGINE": "/e",
    }

    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)

    assert done.stdout == "/c None\n"


def test_nothing_of_the_user_is_left() -> None:
    assert not {"FUEL_ENGINE", "SERVER_ADDRESS", "XDG_DATA_HOME", "COLUMNS", "http_proxy"} & set(os.environ)
    assert os.environ["TERM"] != "dumb"
    assert Path.home().parent == Path(tempfile.gettempdir())
    # Programs that other tests have started may have left files there, but the user's settings are not among them.
    assert not (Path.home() / ".config" / "fuel" / "fuel_client.yaml").exists()
    mask = os.umask(0o022)
    os.umask(mask)
    assert mask == 0o022
