"""Every block in the guides and in README.md that a shell can run does run, and prints what is shown.

A block after a line that consists of a file name in backticks and a colon becomes that file. The commands of all
`console` and `sh` blocks of a guide run one after another in one shell, in an empty home. In the output of a `console`
block, `...` alone on a line stands for any lines, and within a line for any text; times, durations and uuids are
samples. Each command of an `sh` block ends with 0. A page that says that its sessions go on after a section of another
page begins with the blocks of that page, up to the end of that section. What cannot run here says why in a comment
before the block, and is in `NOT_RUN`. Blocks that install run in a fresh clone, with the rest of their guide.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from checkouts import copy_of_the_checkout
from forked.zygote import forking

from fuelclient.commands.shell import FuelShell

ROOT = Path(__file__).resolve().parents[2]
HOME = "/home/me"
"""The home directory that the guides show."""

_BLOCK = re.compile(
    r"^(?:<!-- not run: (?P<reason>[^>]+) -->\n)?(?:`(?P<file>[\w./-]+)`:\n\n)?"
    r"```(?P<language>\w*)\n(?P<body>.*?)^```$",
    re.M | re.S,
)
_ALL_OF_THE_PAGE = re.compile(r"^<!-- no block of this page is run[^>:]*: [^>]+ -->$", re.M)
_AFTER = re.compile(
    r"^The sessions of this page go on after \[[^\]]+\]\((?P<page>[\w-]+\.md)#(?P<anchor>[\w-]+)\)", re.M
)
_COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)\n", re.M)
_LINE = re.compile(r"^(?!#)((?:.*\\\n)*.+)\n", re.M)
_INSTALLS = re.compile(r"\bpip install\b")
_END = "-- end of a command of the guide --"
_SAMPLES = {
    "uuid": r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    "moment": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}",
    "seconds": r"\b\d+\.\d+ seconds",
    "duration": r"\bin \d+:\d\d\.",
}
INSTALLERS = ("PIP_", "UV_", "SSL_CERT_")
"""The beginnings of the variables that say where pip and uv find packages, and whose certificates they trust."""
_TIMEOUT = 240
"""Seconds for one guide, even on a busy machine."""


@dataclass(frozen=True)
class Step:
    """A file to write, or a command with the output shown for it."""

    command: str
    shown: str
    is_file: bool = False


def steps_of(text: str, *, install: bool = False) -> list[Step]:
    """Return the files and commands of a guide in the order of the text; blocks that install only with `install`."""
    steps = []
    for block in _BLOCK.finditer(text):
        if block["file"]:
            steps.append(Step(block["file"], block["body"], is_file=True))
        elif block["reason"] or (_INSTALLS.search(block["body"]) and not install):
            continue
        elif block["language"] == "console":
            parts = _COMMAND.split(block["body"])
            assert not parts[0].strip(), f"a session begins with a command, not with {parts[0]!r}"
            steps += [Step(*pair) for pair in zip(parts[1::2], parts[2::2], strict=True)]
        elif block["language"] == "sh":
            steps += [Step(f"{line}\necho exit code $?", "...\nexit code 0\n") for line in _LINE.findall(block["body"])]
    return steps


def before(text: str) -> str:
    """Return the part of another page after which the sessions of the page `text` go on; empty if it begins anew."""
    after = _AFTER.search(text)
    if not after:
        return ""
    other = (ROOT / "docs" / after["page"]).read_text(encoding="utf-8")
    sections = re.split(r"^(?=## )", other, flags=re.M)
    titles = [section.partition("\n")[0].removeprefix("## ").lower().replace(" ", "-") for section in sections]
    return "".join(sections[: titles.index(after["anchor"]) + 1])


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


def outputs(
    steps: list[Step],
    home: Path,
    within: Sequence[str] = (),
    *,
    place: Path | None = None,
    programs: str = "",
    seconds: float = _TIMEOUT,
    forked: bool = False,
) -> list[str]:
    """Return what each command printed on both streams, in `place` or at home; `within` is a program that starts the
    shell, and `programs` a PATH in place of the one that has this checkout. Where each command may be
    `forked`, it imports nothing for itself."""
    environ = {"HOME": str(home), "LC_ALL": "C.UTF-8"}
    if programs:
        environ |= {name: value for name, value in os.environ.items() if name.startswith(INSTALLERS)}
        environ |= {"PATH": programs}
    else:
        environ |= {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    if forked:
        environ |= forking()
    place = place or home
    # a process left behind would keep a pipe open, so output goes to a file, and the whole session is killed
    with (home.parent / "printed").open("w+", encoding="utf-8") as printed:
        shell = subprocess.Popen(
            [*within, "bash", "-c", script_of(steps)], cwd=place, env=environ, stdin=subprocess.DEVNULL, stdout=printed,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        try:
            shell.wait(seconds)
        finally:
            if shell.poll() is None:
                os.killpg(shell.pid, signal.SIGKILL)
                shell.wait()
        printed.seek(0)
        text = printed.read().replace(str(place), HOME).replace(str(home), HOME)
    return [part.removesuffix("\n") for part in text.split(f"{_END}\n")[:-1]]


PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
TEXTS = {path: path.read_text(encoding="utf-8") for path in PAGES}
ELSEWHERE = {"cli.md", "findings.md", "five-machines.md"}
"""Their blocks need what only tests of their own have: `test_help_examples`, the tests of checks, and
`integration/test_five_machines`."""
IN_A_CLONE = ROOT / "docs/install.md"
"""Its blocks install, upgrade and remove the package, so none is run with the one of this checkout."""
GUIDES = [
    path
    for path, text in TEXTS.items()
    if path.name not in ELSEWHERE and path != IN_A_CLONE and not all(step.is_file for step in steps_of(text))
]
QUICK = {
    "README.md",
    "first-session.md",
    "from-python-fuelclient.md",
    "package.md",
    "plugin-ci.md",
    "server.md",
    "tasks.md",
}
"""The guides that the quick tests follow: the others take most of a minute."""
REAL = "package.md"
"""The guide whose every command is a process of its own, as its readers have it."""
INSTALLING = [IN_A_CLONE, *(path for path in GUIDES if steps_of(TEXTS[path], install=True) != steps_of(TEXTS[path]))]


def compare(steps: list[Step], printed: list[str]) -> None:
    """Compare what the commands printed with what is shown for them."""
    commands = [step for step in steps if not step.is_file]
    for step, output in zip(commands, printed, strict=False):
        matches = re.fullmatch(pattern_of(step.shown), output) is not None
        assert matches, f"$ {step.command}\n--- it shows\n{step.shown}--- it prints\n{output}"
    assert len(printed) == len(commands), printed[-1:]


@pytest.mark.parametrize(
    "guide", [pytest.param(path, id=path.name, marks=() if path.name in QUICK else pytest.mark.slow) for path in GUIDES]
)
def test_a_guide_prints_what_it_shows(guide: Path, tmp_path: Path) -> None:
    if "| jq " in TEXTS[guide] and not shutil.which("jq"):
        pytest.skip("jq is not installed")
    steps = steps_of(before(TEXTS[guide])) + steps_of(TEXTS[guide])
    home = tmp_path / "home"
    home.mkdir()

    compare(steps, outputs(steps, home, forked=guide.name != REAL))


@pytest.mark.slow
def test_readme_works_on_a_fresh_engine_and_after_the_demo(tmp_path: Path) -> None:
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
    # what it prints has the id of its environment, or it refuses to overwrite the same file
    differs = ("fuel2 demo", "fuel2 graph download")
    same = [n for n, step in enumerate(commands) if n < alone or not step.command.startswith(differs)]
    compare([commands[n] for n in same], [printed[n] for n in same])


@pytest.mark.slow
@pytest.mark.parametrize("guide", INSTALLING, ids=lambda path: path.name)
def test_a_guide_runs_in_a_fresh_clone(guide: Path, tmp_path: Path) -> None:
    """With an empty home, and no programs but the system's and a Python."""
    clone, home, programs = tmp_path / "clone", tmp_path / "home", tmp_path / "bin"
    home.mkdir()
    programs.mkdir()
    (programs / "python3").symlink_to(Path(sys.executable).resolve())
    fetch = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(tmp_path), "setuptools"]
    fetched = subprocess.run(fetch, capture_output=True, text=True, check=False)
    if fetched.returncode:
        pytest.skip(f"pip finds no packages here: {fetched.stderr.strip().splitlines()[-1:]}")
    copy_of_the_checkout(clone)
    steps = steps_of(TEXTS[guide], install=True)
    before = files_in(clone)

    compare(steps, outputs(steps, home, place=clone, programs=f"{programs}:/usr/bin:/bin", seconds=900))
    assert not {path for path in files_in(clone) - before if path.parts[0] in ("build", "fuelclient.egg-info")}
    if guide == IN_A_CLONE:  # caches of pip and uv, and what pipx and uv have for all programs, are theirs
        theirs = (".cache", ".local/share/uv", ".local/share/pipx", ".local/state/pipx")
        assert {path for path in files_in(home) if not str(path).startswith(theirs)} == set()
        assert files_in(clone) == before


