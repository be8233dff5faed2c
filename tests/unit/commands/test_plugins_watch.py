"""`plugins watch` prints what is found at every save, and ends cleanly."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from command_line import tiny_engine
from package_trees import task, write_package

TINY = [{"os": "ubuntu", "version": "tiny-1.0", "mode": ["ha"]}]


def until(stream: IO[str], word: str) -> list[str]:
    """The lines of a stream up to one with `word`."""

    def lines() -> Iterator[str]:
        for line in stream:
            yield line
            if word in line:
                return

    found = list(lines())
    assert found, word
    assert word in found[-1], found
    return found


def test_each_save_is_checked_and_compared(tmp_path: Path) -> None:
    tiny = tiny_engine(tmp_path)
    tasks = {"deployment_tasks.yaml": [task("watch", requires=["netconfig"])]}
    package = write_package(tmp_path / "p", package_version="4.0.0", releases=TINY, files=tasks)
    command = [sys.executable, "-m", "fuelclient.main", "--engine", str(tiny.engine), "plugins", "watch", package]
    with subprocess.Popen(
        [*command, "--env", "1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ}
    ) as watching:
        assert watching.stdout is not None
        assert watching.stderr is not None
        try:
            assert any("+ watch" in line for line in until(watching.stdout, "Order:"))
            text = Path(package, "deployment_tasks.yaml").read_text()
            Path(package, "deployment_tasks.yaml").write_text(text.replace('"watch"', '"seer"'))
            assert any("+ seer" in line for line in until(watching.stdout, "Order:"))
            Path(package, "deployment_tasks.yaml").write_text("[")
            assert any("P037" in line for line in until(watching.stdout, "1 error"))
            watching.send_signal(signal.SIGINT)
            _, err = watching.communicate(timeout=60)
            assert watching.returncode == 0
            assert "Traceback" not in err
        finally:
            watching.kill()
