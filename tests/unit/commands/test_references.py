"""Names work wherever ids do; a number is always an id, and a name that several things have is refused."""

from __future__ import annotations

import argparse
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from unittest.mock import Mock

import pytest
from command_line import RELEASE, CommandLine, on_terminal, tiny_engine

from fuelclient.commands.arguments import node_references, resolve
from fuelclient.commands.shell import as_spelled
from fuelclient.model.node import Node

SAME = (
    # a line with ids, and the same with names
    ("env show 1", "env show prod"),
    ("env list", "env list"),
    ("graph list --env 1", "graph list -e prod"),
    ("graph preview --env 1 --node 1 2", "graph preview --env prod --node node-1,node-2"),
    ("graph preview --env 1 --node 1 2", "graph preview --env prod --node 1 node-2"),
    ("graph validate --env 1", "graph validate --env prod"),
    ("graph download --env 1 --all --file -", "graph download --env prod --all --file -"),
    ("graph simulate --env 1 --fail netconfig/2", "graph simulate --env prod --fail netconfig/node-2"),
    ("node list --env 1", "node list --env prod"),
    ("node show 2", "node show node-2"),
    ("node label list --nodes 2", "node label list --nodes node-2"),
    ("release show 1", "release show Tiny"),
    ("release show 1", "release show tiny-1.0"),
    ("release repos list 1", "release repos list Tiny"),
    ("role list --release 1", "role list --release tiny-1.0"),
    ("role list --env 1", "role list --env prod"),
    ("sequence list --release 1", "sequence list --release Tiny"),
    ("sequence show 1", "sequence show upgrade"),
    ("sequence execute 1 --env 1 --dry-run", "sequence execute upgrade --env prod --dry-run"),
    ("env deploy 1 --dry-run", "env deploy prod --dry-run"),
    ("plugins show 1", "plugins show own"),
    ("plugins show 1 --release 1", "plugins show own-1.0.0 --release Tiny"),
    ("env settings download 1 --file -", "env settings download prod --file -"),
    ("task list --env 1", "task list --env prod"),
    ("env add nodes -e 1 --nodes 1 --roles controller", "env add nodes -e prod --nodes node-1 --roles controller"),
    ("plugins enable 1 --env 1", "plugins enable own --env prod"),
    ("plugins enable 1 --env 1", "plugins enable own==1.0.0 --env prod"),
    ("plugins disable 1 --env 1", "plugins disable own --env prod"),
    ("plugins disable 1 --env 1", "plugins disable own==1.0.0 --env prod"),
    ("plugins sync 1", "plugins sync own"),
    ("env update 1 --name third", "env update prod --name third"),
    ("graph upload --release 1 --type new --file {graph}", "graph upload --release Tiny --type new --file {graph}"),
    ("graph upload --plugin 1 --type new --file {graph}", "graph upload --plugin own --type new --file {graph}"),
    ("node delete 1 2 --force", "node delete node-1,node-2 --force"),
    ("env delete 1", "env delete third"),
    ("release delete 2", "release delete Second"),
)  # fmt: skip


def engine(directory: Path) -> CommandLine:
    directory.mkdir()
    tiny = tiny_engine(directory)
    tiny.ok("release", "import", "-", stdin=RELEASE.replace("Tiny", "Second").replace("tiny", "second"))
    tiny.ok("sequence", "create", "--release", 1, "--name", "upgrade", "--type", "default")
    tiny.ok("plugins", "create", directory / "own")
    tiny.ok("plugins", "install", directory / "own")
    return tiny


def test_names_do_what_ids_do(tmp_path: Path) -> None:
    graph = tmp_path / "graph.yaml"
    graph.write_text("[{id: x, type: shell, roles: [compute], parameters: {cmd: x, timeout: 1}}]", encoding="utf-8")
    by_id, by_name = engine(tmp_path / "ids"), engine(tmp_path / "names")
    for ids, names in SAME:
        expected = by_id(*ids.format(graph=graph).split())
        done = by_name(*names.format(graph=graph).split())
        spelled = {"node 1": "node-1", "node 2": "node-2", "node master": "master"} if "node-" in names else {}
        spelled |= {"environment 1": "prod"} if "prod" in names else {}
        said = as_spelled(expected.err, spelled)
        same = done.err.replace("/names/", "/ids/") == said
        assert (done.code, done.out, same) == (expected.code, expected.out, True), (names, done, expected)