def files_in(directory: Path) -> set[Path]:
    """Return the files below a directory, without byte code."""
    found = (path.relative_to(directory) for path in directory.rglob("*") if not path.is_dir())
    return {path for path in found if path.suffix != ".pyc"}


NOT_RUN = {
    "facts.md": ["fuel2 --server http://10.20.0.2:8000 env deployment-facts get-default --env 5"],
    "README.md": ["make demo", "fuel2 tui --env lab"],
    "master.md": ["fuel2 --server http://10.20.0.2:8000 env list", "export SERVER_ADDRESS=10.20.0.2"],
    "server.md": [
        "fuel2 --engine /srv/fuel/engine.db server run",
        "fuel2 server run --host 10.20.0.2 --auth keystone --keystone-config /etc/fuel/server.conf",
        "fuel2 server run --host 10.20.0.2 --auth keystone --keystone-config /etc/fuel/server.conf"
        " --keystone-project admin",
    ],
    "stop.md": ["fuel2 task resume 1", "fuel2 task resume 1 --rerun-interrupted"],
    "tui.md": ["fuel2 tui"],
}
"""The first command of each block that is not run; the page has the reason."""


def test_what_is_not_run_is_known_and_says_why() -> None:
    left_out = {
        path.name: [
            block["body"].partition("\n")[0].partition("  ")[0] for block in _BLOCK.finditer(text) if block["reason"]
        ]
        for path, text in TEXTS.items()
    }

    assert {name: blocks for name, blocks in left_out.items() if blocks} == NOT_RUN
    assert {path.name for path, text in TEXTS.items() if _ALL_OF_THE_PAGE.search(text)} == ELSEWHERE


