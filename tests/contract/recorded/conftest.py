"""The Nailgun backend, and the commands, on the recordings of a real master."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import Done, fuel2
from recordings import TOKEN, Replay

OnMaster = Callable[..., Done]


@pytest.fixture
def on_master(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> OnMaster:
    """Run a command line on a replay, in an empty directory: `on_master(Replay("a step"), "env", "list")`."""
    monkeypatch.setenv("OS_TOKEN", TOKEN)
    monkeypatch.chdir(tmp_path)

    def run(replay: Replay, *arguments: object, stdin: str = "") -> Done:
        with replay.served() as url:
            return fuel2("--server", url, *arguments, stdin=stdin)

    return run
