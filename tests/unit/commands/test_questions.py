"""What destroys or replaces something asks on a terminal, names what goes, and takes --yes."""

from __future__ import annotations

import itertools
from pathlib import Path
from shutil import copyfile

import pytest
from command_line import GRAPH, RELEASE, CommandLine

from fuelclient.commands.shell import FuelShell
from fuelclient.commands.table import COMMANDS

TAG = "{name: database, meta: {has_primary: true}}"
ROLE = "{name: watcher, meta: {name: Watcher, description: Watches}, volumes_roles_mapping: []}"

ASKING = (
    # the line, and what the question names
    ("env delete 1", ("prod", "2 graphs", "node-1, node-2", "history of 1 run")),
    ("env remove nodes --env 1 --nodes 2", ("node-2 (compute)",)),
    ("env remove nodes --env 1 --nodes-all", ("2 nodes",)),
    ("env settings upload 1 --file settings.yaml", ("settings of environment 1",)),
    ("env deployment-facts delete 1", ("facts of environment 1",)),
    ("env deployment-facts upload --env 1", ("all nodes, node 1",)),
    ("env reset 1 --wait", ("prod",)),
    ("env deploy 1 --executor noop --wait", ("Deploy 2 nodes of environment 1 with 3 task instances?",)),
    ("env redeploy 1 --executor noop --wait", ("Redeploy 2 nodes of environment 1 with 3 task instances?",)),
    ("graph upload --release 1 --type default --file graph.yaml", ("4 tasks", "release 1", "prod")),
    ("graph upload --env 1 --type default --file graph.yaml", ("2 tasks", "environment 1")),
    ("graph upload --env 1 --file graph.yaml", ("2 tasks", "'default'", "environment 1")),
    ("graph upload --env 1 --file graph.yaml --name new", ("2 tasks",)),
    ("graph delete --env 1 --type default", ("2 tasks",)),
    ("node delete 1 2 --force", ("node-1", "node-2")),
    ("node undiscover --node 1 --force", ("node-1",)),
    ("node attributes-upload 1", ("node 1",)),
    ("node label delete --labels rack --nodes 1", ("rack",)),
    ("release delete 2", ("Second", "1 graph")),
    ("release repos update 1 --file repos.yaml", ("1 repositories",)),
    ("role update --release 1 --name watcher --file role.yaml", ("watcher",)),
    ("role delete --release 1 --name watcher", ("watcher",)),
    ("tag update --release 1 --name database --file tag.yaml", ("database",)),
    ("tag delete --release 1 --name database", ("database",)),
    ("sequence delete 1", ("upgrade", "default")),
    ("task delete 1", ("environment 1", "reset")),
)  # fmt: skip


@pytest.fixture
def full(tiny: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The tiny engine with some of everything that can be deleted, and the files that replace it."""
    monkeypatch.chdir(tmp_path)
    documents = {
        "settings.yaml": "common: {debug: {type: checkbox, value: true}}",
        "graph.yaml": GRAPH, "tag.yaml": TAG, "role.yaml": ROLE,
        "repos.yaml": "[{name: mos, uri: 'http://m', type: deb, suite: s, section: main, priority: 1}]",
        "second.yaml": RELEASE.replace("Tiny", "Second"), "reset.yaml": "[]",
        "deployment_1/common.yaml": "{a: 1}", "deployment_1/1.yaml": "{b: 1}", "node_1/attributes.yaml": "{rack: b}",
    }  # fmt: skip
    for name, text in documents.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")
    tiny.ok("release", "import", "second.yaml")
    reset = "[{id: wipe, type: skipped, version: 2.0.0, roles: [compute]}]"
    tiny.ok("graph", "upload", "--env", 1, "--type", "reset", "--file", "-", stdin=reset)
    tiny.ok("env", "deployment-facts", "upload", "--env", 1)
    tiny.ok("node", "attributes-upload", 1)
    tiny.ok("node", "label", "set", "--labels", "rack=b", "--nodes", 1)
    tiny.ok("release", "repos", "update", 1, "--file", "repos.yaml")
    tiny.ok("role", "create", "--release", 1, "--name", "watcher", "--file", "role.yaml")
    tiny.ok("tag", "create", "--release", 1, "--name", "database", "--file", "tag.yaml")
    tiny.ok("sequence", "create", "--release", 1, "--name", "upgrade", "--type", "default")
    tiny.ok("graph", "execute", "--env", 1, "--type", "reset", "--wait")
    return tiny


def test_commands_name_what_goes_and_need_a_yes(full: CommandLine) -> None:
    before = full.engine.read_bytes()
    for line, named in ASKING:
        asked = full(*line.split(), stdin="n\n", terminal=True)
        assert (asked.code, asked.out) == (11, ""), (line, asked)
        question = next(part for part in asked.err.splitlines() if "[y/N]" in part)
        assert [word for word in named if word not in question] == [], (line, question)
        assert asked.err.startswith(("Target: ", "--type is not given"))
        assert full(*line.split(), stdin="", terminal=True).code == 11, line
    assert full.engine.read_bytes() == before


def test_a_yes_does_it_and_neither_yes_nor_a_pipe_is_asked(full: CommandLine) -> None:
    rounds = itertools.count()
    for line, _ in ASKING:
        for given, words, asked in (
            ({"stdin": "y\n", "terminal": True}, (), 1), ({"terminal": True}, ("--yes",), 0),
            ({"terminal": True}, ("-q",), 0), ({}, (), 0),
        ):  # fmt: skip
            copied = CommandLine(Path(f"copy-{next(rounds)}.db").absolute())  # beside an old one lies its log
            copyfile(full.engine, copied.engine)
            done = copied(*line.split(), *words, **given)
            assert (done.code, done.err.count("[y/N]")) == (0, asked), (line, given, done)
            Path("node_1/attributes.yaml").write_text("{rack: b}", encoding="utf-8")


def test_nothing_to_replace_is_no_question(full: CommandLine) -> None:
    for line in (
        "graph upload --env 1 --type new --file graph.yaml", "env reset 1 --dry-run",
        "env deploy 1 --dry-run", "env deploy 1 --noop --wait", "-q env redeploy 1 --executor noop --wait",
        "graph execute --env 1 --executor noop --wait",
        "release repos update 2 --file repos.yaml", "node attributes-upload 2", "env remove nodes --env 2 --nodes-all",
    ):  # fmt: skip
        full.ok("env", "create", "two", "--release", 1) if "--env 2" in line else None
        if "attributes" in line:
            Path("node_2").mkdir()
            Path("node_2/attributes.yaml").write_text("{}", encoding="utf-8")
        assert "[y/N]" not in full(*line.split(), stdin="n\n", terminal=True).err, line


def test_a_missing_thing_is_reported_instead_of_a_question(tiny: CommandLine) -> None:
    for line in ("env delete 9", "release delete 9", "sequence delete 9", "task delete 9", "node delete 9"):
        done = tiny(*line.split(), stdin="y\n", terminal=True)
        assert (done.code, "[y/N]" in done.err) == (5, False), line


def test_all_commands_that_delete_or_remove_take_yes() -> None:
    shell = FuelShell()
    for name in COMMANDS:
        if name.split()[-1] in ("delete", "remove", "undiscover", "reset"):
            factory, _, _ = shell.command_manager.find_command(name.split())
            parser = factory(shell, shell.options, cmd_name=name).get_parser(name)
            assert "--yes" in parser.format_help(), name