@pytest.mark.parametrize(("line", "hint"), [
    ("env show prdo", "Did you mean prod?"), ("node show nodee-1", "Did you mean node-1?"),
    ("release show Tinny", "Did you mean Tiny?"), ("plugins show x", "There is no plugin yet."),
    ("graph preview --env prod --node nodd-1", "Did you mean node-1?"),
    ("sequence show x", "There is no sequence yet."),
    ("graph simulate --env prod --fail keystone/nodd-1", "Did you mean node-1?"),
])  # fmt: skip
def test_unknown_name_is_not_found_with_the_nearest_one(tiny: CommandLine, line: str, hint: str) -> None:
    done = tiny(*line.split())
    assert (done.code, done.out) == (5, "")
    assert hint in done.err


def test_a_number_is_always_an_id_so_it_is_no_name(tiny: CommandLine, tmp_path: Path) -> None:
    for noun, line, given in (
        ("environment", "env create 7 --release 1", None),
        ("environment", "env update 1 --name 7", None),
        ("environment", f"env clone 1 --name 7 --to-engine {tmp_path / 'copy.db'}", None),
        ("node", "node create 7 --ip 10.0.0.7", None),
        ("node", "node update 1 --name 7", None),
        ("node", "node import -", "- {name: '7'}"),
        ("release", "release import -", "[{name: '7', version: r-1}]"),
        ("release", "release create 7 --version r-1", None),
        ("sequence", "sequence create --release 1 --name 7 --type default", None),
        ("plugin", f"plugins create {tmp_path / '7'}", None),
    ):
        refused = tiny(*line.split(), stdin=given or "")
        article = "an" if noun == "environment" else "a"
        assert (refused.code, refused.out) == (2, ""), (line, refused)
        assert f"7 cannot be the name of {article} {noun}: a number always means an id." in refused.err
    for line in ("env list", "node list", "release list", "plugins list", "sequence list --release 1"):
        assert "7" not in tiny.ok(*line.split(), "-f", "value", "-c", "name").out.split()


def test_what_has_a_number_as_its_name_is_reached_by_its_id_and_renamed(tiny: CommandLine) -> None:
    tiny.ok("sequence", "create", "--release", 1, "--name", "upgrade", "--type", "default")
    with closing(sqlite3.connect(tiny.engine)) as stored, stored:  # as an earlier version of this program stored it
        for table in ("clusters", "nodes", "sequences"):
            stored.execute(f"UPDATE {table} SET name = '7' WHERE id = 1")  # noqa: S608 (names from above)
    tiny.ok("node", "update", 1, "--hostname", "seven")
    tiny.ok("sequence", "update", 1, "--graph-type", "default")
    for noun in ("env", "node", "sequence"):
        assert tiny.ok(noun, "show", 1, "-f", "value", "-c", "name").out == "7\n"
        tiny.ok(noun, "update", 1, "--name", "seven")
        assert tiny.ok(noun, "show", "seven", "-f", "value", "-c", "id").out == "1\n"


def test_a_line_of_many_names_and_ranges_lists_the_nodes_once() -> None:
    listed = Mock(return_value=[Node(number, f"n{number}") for number in range(1, 10)])
    backend = Mock()
    backend.nodes.list = listed
    typed = argparse.Namespace(nodes=[*node_references("n1,n2,3,4-6"), *node_references("8-9")])
    resolve(typed, lambda: backend, {})
    assert typed.nodes == [1, 2, 3, 4, 5, 6, 8, 9]
    listed.assert_called_once_with()


def test_an_empty_name_is_wrong_usage(tiny: CommandLine) -> None:
    for line in (("env", "show", ""), ("graph", "list", "--env", " "), ("node", "delete", ",")):
        assert tiny(*line).code == 2


def test_a_name_of_several_things_is_refused_with_their_ids(tiny: CommandLine) -> None:
    tiny.ok("release", "import", "-", stdin=RELEASE.replace("Tiny", "Second"))  # the same version
    tiny.ok("node", "create", "node-1", "--ip", "10.20.0.9")
    tiny.ok("sequence", "create", "--release", 1, "--name", "upgrade", "--type", "default")
    tiny.ok("sequence", "create", "--release", 2, "--name", "upgrade", "--type", "default")
    for line in ("release show tiny-1.0", "node show node-1", "sequence show upgrade"):
        done = tiny(*line.split())
        assert (done.code, done.out) == (2, ""), line
        assert [
            word for word in ("1 (", " 2 (" if "node" not in line else " 3 (in no environment)") if word in done.err
        ]
        assert done.err.count("(") == 2, done.err


