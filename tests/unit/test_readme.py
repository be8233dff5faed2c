"""The first session of README runs and prints what README shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def session() -> list[tuple[str, str]]:
    """Return each command of the session with the output shown for it."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    [block] = re.findall(r"^```console\n(.*?)^```$", text, re.M | re.S)
    parts = re.split(r"^\$ (.*)\n", block, flags=re.M)[1:]
    return list(zip(parts[::2], parts[1::2], strict=True))


def pattern_of(shown: str) -> str:
    """Return a regular expression for `shown`, where `...` stands for any text."""
    return ".*".join(re.escape(part) for part in shown.strip().split("..."))


def test_the_first_session_prints_what_it_shows(tmp_path: Path) -> None:
    environ = {
        "HOME": str(tmp_path),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "LC_ALL": "C.UTF-8",
    }

    for command, shown in session():
        done = subprocess.run(
            command,
            shell=True,
            cwd=tmp_path,
            env=environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,  # one of the commands shows an error
        )

        assert re.fullmatch(pattern_of(shown), done.stdout.strip(), re.S), f"$ {command}\n{done.stdout}"


def test_the_session_shows_output_for_every_command() -> None:
    commands = session()

    assert len(commands) > 3
    assert all(shown.strip() for _, shown in commands)