def test_no_other_block_is_for_a_shell() -> None:
    """Whatever its language: the first word of what is neither run nor written to a file is no command."""
    others = [
        (path.name, line)
        for path, text in TEXTS.items() if path.name not in ELSEWHERE
        for block in _BLOCK.finditer(text)
        if not block["file"] and block["language"] not in ("console", "sh", "python")
        for line in block["body"].splitlines()
    ]  # fmt: skip
    words = sorted({line.removeprefix("$ ").split()[0] for _, line in others if line.strip()})
    known = subprocess.run(
        ["bash", "-c", 'for word; do type -t -- "$word" > /dev/null && echo "$word"; done', "bash", *words],
        env={"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert len(others) > 10
    assert known.stdout == ""
    for path, text in TEXTS.items():
        assert len(re.findall(r"^ *```", text, re.M)) == 2 * len(_BLOCK.findall(text)), f"{path.name}: an unusual fence"


def test_every_command_that_is_not_run_is_understood() -> None:
    blocks = [block["body"] for path in TEXTS for block in _BLOCK.finditer(TEXTS[path]) if block["reason"]]
    lines = [line for block in blocks for line in block.splitlines() if line.startswith("fuel2")]
    assert len(lines) >= 10
    for line in lines:
        shell = FuelShell()
        shell.options, rest = shell.parser.parse_known_args(shlex.split(line, comments=True)[1:])
        factory, name, words = shell.command_manager.find_command(rest)
        factory(shell, shell.options, cmd_name=name).get_parser(name).parse_args(words)


def test_the_guides_have_sessions() -> None:
    sessions = {"README.md", "first-session.md", "plugins.md", "run.md", "scripting.md", "server.md", "master.md"}
    sessions |= {"stop.md", "plans.md", "facts.md", "networks.md", "engine-file.md", "scripts-in-ci.md"}
    assert sessions | {"one-shot-fix.md", "plugin-ci.md"} <= {path.name for path in GUIDES}


def test_a_page_goes_on_after_a_section_of_another() -> None:
    whole = TEXTS[ROOT / "docs" / "run.md"]
    start = before("The sessions of this page go on after [A lab](run.md#a-lab).")

    assert whole.startswith(start)
    assert start.endswith("```\n\n")
    assert "## A lab" in start
    assert "## Execute" not in start
    assert before(whole) == ""


def test_what_is_shown_is_compared() -> None:
    moment = "2026-01-02T03:04:05.678901"

    assert re.fullmatch(pattern_of(f"| a | {moment} |\n"), "| a | 2030-12-31T23:59:59.000000 |\n")
    assert re.fullmatch(pattern_of("one\n...\nlast ... word\n"), "one\ntwo\n\nlast fine word\n")
    assert re.fullmatch(pattern_of(""), "")
    assert not re.fullmatch(pattern_of(f"| a | {moment} |\n"), "| b | 2030-12-31T23:59:59.000000 |\n")
    assert not re.fullmatch(pattern_of("one\n"), "one\ntwo\n")
    assert not re.fullmatch(pattern_of("one\n"), "")
    assert not re.fullmatch(pattern_of(""), "one\n")
