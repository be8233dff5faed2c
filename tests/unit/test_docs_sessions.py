"""Every session in the guides and in README.md runs and prints what is shown.

A block after a line that consists of a file name in backticks and a colon becomes that file. The commands of all
`console` blocks of a guide run one after another in one shell, in an empty home. In the output, `...` alone on a line
stands for any lines, and within a line for any text; times, durations and uuids are samples. What needs a master or a
second machine is in blocks of another kind.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from fuelclient.commands.shell import FuelShell

ROOT = Path(__file__).resolve().parents[2]
HOME = "/home/me"
"""The home directory that the guides show."""

_FILE = re.compile(r"^`([\w./-]+)`:\n\n```\w+\n(.*?)^```$", re.M | re.S)
_SESSION = re.compile(r"^```console\n(.*?)^```$", re.M | re.S)
_COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)\n", re.M)
_END = "-- end of a command of the guide --"
_SAMPLES = {
    "uuid": r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    "moment": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}",
    "seconds": r"\b\d+\.\d+ seconds",
    "duration": r"\bin \d+:\d\d\.",
}
_TIMEOUT = 240
"""Seconds for one guide, even on a busy machine."""


@dataclass(frozen=True)
class Step:
    """A file to write, or a command with the output shown for it."""

    command: str
    shown: str
    is_file: bool = False


def steps_of(text: str) -> list[Step]:
    """Return the files and commands of a guide in the order of the text."""
    placed = [(match.start(), [Step(match[1], match[2], is_file=True)]) for match in _FILE.finditer(text)]
    for block in _SESSION.finditer(text):
        parts = _COMMAND.split(block[1])
        assert not parts[0].strip(), f"a session begins with a command, not with {parts[0]!r}"
        placed.append((block.start(), [Step(*pair) for pair in zip(parts[1::2], parts[2::2], strict=True)]))
    return [step for _, steps in sorted(placed, key=lambda pair: pair[0]) for step in steps]


def pattern_of(shown: str) -> str:
    """Return a regular expression for the output `shown` in a guide."""
    samples = re.compile("|".join(f"(?P<{name}>{sample})" for name, sample in _SAMPLES.items()))

    def line(text: str) -> str:
        if text == "...":
            return r"(?:.*\n)*"
        pattern, place = "", 0
        for sample in samples.finditer(text):
            pattern += ".*".join(re.escape(part) for part in text[place : sample.start()].split("..."))
            pattern += _SAMPLES[str(sample.lastgroup)]
            place = sample.end()
        return pattern + ".*".join(re.escape(part) for part in text[place:].split("...")) + r" *\n"

    return "".join(map(line, shown.rstrip("\n").split("\n"))) if shown.strip() else ""


def script_of(steps: list[Step]) -> str:
    """Return a bash script that runs all commands and marks the end of each; `$?` is that of the guide's command."""
    lines = []
    for step in steps:
        if step.is_file:
            lines.append(f"mkdir -p -- \"$(dirname -- '{step.command}')\"\n")
            lines.append(f"cat > '{step.command}' <<'END OF FILE'\n{step.shown}END OF FILE\n")
        else:
            lines.append(f"{{ {step.command}\n}} < /dev/null\n__code=$?; echo; echo '{_END}'; (exit $__code)\n")
    return "".join(lines)