def test_environment_decides_between_nodes_and_sequences(tiny: CommandLine) -> None:
    tiny.ok("release", "import", "-", stdin=RELEASE.replace("Tiny", "Second"))
    tiny.ok("node", "create", "node-2", "--ip", "10.20.0.9")
    for release in (1, 2):
        tiny.ok("sequence", "create", "--release", release, "--name", "upgrade", "--type", "default")
    named = tiny.ok("graph", "preview", "--env", "prod", "--node", "node-2").out
    assert named == tiny.ok("graph", "preview", "--env", 1, "--node", 2).out
    assert tiny("sequence", "execute", "upgrade", "--env", "prod", "--dry-run").code == 0
    adding = tiny("env", "add", "nodes", "--env", "prod", "--nodes", "node-2", "--roles", "compute")
    # it is not there yet, so this says nothing
    assert (adding.code, "3 (in no environment)" in adding.err) == (2, True)


def test_the_version_of_a_plugin_decides(fuel2: CommandLine, tmp_path: Path) -> None:
    for version in ("1.0.0", "2.0.0"):
        tree = tmp_path / version / "own"
        tree.parent.mkdir()
        fuel2.ok("plugins", "create", tree)
        metadata = (tree / "metadata.yaml").read_text(encoding="utf-8")
        metadata = re.sub(r"^version: .*$", f"version: {version}", metadata, flags=re.M)
        (tree / "metadata.yaml").write_text(metadata, encoding="utf-8")
        fuel2.ok("plugins", "install", tree)
    refused = fuel2("plugins", "remove", "own")
    assert (refused.code, "1 (1.0.0), 2 (2.0.0)" in refused.err) == (2, True)
    absent = fuel2("plugins", "remove", "own", "3.0.0")
    assert (absent.code, "Did you mean own 2.0.0?" in absent.err) == (5, True)
    assert fuel2("plugins", "remove", 1, "2.0.0").code == 5
    fuel2.ok("plugins", "remove", "own", "2.0.0")
    assert fuel2.ok("plugins", "list", "-f", "value", "-c", "version").out == "1.0.0\n"


def test_logs_and_histories_take_names_of_nodes(tiny: CommandLine) -> None:
    graph = "[{id: say, type: shell, version: 2.0.0, roles: [compute], parameters: {cmd: echo hello, timeout: 9}}]"
    tiny.ok("graph", "upload", "--env", "prod", "--type", "say", "--file", "-", stdin=graph)
    tiny.ok("graph", "execute", "--env", "prod", "--type", "say", "--executor", "local", "--wait")
    assert tiny.ok("task", "logs", 1, "say/node-2").out == tiny.ok("task", "logs", 1, "say/2").out == "hello\n"
    rows = tiny.ok("task", "history", "show", 1, "--nodes", "node-2", "-f", "json").json
    assert [row["task_name"] for row in rows] == ["say"]
    assert tiny("task", "history", "show", 1, "--nodes", "nodd-2").code == 5


def test_messages_answer_with_the_names_of_nodes_that_were_typed(tiny: CommandLine) -> None:
    by_name = tiny("graph", "simulate", "--env", "prod", "--fail", "netconfig/node-2")
    assert "Tolerated failures: netconfig/node-2." in by_name.err
    by_id = tiny("graph", "simulate", "--env", "prod", "--fail", "netconfig/2")
    assert "Tolerated failures: netconfig@2." in by_id.err
    assert by_name.out == by_id.out
    assert "Did you mean netconfig/node-2?" in tiny("graph", "simulate", "--env", 1, "--fail", "netconfg/node-2").err
    tiny.ok("graph", "execute", "--env", 1, "--type", "default", "--executor", "noop", "--wait")
    tiny.ok("node", "create", "other", "--ip", "10.0.0.9")
    assert "netconfg/other" in tiny("task", "logs", 1, "netconfg/other").err


def test_a_sync_point_has_no_node_in_documents_of_ours(tiny: CommandLine) -> None:
    graph = "[{id: deploy_start, type: stage, version: 2.0.0}]"
    tiny.ok("graph", "upload", "--env", 1, "--type", "sync", "--file", "-", stdin=graph)
    simulate = ("graph", "simulate", "--env", 1, "--type", "sync")
    dry = tiny.ok("graph", "execute", "--env", 1, "--type", "sync", "--dry-run", "--format", "json").json
    assert [row["node"] for row in dry[0]["instances"]] == [None]
    assert [row["node"] for row in tiny.ok(*simulate, "-f", "json").json] == [None]
    assert tiny.ok(*simulate, "-f", "value", "-c", "node").out == "null\n"
    tiny.ok("graph", "execute", "--env", 1, "--type", "sync", "--wait")
    rows = tiny.ok("task", "history", "show", 1, "-f", "json").json
    assert [row["node_id"] for row in rows] == ["null"]  # as the original client has it


