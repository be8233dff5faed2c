"""Releases, nodes and roles on the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import RELEASE, CommandLine

NODES = """
- {name: a, roles: [controller], ip: 10.20.0.3}
- {id: 7, name: b, roles: [compute], ip: 10.20.0.4, status: ready, online: false}
- {name: c, executor: noop, attributes: {os_platform: ubuntu}}
"""


def test_without_a_release_the_list_says_what_to_do(fuel2: CommandLine) -> None:
    done = fuel2.ok("release", "list", "-f", "json")
    assert done.json == []
    assert f"or `fuel2 --engine {fuel2.engine} demo` for" in done.err


def test_import_is_all_or_nothing(fuel2: CommandLine) -> None:
    imported = fuel2.ok("release", "import", "-", "-f", "json", stdin=RELEASE)
    assert [(row["id"], row["name"], row["state"]) for row in imported.json] == [(1, "Tiny", "available")]
    again = fuel2("release", "import", "-", stdin=RELEASE + "- {name: Other, version: other-1.0}\n")
    assert (again.code, again.out) == (6, "")
    assert len(fuel2.ok("release", "list", "-f", "json").json) == 1


def test_import_of_what_is_no_release(fuel2: CommandLine) -> None:
    done = fuel2("release", "import", "-", stdin="- {name: x}\n")
    assert (done.code, done.out) == (7, "")
    assert done.err.startswith("<stdin>:1")
    twice = fuel2("release", "import", "-", stdin="- {name: x}\n- {version: y}\n").err.splitlines()
    assert [line.partition(":")[2].partition(":")[0] for line in twice] == ["1", "2"]
    assert fuel2("release", "import", "/nowhere/at/all.yaml").code == 5


def test_show_for_programs_can_be_imported_again(fuel2: CommandLine) -> None:
    fuel2.ok("release", "import", "-", stdin=RELEASE)
    shown = fuel2.ok("release", "show", 1, "-f", "json").out
    fuel2.ok("release", "delete", 1)
    fuel2.ok("release", "import", "-", stdin=shown)
    assert set(fuel2.ok("role", "list", "-r", 1, "-f", "value", "-c", "name").out.split()) == {"controller", "compute"}


def test_create_takes_further_fields_from_a_file(fuel2: CommandLine) -> None:
    line = ("release", "create", "Mine", "--version", "mine-1.0", "--operating-system", "Debian")
    shown = fuel2.ok(*line, "--file", "-", "-f", "json", stdin="state: unavailable\nroles_metadata: {a: {name: A}}\n")
    assert shown.json["version"] == "mine-1.0"
    assert shown.json["state"] == "unavailable"
    assert fuel2.ok("role", "list", "--release", 1, "-f", "value", "-c", "name").out == "a\n"
    assert fuel2(*line).code == 6
    assert fuel2("release", "create", "Other", "--version", "1", "--file", "-", stdin="- 1\n").code == 7


def test_a_release_in_use_stays(tiny: CommandLine) -> None:
    assert tiny("release", "delete", 1).code == 6
    tiny.ok("env", "delete", 1)
    assert tiny.ok("release", "delete", 1).out == "Release with id 1 was deleted\n"


PARTS = """
- name: Full
  version: full-1.0
  components_metadata:
  - {name: "hypervisor:kvm", default: true, compatible: [{name: "network:neutron"}]}
  - {name: "storage:ceph", requires: [{any_of: {items: ["storage:a", "storage:b"]}}], incompatible: []}
  attributes_metadata:
    editable:
      common: {debug: {value: false}}
      repo_setup: {repos: {type: custom, value: [
        {name: ubuntu, type: deb, uri: "http://u", suite: trusty, section: main, priority: null},
        {name: mos, type: deb, uri: "http://m", suite: mos9.0, section: main restricted, priority: 1050}]}}
