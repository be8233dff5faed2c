"""Nothing where something is meant: empty documents and empty values of options are refused, never taken for all."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import CommandLine

from fuelclient.main import main

NOTHING = ["", "# only a comment\n", "---\n", "tasks:\n", "name: x\ntasks: ~\n"]


def stored(fuel2: CommandLine) -> str:
    return fuel2.ok("graph", "list", "-f", "json").out + fuel2.ok("env", "list", "-f", "json").out


@pytest.mark.parametrize("text", NOTHING)
def test_a_document_that_says_nothing_wipes_no_graph(tiny: CommandLine, tmp_path: Path, text: str) -> None:
    before = stored(tiny)
    file = tmp_path / "empty.yaml"
    file.write_text(text, encoding="utf-8")
    (tmp_path / "tree" / "a").mkdir(parents=True)
    for name in ("tasks.yaml", "a/tasks.yaml"):
        (tmp_path / "tree" / name).write_text(text, encoding="utf-8")
    for source, said in (
        (("--file", "-"), "<stdin>: this document"),
        (("--file", file), f"{file}: this document"),
        (("--dir", tmp_path / "tree"), f"{tmp_path / 'tree'}: this directory"),
    ):
        done = tiny("graph", "upload", "--env", 1, "--type", "default", *source, stdin=text)
        assert (done.code, done.out) == (7, "")
        assert done.err == f"{said} contains no graph; write [] for an empty one.\n"
        checked = tiny("graph", "validate", *source, "-f", "json", stdin=text)
        assert (checked.code, [row["code"] for row in checked.json]) == (7, ["G006"])
    assert stored(tiny) == before


def test_one_file_with_tasks_makes_a_tree_a_graph(tiny: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "tasks.yaml").write_text("# nothing\n", encoding="utf-8")
    (tmp_path / "a" / "tasks.yaml").write_text("[]\n", encoding="utf-8")
    done = tiny.ok("graph", "upload", "--env", 1, "--type", "default", "--dir", tmp_path)
    assert done.out == "Deployment graph was successfully uploaded.\n"


@pytest.mark.parametrize("text", ["[]", "tasks: []"])
def test_an_empty_graph_is_allowed_and_what_is_lost_is_told(tiny: CommandLine, text: str) -> None:
    line = ("graph", "upload", "--env", 1, "--type", "default", "--file", "-")
    done = tiny.ok(*line, "-q", stdin=text)  # a warning is told even so
    assert done.err == "Replaced graph 2 (2 tasks) with 0 tasks: type 'default' of environment 1.\n"
    assert tiny.ok(*line, "-q", stdin=text).err == ""
    assert "Replaced graph 2 (0 tasks) with 0 tasks: " in tiny.ok(*line, stdin=text).err


@pytest.mark.parametrize(
    ("graph_type", "text", "level"),
    [
        ("new", "- {id: a, type: stage}", "INFO"),
        ("default", "- {id: a, type: stage}", "INFO"),
        ("default", "[]", "WARNING"),
        ("empty", "[]", "INFO"),
    ],
)
def test_an_upload_warns_only_of_tasks_that_are_gone(
    tiny: CommandLine, caplog: pytest.LogCaptureFixture, graph_type: str, text: str, level: str
) -> None:
    line = ("graph", "upload", "--env", 1, "--type", graph_type, "--file", "-")
    if graph_type == "empty":
        tiny.ok(*line, stdin="[]")
    caplog.clear()

    tiny.ok(*line, stdin=text)

    verb = "Created" if graph_type == "new" else "Replaced"
    assert [record.levelname for record in caplog.records if record.getMessage().startswith(verb)] == [level]


def test_other_documents_that_say_nothing(tiny: CommandLine) -> None:
    before = stored(tiny)
    for line, message in (
        ("node import -", "<stdin> contains no nodes. Write [] for an empty list."),
        ("release import -", "<stdin> contains no releases. Write a list of releases, each with a name and a version."),
    ):
        done = tiny(*line.split())
        assert (done.code, done.out, done.err) == (7, "", f"{message}\n")
    assert tiny("release", "import", "-", stdin="{}").err == f"{message}\n"
    assert tiny("env", "settings", "upload", 1, "--file", "-").code == 7
    assert "Target:" not in tiny.ok("node", "import", "-", stdin="[]").err
    assert stored(tiny) == before


@pytest.mark.parametrize("value", ["", " "])
@pytest.mark.parametrize(
    "line",
    [
        "graph preview --env 1 --nodes", "graph preview --env 1 --nodes 1", "graph preview --env 1 --assume",
        "graph preview --env 1 -t", "graph upload --env 1 --file - --type", "graph upload --env 1 -t a --file",
        "graph upload --env 1 -t a --dir", "graph download --env 1 --all --file", "graph download --env 1 --all -t",
        "graph delete --env 1 --graph-type", "graph validate --env 1 --type", "graph validate --dir",
        "env add nodes --env 1 --roles controller --nodes", "env add nodes --env 1 --nodes 1 --roles",
        "env remove nodes --env 1 --nodes", "node delete --force", "node delete --force 1", "node create a --roles",
        "env settings download 1 --file", "env settings upload 1 --directory", "release create a --version 1 --file",
        "plugins check", "plugins build", "plugins create", "plugins install", "plugins remove own",
    ],
)  # fmt: skip
def test_an_empty_value_is_a_usage_error(
    tiny: CommandLine, line: str, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = stored(tiny)
    done = tiny(*line.split(), value)
    told = capsys.readouterr().err
    assert (done.code, done.out) == (2, "")
    assert (told.count("\n"), f"'{value}' " in told) == (1, True)
    assert stored(tiny) == before


@pytest.mark.parametrize(
    "line", ["graph preview --env 1 --nodes ,", "node delete --force , 1", "node create a --role ,"]
)
def test_a_lone_comma_names_nothing(tiny: CommandLine, line: str) -> None:
    before = stored(tiny)
    assert tiny(*line.split()).code == 2
    assert stored(tiny) == before


@pytest.mark.parametrize("option", ["--engine", "--log-file"])
def test_an_empty_path_of_the_engine_is_a_usage_error(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([option, "", "env", "list"]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith(f"fuel2: argument {option}: ")