def test_a_name_may_be_written_in_either_form_of_unicode(tiny: CommandLine) -> None:
    both = ("cafe\u0301", "caf\u00e9")
    for first, second in (both, both[::-1]):
        tiny.ok("env", "create", f"{first}-{len(second)}", "--release", 1)
        assert tiny("env", "create", f"{second}-{len(second)}", "--release", 1).code == 6
        shown = tiny.ok("env", "show", f"{second}-{len(second)}", "-f", "value", "-c", "name").out
        assert shown == f"{first}-{len(second)}\n"
    for noun, verb, words in (
        ("node", "show", ("--env", "prod")), ("sequence", "show", ("--release", 1, "--graph-type", "default")),
    ):  # fmt: skip
        named = (lambda name: (name,)) if noun == "node" else (lambda name: ("--name", name))
        tiny.ok(noun, "create", *named(both[0]), *words)
        assert tiny(noun, "create", *named(both[1]), *words).code == 6
        tiny.ok(noun, verb, both[1])


def test_nodes_are_sorted_by_sorted_roles_and_by_address(tiny: CommandLine) -> None:
    tiny.ok("release", "import", "-", stdin="[{name: R, version: r-1, roles_metadata: {b: {}, a: {}, c: {}}}]")
    tiny.ok("env", "create", "other", "--release", "R")
    for name, roles, ip in (("n1", "c a", 10), ("n2", "b", 9), ("n3", "a c", 101)):
        words = ("--env", "other", "--ip", f"10.0.0.{ip}", "--roles", *roles.split())
        tiny.ok("node", "create", name, *words)
    listed = ("node", "list", "--env", "other", "-f", "value", "-c", "name", "-c", "roles")
    assert tiny.ok(*listed, "-s", "roles", "name").out == "n1 a, c\nn3 a, c\nn2 b\n"
    assert tiny.ok(*listed[:-2], "-s", "ip").out == "n2\nn1\nn3\n"


def test_people_read_the_names_of_nodes(tiny: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny.ok("graph", "execute", "--env", 1, "--executor", "noop", "--wait")
    tiny.ok("plan", "create", tmp_path / "saved.json", "--env", 1)
    for line, shown in (
        ("graph execute --env 1 --dry-run", "| node-1, node-2 |"), ("env changes 1 --all", "on node-1, node-2:"),
        ("task history show 1", "| node-1 "), ("task gantt 1", "node node-1 "), ("task gantt 1 --by task", "/node-1 "),
        ("graph simulate --env 1 --fail netconfig/1", "| netconfig/node-1 "),
        (f"plan show {tmp_path}/saved.json", "| 1, 2  |"),
    ):  # fmt: skip
        assert shown in on_terminal(tiny.engine, 120, line, monkeypatch).out, line
        assert "node-1" not in tiny.ok(*line.replace(" --fail netconfig/1", "").split()).out, line


def test_a_name_that_no_line_can_have_stays_an_id(tiny: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny.ok("node", "update", 2, "--name", "two words")
    shown = on_terminal(tiny.engine, 120, "graph execute --env 1 --dry-run", monkeypatch).out
    assert "| node-1, 2 " in shown


def test_a_dry_run_skips_what_its_executor_would(tiny: CommandLine) -> None:
    graph = "- {id: x, type: upload_file, roles: [controller, compute], parameters: {path: /x, data: x, timeout: 1}}"
    tiny.ok("graph", "upload", "--env", 1, "--file", "-", stdin=graph)
    line = ("graph", "execute", "--env", 1)
    assert "4 task instances would run, 0 would" in tiny.ok(*line, "--dry-run").err
    assert "3 task instances would run, 1 would be skipped" in tiny.ok(*line, "--dry-run", "--executor", "noop").err
    assert "3 ready, 1 skipped" in tiny.ok(*line, "--executor", "noop", "--wait").err
    tiny.ok("node", "create", "idle", "--executor", "noop", "--env", 1, "--roles", "compute")
    instances = tiny.ok(*line, "--dry-run", "--format", "json").json[0]["instances"]
    assert [(one["task"], one["node"]) for one in instances if one["reason"] == "executor"] == [("x", 3)]


def test_messages_of_a_run_name_nodes(tiny: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    said = on_terminal(tiny.engine, 120, "graph execute --env 1 --executor noop --wait -v", monkeypatch).err
    assert "default: keystone/node-1 ready" in said