"""
REPOS = "- {name: mirror, type: deb, uri: 'http://x', suite: y, section: main, priority: 1000}\n"


def test_components_of_a_release(fuel2: CommandLine) -> None:
    fuel2.ok("release", "import", "-", stdin=PARTS)
    assert fuel2.ok("release", "component", "list", 1, "-f", "value").out.splitlines() == [
        "hypervisor:kvm - network:neutron - True",
        "storage:ceph any_of (storage:a, storage:b) -  -",
    ]
    row = fuel2.ok("release", "component", "list", 1, "-s", "default", "-f", "json").json[0]
    assert row["compatible"] == [{"name": "network:neutron"}]
    assert fuel2("release", "component", "list", 9).code == 5


def test_components_of_a_plugin_that_extends_a_release(fuel2: CommandLine, tmp_path: Path) -> None:
    fuel2.ok("plugins", "create", tmp_path / "own")
    (tmp_path / "own" / "components.yaml").write_text("- {name: 'hypervisor:own', label: O}\n", encoding="utf-8")
    fuel2.ok("release", "create", "Newton", "--version", "newton-10.0", "--operating-system", "Ubuntu")
    fuel2.ok("release", "create", "Other", "--version", "juno-6.0", "--operating-system", "CentOS")
    fuel2.ok("plugins", "install", tmp_path / "own")
    listed = ("release", "component", "list")
    assert fuel2.ok(*listed, 1, "-f", "value", "-c", "name").out == "hypervisor:own\n"
    assert fuel2.ok(*listed, 2, "-f", "json").json == []


def test_repositories_of_a_release(fuel2: CommandLine, tmp_path: Path) -> None:
    fuel2.ok("release", "import", "-", stdin=PARTS)
    listed = fuel2.ok("release", "repos", "list", 1, "-f", "json").json
    assert [row["name"] for row in listed] == ["mos", "ubuntu"]
    assert list(listed[0]) == ["name", "priority", "uri", "section", "suite", "type"]
    assert listed[0]["priority"] == 1050
    by_name = fuel2.ok("release", "repos", "list", 1, "-s", "suite", "name", "-f", "value", "-c", "suite").out
    assert by_name == "mos9.0\ntrusty\n"
    file = tmp_path / "repos.yaml"
    file.write_text(REPOS, encoding="utf-8")
    done = fuel2.ok("release", "repos", "update", 1, "--file", file)
    assert done.out == f"Repositories for the release with id 1 were set from {file}.\n"
    assert fuel2.ok("release", "repos", "list", 1, "-f", "value").out == "mirror 1000 http://x main y deb\n"
    shown = fuel2.ok("release", "show", 1, "-f", "json").json["attributes_metadata"]["editable"]
    assert (shown["common"], shown["repo_setup"]["repos"]["type"]) == ({"debug": {"value": False}}, "custom")
    fuel2.ok("env", "create", "e", "-r", 1)
    settings = fuel2.ok("env", "settings", "download", 1, "--file", "-", "-f", "json").json["editable"]
    assert settings["repo_setup"]["repos"]["value"][0]["name"] == "mirror"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: x\n", "repositories are a list, not a mapping"),
        ("- x\n", "a repository is a mapping, not the string 'x'"),
        ("- {name: x}\n", "the repository has no uri"),
        ("- {name: 1, uri: u}\n", "name must be a string, not the number 1"),
        ("- {name: x, uri: u, priority: high}\n", "priority must be a whole number, not the string 'high'"),
    ],
)
def test_what_is_no_list_of_repositories(tiny: CommandLine, text: str, message: str) -> None:
    done = tiny("release", "repos", "update", 1, "-f", "-", stdin=text)
    assert (done.code, done.out) == (7, "")
    assert done.err.startswith("<stdin>:1")
    assert message in done.err
    assert tiny.ok("release", "repos", "list", 1, "-f", "json").json == []


def test_the_version_of_fuel(fuel2: CommandLine) -> None:
    shown = fuel2.ok("fuel-version", "-f", "json").json
    assert shown == {
        "api": "1.0", "auth_required": False, "feature_groups": ["experimental"], "openstack_version": "mitaka-9.0",
        "release": "9.0",
    }  # fmt: skip


def test_import_of_nodes(tiny: CommandLine) -> None:
    rows = tiny.ok("node", "import", "-", "--env", 1, "-f", "json", stdin=NODES).json
    assert sorted((row["id"], row["name"]) for row in rows) == [(7, "b"), (8, "a"), (9, "c")]
    by_name = {row["name"]: row for row in rows}
    assert by_name["a"]["roles"] == ["controller"]
    assert by_name["b"]["online"] is False
    assert by_name["c"]["os_platform"] == "ubuntu"
    assert {row["cluster"] for row in rows} == {1}


def test_import_of_nodes_is_all_or_nothing(tiny: CommandLine) -> None:
    assert tiny("node", "import", "-", "--env", 1, stdin=NODES + "- {name: d, roles: [nonsense]}\n").code == 5
    assert tiny("node", "import", "-", stdin=NODES + "- {name: d, rols: []}\n").code == 7
    assert len(tiny.ok("node", "list", "-f", "json").json) == 2


def test_show_of_a_node(tiny: CommandLine) -> None:
    shown = tiny.ok("node", "show", 1, "-f", "json").json
    assert (shown["roles"], shown["pending_roles"]) == ([], ["controller"])
    assert list(shown)[:6] == ["id", "name", "status", "os_platform", "roles", "kernel_params"]
    assert tiny("node", "show", 9).code == 5


def test_delete_of_nodes(tiny: CommandLine) -> None:
    refused = tiny("node", "delete", 1, 2)
    assert (refused.code, refused.out) == (6, "")
    assert tiny.ok("node", "delete", "1,2", "--force").out == "Nodes [1, 2] were deleted from the database\n"


def test_list_of_roles_has_one_row_to_a_line(tiny: CommandLine) -> None:
    table = tiny.ok("role", "list", "--env", 1).out.splitlines()
    assert len(table) == 6
    assert "Runs the APIs" in table[4]
    rows = tiny.ok("role", "list", "--release", 1, "-f", "json").json
    assert [row["name"] for row in rows] == ["compute", "controller"]
    assert rows[1]["conflicts"] == ["compute"]
    assert rows[1]["description"] == "Runs\nthe APIs"


def test_show_of_a_role(tiny: CommandLine) -> None:
    shown = tiny.ok("role", "show", "compute", "--env", 1, "-f", "json").json
    assert (shown["name"], shown["tags"], shown["limits"]) == ("compute", ["compute"], {"min": 1})
    unknown = tiny("role", "show", "compte", "-r", 1)
    assert (unknown.code, "Did you mean compute?" in unknown.err) == (5, True)
    assert tiny("role", "list").code == 2


def test_a_reader_that_leaves_early_is_no_error(fuel2: CommandLine) -> None:
    roles = ", ".join(f"role-{number}: {{description: {'x' * 50}}}" for number in range(3000))
    fuel2.ok("release", "import", "-", stdin=f"- {{name: Big, version: big-1, roles_metadata: {{{roles}}}}}\n")
    line = [sys.executable, "-m", "fuelclient.main", "--engine", str(fuel2.engine), "role", "list", "-r", "1"]
    script = '"$@" | head -1; echo "${PIPESTATUS[0]}"'
    done = subprocess.run(
        ["bash", "-c", script, "bash", *line], capture_output=True, text=True, check=False, env=dict(os.environ)
    )
    assert done.stdout.splitlines()[1:] == ["141"]
    assert done.stderr == ""


def test_tasks_of_roles_outside_packages_are_told(fuel2: CommandLine) -> None:
    """Nailgun stores them and never looks at them; only the loader of packages makes groups of them."""
    roles = "{a: {name: A, tasks: [x]}, b: {name: B, tasks: []}, c: {name: C}}"
    told = "Tasks of roles have no effect outside a plugin package, as in Fuel (a)"
    imported = fuel2.ok("release", "import", "-", stdin=f"- {{name: R, version: r-1, roles_metadata: {roles}}}\n")
    assert told in imported.err
    created = fuel2.ok("release", "create", "S", "--version", "s-1", "--file", "-", stdin=f"roles_metadata: {roles}\n")
    assert told in created.err
    for verb in ("create", "update"):
        line = ("role", verb, "-r", 1, "-n", "d", "--file", "-", "-f", "yaml")
        done = fuel2.ok(*line, *(("--yes",) if verb == "update" else ()), stdin="meta: {name: D, tasks: [x]}\n")
        assert told.replace("(a)", "(d)") in done.err
    assert "Tasks of roles" not in fuel2.ok("role", "list", "-r", 1).err
