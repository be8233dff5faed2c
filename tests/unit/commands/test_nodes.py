"""Names, labels, attributes and inventories of nodes on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from command_line import CommandLine


def test_update(tiny: CommandLine) -> None:
    shown = tiny.ok("node", "update", 1, "--name", "brain", "-H", "brain.domain.tld", "-f", "json").json
    assert list(shown)[:5] == ["id", "name", "status", "os_platform", "roles"]
    assert (shown["name"], shown["hostname"]) == ("brain", "brain.domain.tld")
    assert tiny.ok("node", "show", 1, "-f", "json").json == shown


@pytest.mark.parametrize("hostname", ["", "brain"])
def test_a_node_is_shown_under_the_names_of_its_facts(tiny: CommandLine, hostname: str, tmp_path: Path) -> None:
    if hostname:
        tiny.ok("node", "update", 1, "--hostname", hostname)
    shown = tiny.ok("node", "show", 1, "-f", "json").json
    tiny.ok("env", "deployment-facts", "get-default", "--env", 1, "--dir", tmp_path)
    facts = yaml.safe_load((tmp_path / "deployment_1" / "1.yaml").read_text())
    assert shown["hostname"] == (hostname or "node-1")
    assert shown["fqdn"] == facts["fqdn"] == f"{shown['hostname']}.domain.tld"


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ([], 2, "Nothing to update."),
        (["--name", ""], 2, "A node needs a name."),
        (["--hostname", "a b"], 2, "'a b' is not a host name."),
        (["--name", "node-2"], 6, "Environment 1 already has a node node-2, with id 2."),
        (["--hostname", "node-2"], 6, "Environment 1 already has a node node-2, with id 2."),
    ],
)
def test_what_a_node_cannot_be_called(tiny: CommandLine, words: list[str], code: int, message: str) -> None:
    before = tiny.ok("node", "show", 1, "-f", "json").out
    done = tiny("node", "update", 1, *words)
    assert (done.code, done.out) == (code, "")
    assert message in done.err
    assert tiny.ok("node", "show", 1, "-f", "json").out == before


def test_undiscover(tiny: CommandLine) -> None:
    refused = tiny("node", "undiscover", "--node", 1)
    assert (refused.code, refused.out) == (6, "")
    assert "Nodes with ids [1] cannot be deleted from database because they are online." in refused.err
    assert tiny.ok("node", "undiscover", "-n", 1, "-f").out == "Nodes [1] were deleted from the database\n"
    assert tiny.ok("node", "undiscover", "--env", 1, "--force").out == "Nodes [2] were deleted from the database\n"
    assert tiny("node", "undiscover", "--env", 1, "--force").code == 5
    assert tiny("node", "undiscover", "--node", 1).code == 5
    tiny.ok("node", "import", "-", stdin="- {name: gone, online: false}\n")
    assert tiny.ok("node", "undiscover", "--node", 3).out == "Nodes [3] were deleted from the database\n"


def test_labels(tiny: CommandLine) -> None:
    done = tiny.ok("node", "label", "set", "-l", "rack=b", "ssd", "-n", "1,2")
    assert done.out == "Labels have been updated on nodes: 1,2 \n"
    tiny.ok("node", "create", "free")
    assert tiny.ok("node", "label", "set", "-l", "site=west", "--nodes-all").out.endswith(": 1,2,3 \n")
    rows = tiny.ok("node", "label", "list", "-f", "json").json
    assert [tuple(row.values()) for row in rows] == [
        (1, "rack", "b"), (1, "site", "west"), (1, "ssd", None),
        (2, "rack", "b"), (2, "site", "west"), (2, "ssd", None),
        (3, "site", "west"),
    ]  # fmt: skip
    assert tiny.ok("node", "label", "list", "-n", 3, "-f", "value").out == "3 site west\n"
    gone = tiny.ok("node", "label", "delete", "-l", "ssd", "rack=c", "-n", 1)
    assert gone.out == "Labels have been deleted on nodes: 1 \n"
    assert gone.err.startswith("None of these nodes has the label rack=c.\n")
    assert tiny.ok("node", "label", "list", "-n", 1, "-f", "value").out == "1 rack b\n1 site west\n"
    tiny.ok("node", "label", "delete", "--labels-all", "--nodes-all")
    assert tiny.ok("node", "label", "list", "-f", "json").json == []


def test_ranges_are_read_as_they_are_printed(tiny: CommandLine) -> None:
    for name in ("free", "spare", "1-2"):
        tiny.ok("node", "create", name)
    assert tiny.ok("node", "label", "set", "-l", "a", "-n", "2-4,1").out.endswith(": 2,3,4,1 \n")
    assert tiny.ok("node", "label", "set", "-l", "b", "-n", "1-2").out.endswith(": 5 \n")  # a node of that name
    assert "Node 6 does not exist" in tiny("node", "label", "set", "-l", "c", "-n", "4-999999999").err
    assert "Node 4-2 does not exist" in tiny("node", "label", "set", "-l", "c", "-n", "4-2").err


@pytest.mark.parametrize(
    ("words", "ids"),
    [(["rack=b"], [1]), (["rack"], [1, 2]), (["rack=c", "ssd"], [2, 3]), (["rack=d"], []), (["site="], [])],
)
def test_a_list_of_nodes_that_have_a_label(tiny: CommandLine, words: list[str], ids: list[int]) -> None:
    tiny.ok("node", "create", "free")
    for node, label in ((1, "rack=b"), (2, "rack=c"), (3, "ssd")):
        tiny.ok("node", "label", "set", "--labels", label, "--nodes", node)
    rows = tiny.ok("node", "list", "-l", *words, "-f", "json").json
    assert [row["id"] for row in rows] == ids


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["set", "-l", "=b", "-n", "1"], 2),
        (["set", "-l", "a", "-n", "1", "9"], 5),
        (["set", "-l", "a"], 2),
        (["delete", "-n", "1"], 2),
        (["delete", "-l", "a", "--labels-all", "-n", "1"], 2),
        (["list", "-n", "9"], 5),
    ],
)
def test_labels_that_make_no_sense(tiny: CommandLine, words: list[str], code: int) -> None:
    done = tiny("node", "label", *words)
    assert (done.code, done.out) == (code, "")
    assert tiny.ok("node", "label", "list", "-f", "json").json == []


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_attributes(tiny: CommandLine, tmp_path: Path, form: str) -> None:
    tiny.ok("node", "import", "-", stdin="- {name: big, attributes: {os_platform: ubuntu, cpus: 8}}\n")
    path = tmp_path / "node_3" / f"attributes.{form}"
    line = (3, "--dir", tmp_path, "-f", form)
    done = tiny.ok("node", "attributes-download", *line)
    assert done.out == f"Attributes for node 3 were written to {path}\n"
    read = (json.loads if form == "json" else yaml.safe_load)(path.read_text(encoding="utf-8"))
    assert read == {"os_platform": "ubuntu", "cpus": 8}
    assert tiny("node", "attributes-download", *line, "--no-clobber").code == 6
    path.write_text('{"os_platform": "centos"}', encoding="utf-8")
    assert tiny.ok("node", "attributes-upload", *line).out == "Attributes for node 3 were uploaded.\n"
    tiny.ok("node", "attributes-download", *line, "--force")
    assert "cpus" not in path.read_text(encoding="utf-8")
    assert tiny.ok("node", "show", 3, "-f", "json").json["os_platform"] == "centos"
    path.write_text("[]", encoding="utf-8")
    assert tiny("node", "attributes-upload", *line).code == 7
    assert tiny("node", "attributes-upload", 1, "--dir", tmp_path).code == 5


INVENTORY = """\
[compute]
node-2 ansible_host=10.20.0.4

[controller]
brain ansible_host=10.20.0.3

"""


def test_an_inventory_for_ansible(tiny: CommandLine) -> None:
    tiny.ok("node", "update", 1, "--hostname", "brain")
    tiny.ok("node", "create", "nowhere", "--env", 1, "--roles", "compute")
    none = tiny.ok("node", "ansible-inventory", "--env", 1)
    assert (none.out, "--pending adds pending roles" in none.err) == ("", True)
    done = tiny.ok("node", "ansible-inventory", "-e", 1, "--pending")
    assert done.out == INVENTORY
    assert "Node 3 (nowhere) has no address and is left out." in done.err
    tiny.ok("node", "label", "set", "-l", "rack=b", "-n", 2)
    assert "[controller]" not in tiny.ok("node", "ansible-inventory", "-e", 1, "--pending", "-l", "rack").out
    assert tiny("node", "ansible-inventory").code == 2
