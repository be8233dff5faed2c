"""Environments and their nodes on the command line."""

from __future__ import annotations

import re

import pytest
from command_line import RELEASE, CommandLine

UNAVAILABLE = "- {name: Old, version: old-1.0, operating_system: CentOS, state: unavailable, roles_metadata: {a: {}}}\n"


def test_without_a_release_the_next_step_is_told(fuel2: CommandLine) -> None:
    done = fuel2("env", "create", "prod", "--release", 1)
    assert (done.code, done.out) == (5, "")
    error, absent = done.err.splitlines()
    assert "release import FILE" in error
    assert absent.startswith(f"Engine file {fuel2.engine} does not exist yet; it is read as empty. ")


def test_create_prints_the_id_for_scripts(tiny: CommandLine) -> None:
    assert tiny.ok("env", "create", "two", "-r", 1, "-f", "value", "-c", "id").out == "2\n"
    shown = tiny.ok("env", "create", "three", "-r1", "-nst", "tun", "-f", "json").json
    assert list(shown) == ["id", "status", "fuel_version", "name", "release_id", "is_customized", "changes"]
    assert (shown["id"], shown["status"], shown["name"], shown["release_id"]) == (3, "new", "three", 1)


def test_create_refuses_a_name_that_is_taken(tiny: CommandLine) -> None:
    done = tiny("env", "create", "prod", "--release", 1)
    assert (done.code, done.out) == (6, "")


def test_an_unavailable_release_is_used_with_a_warning(fuel2: CommandLine) -> None:
    fuel2.ok("release", "import", "-", stdin=UNAVAILABLE)
    assert "unavailable" in fuel2.ok("env", "create", "prod", "--release", 1).err


def test_gre_is_deprecated_on_stderr(tiny: CommandLine) -> None:
    done = tiny.ok("env", "create", "g", "--release", 1, "-nst", "gre", "-f", "json")
    assert "WARNING: GRE network segmentation type is deprecated since 7.0 release" in done.err
    assert done.json["name"] == "g"


def test_list_show_and_update(tiny: CommandLine) -> None:
    assert tiny.ok("env", "list", "-f", "value").out == "1 new prod 1\n"
    assert tiny.ok("env", "update", 1, "--name", "live", "-f", "value", "-c", "name").out == "live\n"
    assert tiny.ok("env", "show", 1, "-f", "shell", "-c", "name", "-c", "fuel_version").out == (
        'fuel_version="1.0"\nname="live"\n'
    )
    assert tiny("env", "show", 7).code == 5


def test_delete_keeps_the_nodes(tiny: CommandLine) -> None:
    assert tiny.ok("env", "delete", 1).out == "Environment with id 1 was deleted\n"
    assert [node["cluster"] for node in tiny.ok("node", "list", "-f", "json").json] == [None, None]
    assert tiny("env", "delete", 1).code == 5


@pytest.mark.parametrize("nodes", [["3", "4"], ["3,4"], ["3,", "4,3"]])
def test_add_nodes(tiny: CommandLine, nodes: list[str]) -> None:
    tiny.ok("node", "create", "node-3")
    tiny.ok("node", "create", "node-4")
    done = tiny.ok("env", "add", "nodes", "--env", 1, "--node", *nodes, "--roles", "controller")
    assert done.out == "Nodes [3, 4] were added to the environment 1 with roles ['controller']\n"
    assert len(tiny.ok("node", "list", "-e", 1, "-f", "json").json) == 4


def test_add_nodes_is_all_or_nothing(tiny: CommandLine) -> None:
    tiny.ok("node", "create", "node-3")
    assert tiny("env", "add", "nodes", "-e", 1, "-n", 3, 99, "-r", "controller").code == 5
    unknown = tiny("env", "add", "nodes", "-e", 1, "-n", 3, "-r", "controler")
    assert (unknown.code, unknown.out) == (5, "")
    assert "Did you mean controller?" in unknown.err
    assert len(tiny.ok("node", "list", "-e", 1, "-f", "json").json) == 2


def test_remove_nodes(tiny: CommandLine) -> None:
    assert tiny.ok("env", "remove", "nodes", "-e", 1, "-n", 2).out == (
        "Nodes were removed from the environment with id=1\n"
    )
    tiny.ok("env", "remove", "nodes", "--env", 1, "--nodes-all")
    empty = tiny("env", "remove", "nodes", "--env", 1, "--nodes-all")
    assert (empty.code, empty.out) == (6, "")
    assert empty.err.endswith("Environment with id=1 doesn't have nodes to remove.\n")


def test_an_empty_list_is_a_header_or_an_empty_list(fuel2: CommandLine) -> None:
    assert fuel2.ok("env", "list", "-f", "json").json == []
    rule, header, *_ = fuel2.ok("env", "list").out.splitlines()
    assert re.fullmatch(r"\+-+\+-+\+-+\+-+\+", rule)
    assert [cell.strip() for cell in header.strip("|").split("|")] == ["id", "status", "name", "release_id"]


def test_another_version_of_the_release_is_shown_first(tiny: CommandLine) -> None:
    tiny.ok("release", "import", "-", stdin=RELEASE.replace("tiny-1.0", "tiny-2.0"))
    only = tiny.ok("env", "update", 1, "--release", "tiny-2.0", "--dry-run", "-f", "value", "-c", "release_id")
    assert only.out == "1\n"
    assert "keystone" in only.err  # a task of the release, and an override that is left with nothing
    assert "G021" in only.err
    declined = tiny("env", "update", 1, "--release", "tiny-2.0", stdin="n\n", terminal=True)
    assert (declined.code, tiny.ok("env", "show", 1, "-f", "value", "-c", "release_id").out) == (11, "1\n")
    moved = tiny.ok("env", "update", 1, "--release", "tiny-2.0", "--yes", "--name", "live", "-f", "json").json
    assert (moved["release_id"], moved["name"]) == (2, "live")
    assert tiny("env", "update", 1).code == 2
