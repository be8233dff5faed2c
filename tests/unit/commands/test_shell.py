"""One command line: global options, exit codes, narration, and commands of other packages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from command_line import CommandLine

from fuelclient import __version__, errors
from fuelclient.commands.exits import Exit, exit_of
from fuelclient.commands.global_options import overview
from fuelclient.commands.table import COMMANDS
from fuelclient.main import main


def process(*arguments: str, home: Path, path: Path | None = None, pipe: str = "") -> subprocess.CompletedProcess[str]:
    """Run `fuel2` as a process of its own; `path` has further packages, `pipe` reads its stdout."""
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": str(path or "")}
    line = [sys.executable, "-m", "fuelclient.main", *arguments]
    if pipe:
        script = '"$@" | ' + pipe + '; echo "${PIPESTATUS[0]}" >&2'
        line = ["bash", "-c", script, "bash", *line]
    return subprocess.run(line, capture_output=True, text=True, check=False, env=environment)


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """A directory with an installed package that brings commands of its own."""
    site = tmp_path / "site"
    info = site / "alien-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: alien\nVersion: 1.0\n", encoding="utf-8")
    points = "".join(f"{name} = alien:{name.title().replace('_', '')}\n" for name in ("saucer_fail", "saucer_wait"))
    points += "graph_list = alien:SaucerFail\nsaucer_land = alien:SaucerLand\n"
    (info / "entry_points.txt").write_text(f"[fuelclient.extensions]\n{points}", encoding="utf-8")
    (site / "alien.py").write_text(
        "from cliff.command import Command\n"
        "class SaucerFail(Command):\n"
        "    def take_action(self, parsed_args):\n        raise ZeroDivisionError('over\\nzero')\n"
        "class SaucerWait(Command):\n"
        "    def take_action(self, parsed_args):\n        raise KeyboardInterrupt\n"
        "class SaucerLand(Command):\n"
        "    def take_action(self, parsed_args):\n        self.app.stdout.write('landed\\n')\n",
        encoding="utf-8",
    )
    return site


ENV = [name.removeprefix("env ") for name in sorted(COMMANDS) if name.startswith("env ")]


@pytest.mark.parametrize("line", [[], ["--help"], ["-h"], ["help"]])
def test_the_overview_names_every_command(line: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(line) == 0
    out = capsys.readouterr().out
    assert "\nusage: fuel2 " in out
    lines = [line.strip() for line in out.splitlines()]
    for name, (_, text) in COMMANDS.items():
        assert any(f"{line}  ".startswith(f"{name}  ") for line in lines), name
        assert text in " ".join(out.split())


@pytest.mark.parametrize("line", [["--version"], ["-v", "--version"], ["--version", "graph", "list"]])
def test_version(line: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(line) == 0
    assert capsys.readouterr().out == f"fuel2 {__version__}\n"


def test_a_line_of_global_options_alone_prints_the_overview(fuel2: CommandLine) -> None:
    assert fuel2().out == fuel2("--debug", "-h").out == overview()


@pytest.mark.parametrize("line", [["graph", "list", "--help"], ["-h", "graph", "list"], ["help", "graph", "list"]])
def test_help_of_a_command(fuel2: CommandLine, line: list[str]) -> None:
    assert "\nusage: fuel2 graph list " in fuel2.ok(*line).out


def test_help_does_not_stumble_over_the_options_before_it(fuel2: CommandLine) -> None:
    assert "\nusage: fuel2 graph list " in fuel2.ok("graph", "list", "--env", 1, "--help").out


def test_help_keeps_examples_on_their_lines(fuel2: CommandLine) -> None:
    assert "\n  fuel2 graph list --env 1\n" in fuel2.ok("help", "graph", "list").out


def test_help_of_a_noun_lists_its_commands(fuel2: CommandLine) -> None:
    out = fuel2.ok("help", "role").out
    told = [line.split("  ")[1] for line in out.splitlines() if line.startswith("  ")]
    assert told == [f"role {verb}" for verb in ("list", "show", "create", "delete", "download", "update")]
    assert fuel2.ok("role", "--help").out == out
    assert out.endswith(fuel2("role").err.partition("\n")[2])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("graph lst", "'graph lst' is not a fuel2 command. Did you mean 'graph list'?"),
        ("role rename x", "'role rename x' is not a fuel2 command. Continue 'role' with: "),
        ("env relabel 1", "'env relabel 1' is not a fuel2 command. Continue 'env' with: " + ", ".join(ENV) + "."),
        ("plugins restore a", "'plugins restore a' is not a fuel2 command. Continue 'plugins' with: "),
        ("env dlete 1", "'env dlete 1' is not a fuel2 command. Did you mean 'env delete'?"),
        ("env add nods 1", "'env add nods 1' is not a fuel2 command. Did you mean 'env add nodes'?"),
        (
            "env set 1",
            "'env set 1' is not a fuel2 command. Did you mean 'env settings download' or 'env settings upload'?",
        ),
        ("grahp list", "'grahp list' is not a fuel2 command. Did you mean 'graph list'?"),
        ("graf preview", "'graf preview' is not a fuel2 command. Did you mean 'graph preview'?"),
        ("grahp 1", "'grahp 1' is not a fuel2 command. Did you mean 'graph'?"),
        ("xyzzy", "'xyzzy' is not a fuel2 command. 'fuel2 help' lists all commands and topics."),
        ("--bogus graph list", "'--bogus' is not a global option of fuel2. Put it after the command it belongs to."),
        ("--Server x graph list", "'--Server' is not a global option of fuel2. Did you mean --server?"),
        ("help graph lst", "'graph lst' is not a fuel2 command. Did you mean 'graph list'?"),
    ],
)
def test_an_unknown_command_is_told_on_stderr(fuel2: CommandLine, line: str, message: str) -> None:
    done = fuel2(*line.split())
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith(message)
    assert message.endswith(": ") or done.err == f"{message}\n"


@pytest.mark.parametrize(("words", "hint"), [(("graph", ""), "Continue 'graph' with: blame, "), (("", "x"), "lists")])
def test_an_empty_word_begins_no_command(fuel2: CommandLine, words: tuple[str, ...], hint: str) -> None:
    done = fuel2(*words)
    assert (done.code, "Did you mean" in done.err) == (2, False)
    assert hint in done.err


def test_words_of_a_command_may_be_shortened(fuel2: CommandLine) -> None:
    assert fuel2.ok("rel", "l", "-f", "json").json == []


@pytest.mark.parametrize(
    "line", ["graph list --bogus", "graph upload --env 1", "task show one", "env show", "release list -f nonsense"]
)
def test_a_malformed_line_is_told_in_one_line(
    fuel2: CommandLine, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    done = fuel2(*line.split())
    out, err = capsys.readouterr()  # argparse writes to the process's own streams
    assert (done.code, done.out + out) == (2, "")
    assert err.count("\n") == 1
    assert err.startswith("fuel2 ")
    assert " --help'." in err


@pytest.mark.parametrize("option", ["-c", "--sort-column"])
@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("release list", "Did you mean 'name'?"), ("plugins list", "Did you mean 'name'?"),
        ("graph preview --env 1", "Columns: order, "), ("task history show 1", "Columns: task_name, "),
        ("node import {nodes}", "Did you mean 'name'?"),
    ],
)  # fmt: skip
def test_an_unknown_column_is_an_error(tiny: CommandLine, tmp_path: Path, line: str, hint: str, option: str) -> None:
    nodes = tmp_path / "nodes.yaml"
    nodes.write_text("- {name: another}\n", encoding="utf-8")
    tiny.ok("graph", "execute", "--env", 1, "--executor", "noop", "--wait")
    done = tiny(*line.format(nodes=nodes).split(), option, "nmae")
    assert (done.code, done.out) == (2, "")
    assert f"There is no column 'nmae'. {hint}" in done.err
    assert "another" not in tiny.ok("node", "list").out


def test_global_options_stand_anywhere_unabbreviated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    engine = tmp_path / "here.db"
    assert main(["release", "list", "--engine", str(engine), "-q"]) == 0
    assert f"Engine file {engine} does not exist yet; it is read as empty." in capsys.readouterr().err
    assert main(["graph", "upload", "--env", "1", "--d", "nowhere", "--engine", str(engine)]) == 5  # --dir, not --debug
    assert "Traceback" not in capsys.readouterr().err


def test_spellings_of_one_option_do_not_make_a_letter_ambiguous(tiny: CommandLine) -> None:
    assert tiny.ok("graph", "list", "--e", 1, "-f", "json").json


@pytest.mark.parametrize("option", ["--en", "--env", "--envi"])
def test_spellings_of_one_option_keep_abbreviations_unambiguous(tiny: CommandLine, option: str) -> None:
    assert tiny.ok("graph", "list", option, 1, "-f", "json").json
    assert tiny.ok("graph", "preview", f"{option}=1", "--nod", 2, "-f", "json").json


def test_an_abbreviation_of_two_options_is_ambiguous(tiny: CommandLine, capsys: pytest.CaptureFixture[str]) -> None:
    assert tiny("graph", "preview", "--env", 1, "--m", "overlay").code == 2
    assert "ambiguous option: --m could match" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["table", "value", "csv", "json", "yaml", "github"])
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_every_encoding_takes_every_name(tiny: CommandLine, tmp_path: Path, form: str, encoding: str) -> None:
    tiny.ok("env", "update", 1, "--name", "pr\u00f8d \u4e2d")
    line = [sys.executable, "-m", "fuelclient.main", "--engine", str(tiny.engine), "env", "list", "-f", form]
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "PYTHONIOENCODING": encoding}
    done = subprocess.run(line, capture_output=True, check=False, env=environment)
    assert (done.returncode, done.stderr) == (0, b"")
    printed = done.stdout.decode(encoding)
    name = "pr\u00f8d \u4e2d"
    if form == "json":
        assert json.loads(printed)[0]["name"] == name
    elif form == "yaml":
        assert yaml.safe_load(printed)[0]["name"] == name
    assert (name in printed) == (encoding == "utf-8")


def test_a_document_on_stdout_is_whole_in_every_encoding(tiny: CommandLine, tmp_path: Path) -> None:
    text = "- {id: a, type: shell, roles: [compute], parameters: {cmd: 'echo \u00f8', timeout: 1}}\n"
    tiny.ok("graph", "upload", "--env", 1, "--type", "x", "--file", "-", stdin=text)
    line = [sys.executable, "-m", "fuelclient.main", "--engine", str(tiny.engine), "graph", "download", "--env", "1"]
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "PYTHONIOENCODING": "ascii"}
    for form in ("json", "yaml"):
        arguments = ["--cluster", "--type", "x", "--file", "-", "--format", form]
        done = subprocess.run([*line, *arguments], capture_output=True, check=True, env=environment)
        assert yaml.safe_load(done.stdout)[0]["parameters"]["cmd"] == "echo \u00f8"


def test_an_argument_that_is_no_text_is_a_usage_error(tiny: CommandLine) -> None:
    done = tiny("env", "create", "pr\udcf8d", "--release", 1)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("The argument 'pr\\xf8d' is not text in the encoding UTF-8. ")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("line", ["node import", "release import", "graph upload --env 1 --type default --file"])
def test_a_directory_where_a_file_is_meant(tiny: CommandLine, tmp_path: Path, line: str) -> None:
    done = tiny(*line.split(), tmp_path)
    assert (done.code, done.out) == (2, "")
    assert ("--dir" in done.err) == line.startswith("graph")


def test_quiet_verbose_and_the_log_file(fuel2: CommandLine, tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert "There is no release yet" in fuel2.ok("release", "list", "--log-file", log).err
    assert "There is no release yet" in log.read_text(encoding="utf-8")
    assert "There is no release yet" not in fuel2.ok("release", "list", "-q").err
    assert fuel2("release", "list", "--log-file", tmp_path / "no" / "log").code == 5


def test_every_error_has_an_exit_code_of_its_own_kind() -> None:
    kinds = {
        errors.UsageError("x"): 2, errors.Unsupported("x"): 2, errors.Unavailable("x"): 3, errors.Unauthorised("x"): 4,
        errors.NotFound("x", 1): 5, errors.Conflict("x"): 6, errors.InvalidDocument("x"): 7,
        errors.InvalidGraph("x"): 7, errors.CycleDetected("x", cycle=()): 7, errors.Declined("x"): 11,
        errors.FuelError("x"): 1, OSError(): 1, KeyboardInterrupt(): 130, BrokenPipeError(): 141,
    }  # fmt: skip
    assert {type(error).__name__: int(exit_of(error)) for error in kinds} == {
        type(error).__name__: code for error, code in kinds.items()
    }
    assert {int(code) for code in Exit} == {*range(13), 130, 141}


def test_commands_of_other_packages_run_but_never_replace_ours(packages: Path, tmp_path: Path) -> None:
    assert process("saucer", "land", home=tmp_path, path=packages).stdout == "landed\n"
    assert process("graph", "list", "-f", "json", home=tmp_path, path=packages).stdout == "[]\n"
    assert "saucer" not in process("help", home=tmp_path, path=packages).stdout
    everything = process("help", "--all", home=tmp_path, path=packages).stdout
    assert [line.split() for line in everything.splitlines() if "saucer land" in line] == [
        ["saucer", "land", "from", "alien"]
    ]


def test_an_unexpected_error_is_one_line_without_debug(packages: Path, tmp_path: Path) -> None:
    done = process("saucer", "fail", home=tmp_path, path=packages)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "unexpected error ZeroDivisionError: over zero (--debug shows the traceback)\n"
    debugged = process("saucer", "fail", "--debug", home=tmp_path, path=packages)
    assert debugged.returncode == 1
    assert debugged.stderr.startswith("Traceback ")


def test_an_interrupt_is_silent(packages: Path, tmp_path: Path) -> None:
    done = process("saucer", "wait", home=tmp_path, path=packages)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.parametrize("line", ["graph list --help", "help", "complete"])
def test_a_reader_that_leaves_is_no_error(line: str, tmp_path: Path) -> None:
    done = process(*line.split(), home=tmp_path, pipe="true")
    assert done.stdout == ""
    assert done.stderr in ("141\n", "0\n")  # 0 when everything fitted into the pipe before the reader left


def test_completion_knows_commands_and_options(fuel2: CommandLine) -> None:
    data = dict(
        line.strip().split("=", 1) for line in fuel2.ok("complete", "--shell", "none").out.splitlines() if "=" in line
    )
    assert {"graph", "env", "release"} <= set(data["cmds"].strip("'").split())
    assert "upload" in data["cmds_graph"]
    assert "--graph-type" in data["cmds_graph_upload"].split()


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("line", ["graph list -q", "--version", "help graph list", "complete"])
def test_a_stdout_that_takes_nothing_leaves_no_traceback(line: str, unbuffered: str, tmp_path: Path) -> None:
    def run(target: str) -> tuple[int, str]:
        script = ["bash", "-c", f"{sys.executable} -m fuelclient.main {line} >{target}"]
        environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "PYTHONUNBUFFERED": unbuffered}
        done = subprocess.run(script, capture_output=True, text=True, check=False, env=environment)
        return done.returncode, done.stderr

    assert run("&-") == (1, "Cannot write to stdout: Bad file descriptor.\n")
    assert run("/dev/full") == (1, "Cannot write to stdout: No space left on device.\n")