def outputs(steps: list[Step], home: Path, within: Sequence[str] = ()) -> list[str]:
    """Return what each command printed on both streams; `within` is a program that starts the shell."""
    environ = {
        "HOME": str(home),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "LC_ALL": "C.UTF-8",
    }
    # a process left behind would keep a pipe open, so output goes to a file, and the whole session is killed
    with (home.parent / "printed").open("w+", encoding="utf-8") as printed:
        shell = subprocess.Popen(
            [*within, "bash", "-c", script_of(steps)], cwd=home, env=environ, stdin=subprocess.DEVNULL, stdout=printed,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        try:
            shell.wait(_TIMEOUT)
        finally:
            if shell.poll() is None:
                os.killpg(shell.pid, signal.SIGKILL)
                shell.wait()
        printed.seek(0)
        text = printed.read().replace(str(home), HOME)
    return [part.removesuffix("\n") for part in text.split(f"{_END}\n")[:-1]]


PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
ELSEWHERE = {"five-machines.md"}
"""It needs machines, which tests/integration/test_five_machines.py has."""
GUIDES = [path for path in PAGES if _SESSION.search(path.read_text(encoding="utf-8")) and path.name not in ELSEWHERE]


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.name)
def test_a_guide_prints_what_it_shows(guide: Path, tmp_path: Path) -> None:
    steps = steps_of(guide.read_text(encoding="utf-8"))
    commands = [step for step in steps if not step.is_file]
    home = tmp_path / "home"
    home.mkdir()

    printed = outputs(steps, home)

    assert len(printed) == len(commands), printed[-1:]
    for step, output in zip(commands, printed, strict=True):
        matches = re.fullmatch(pattern_of(step.shown), output) is not None
        assert matches, f"{guide.name}: $ {step.command}\n--- it shows\n{step.shown}--- it prints\n{output}"


def test_readme_can_be_followed_on_a_fresh_engine_and_after_the_demo(tmp_path: Path) -> None:
    """The sections of README.md do not depend on each other: the second comes first, and the first another time."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    start, own = text.index("## A first session"), text.index("## Your own release")
    first, second = steps_of(text[start:own]), steps_of(text[own:])
    assert first
    assert second
    steps = [*second, *first, *first]
    home = tmp_path / "home"
    home.mkdir()
    commands = [step for step in steps if not step.is_file]
    alone = sum(not step.is_file for step in second)
    printed = outputs(steps, home)
    assert len(printed) == len(commands), printed[-1:]
    for number, (step, output) in enumerate(zip(commands, printed, strict=True)):
        if step.command.startswith(("fuel2 demo", "fuel2 graph download")) and number >= alone:
            continue  # what it prints has the id of its environment, or it refuses to overwrite the same file
        matches = re.fullmatch(pattern_of(step.shown), output) is not None
        assert matches, f"$ {step.command}\n--- it shows\n{step.shown}--- it prints\n{output}"


def test_every_other_line_of_readme_is_a_command() -> None:
    """What needs a terminal or a master is not run, but it is understood."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = [body for kind, body in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S) if not kind]
    lines = [line for block in blocks for line in block.splitlines() if line.startswith("fuel2")]
    assert len(lines) >= 2
    for line in lines:
        shell = FuelShell()
        shell.options, rest = shell.parser.parse_known_args(shlex.split(line, comments=True)[1:])
        factory, name, words = shell.command_manager.find_command(rest)
        factory(shell, shell.options, cmd_name=name).get_parser(name).parse_args(words)


def test_the_guides_have_sessions() -> None:
    sessions = {"README.md", "first-session.md", "plugins.md", "run.md", "scripting.md", "server.md", "master.md"}
    assert sessions | {"one-shot-fix.md", "plugin-ci.md"} <= {path.name for path in GUIDES}


def test_what_is_shown_is_compared() -> None:
    moment = "2026-01-02T03:04:05.678901"

    assert re.fullmatch(pattern_of(f"| a | {moment} |\n"), "| a | 2030-12-31T23:59:59.000000 |\n")
    assert re.fullmatch(pattern_of("one\n...\nlast ... word\n"), "one\ntwo\n\nlast fine word\n")
    assert re.fullmatch(pattern_of(""), "")
    assert not re.fullmatch(pattern_of(f"| a | {moment} |\n"), "| b | 2030-12-31T23:59:59.000000 |\n")
    assert not re.fullmatch(pattern_of("one\n"), "one\ntwo\n")
    assert not re.fullmatch(pattern_of("one\n"), "")
    assert not re.fullmatch(pattern_of(""), "one\n")
