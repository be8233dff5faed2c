"""Networks of environments, disks and interfaces of nodes on the embedded engine: download, change, upload."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from command_line import CommandLine

NODE = ("node", "interfaces")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_network_is_changed_through_a_file(tiny: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "environment_1" / "network.yaml"
    done = tiny.ok("env", "network", "download", 1, "-f", "yaml")
    assert done.out == f"Configuration of network for the environment with id 1 was stored in {path}\n"
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    document["networks"].insert(0, {"name": "backup", "cidr": "10.9.0.0/24", "vlan_start": 200})
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    done = tiny.ok("env", "network", "upload", 1, "-f", "yaml")
    assert done.out == f"Configuration of network for the environment with id 1 was loaded from {path}\n"
    assert done.err.startswith("The network backup is new.\n")
    assert str(tiny.engine) in done.err
    after = yaml.safe_load(tiny.ok("env", "network", "download", 1, "--file", "-").out)
    assert [(one["name"], one["cidr"]) for one in after["networks"]] == [
        ("backup", "10.9.0.0/24"), ("fuelweb_admin", "10.20.0.0/24"),
    ]  # fmt: skip
    done = tiny.ok("env", "network", "upload", 1, "--file", "-", stdin="networks: [{name: backupp}, {name: backup}]")
    assert done.err.startswith("The network backupp is new. Did you mean backup?\nTarget")


def test_wrong_networks_are_refused_and_the_file_is_named(tiny: CommandLine) -> None:
    for text, named in (("[]", "a mapping"), ("networks: [{name: x, cidr: y}]", "network x")):
        done = tiny("env", "network", "upload", 1, "--file", "-", stdin=text)
        assert done.code == 7
        assert named in done.err
    assert tiny("env", "network", "download", 9, "--file", "-").code == 5
    assert tiny("env", "network", "upload", 1).code == 5


@pytest.mark.parametrize(
    ("command", "document", "code", "named"),
    [
        ("env network upload 1", "networks: [{name: fuelweb_admin, cidr: x}]", 7, "fuelweb_admin"),
        ("env network upload 1", "vips: {mine: {ipaddr: here}}", 7, "mine"),
        ("node disks upload 1", "[{id: sda, size: big}]", 7, "sda"),
        ("node interfaces upload 1", "[{name: eth7}]", 7, "no interface eth7"),
        ("node attributes-upload 1", "{hostname: node-2}", 6, "node-2"),
        ("role update --release 1 --name nosuch", "{}", 5, "nosuch"),
        ("tag update --release 1 --name nosuch", "{}", 5, "nosuch"),
    ],
)
def test_nothing_is_asked_about_a_file_that_is_refused(
    tiny: CommandLine, tmp_path: Path, command: str, document: str, code: int, named: str
) -> None:
    path = tmp_path / "node_1" / "attributes.yaml"
    path.parent.mkdir()
    path.write_text("meta: {interfaces: [{name: eth0}]}", encoding="utf-8")
    tiny.ok("node", "attributes-upload", 1)
    path.write_text(document, encoding="utf-8")
    file = [] if "attributes" in command else ["--file", path]
    done = tiny(*command.split(), *file, terminal=True, stdin="y\n")
    assert (done.code, "y/N" in done.err) == (code, False), done
    assert named in done.err


def test_networks_are_verified_by_a_master_only(tiny: CommandLine) -> None:
    done = tiny("env", "network", "verify", 1)
    assert (done.code, done.out) == (2, "")
    assert "verify" in done.err


def test_disks_come_back_as_they_were_uploaded(tiny: CommandLine, tmp_path: Path) -> None:
    assert yaml.safe_load(tiny.ok("node", "disks", "download", 1, "--file", "-").out) == []
    disks = "[{id: sda, name: sda, size: 100, volumes: [{name: os, size: 50}]}]"
    tiny.ok("node", "disks", "upload", 1, "--file", "-", stdin=disks)
    done = tiny.ok("node", "disks", "download", 1, "-f", "json", "-d", tmp_path)
    path = tmp_path / "node_1" / "disks.json"
    assert done.out == f"Configuration of disks for node with id 1 was stored in {path}\n"
    assert yaml.safe_load(path.read_text(encoding="utf-8")) == yaml.safe_load(disks)
    assert tiny("node", "disks", "upload", 1, "--file", "-", stdin="{}").code == 7
    assert tiny("node", "disks", "get-default", 1).code == 2
    assert tiny("node", "disks", "get-default", 9).code == 5


def test_interfaces_have_their_networks_until_they_are_changed(tiny: CommandLine) -> None:
    default = yaml.safe_load(tiny.ok(*NODE, "get-default", 1, "--file", "-").out)
    assert [(one["name"], one["pxe"]) for one in default] == [("eth0", True), ("eth1", False)]
    assert default[0]["assigned_networks"] == [{"id": 1, "name": "fuelweb_admin"}]
    tiny.ok(*NODE, "download", 1, "-f", "yaml")
    tiny.ok(*NODE, "upload", 1, "-f", "yaml")
    tiny.ok(*NODE, "upload", 1, "--file", "-", stdin="[{name: bond0}]")
    assert yaml.safe_load(tiny.ok(*NODE, "download", 1, "--file", "-").out) == [{"name": "bond0"}]
    done = tiny(*NODE, "upload", 1, "--file", "-", stdin="[{mac: x}]")
    assert done.code == 7
    assert "name" in done.err


def test_virtual_addresses_are_changed_through_a_file(tiny: CommandLine, tmp_path: Path) -> None:
    assert yaml.safe_load(tiny.ok("vip", "download", "-e", 1, "-f", "-").out) == []
    tiny.ok("vip", "create", "-e", 1, "-N", "public", "-a", "10.20.0.130", "-n", 1, "--namespace", "haproxy")
    assert tiny("vip", "create", "-e", 1, "-N", "public", "-a", "10.20.0.131").code == 6
    done = tiny.ok("vip", "download", "-e", 1)
    path = tmp_path / "vips_1.yaml"
    assert done.out == f"VIP configuration for environment with id=1 downloaded to {path}\n"
    (vip,) = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert vip == {
        "id": 1, "network": 1, "node": None, "ip_addr": "10.20.0.130", "vip_name": "public", "vip_namespace": "haproxy",
        "is_user_defined": True,
    }  # fmt: skip
    path.write_text(yaml.safe_dump([{**vip, "ip_addr": "10.20.0.140"}]), encoding="utf-8")
    tiny.ok("vip", "upload", "-e", 1, "-f", "vips_1.yaml")
    network = yaml.safe_load(tiny.ok("env", "network", "download", 1, "--file", "-").out)
    assert network["vips"]["public"]["ipaddr"] == "10.20.0.140"
    for arguments, code in ((("-a", 7), 5), (("-f", "vips_1.yaml", "--no-clobber"), 6), (("-f", "vips.txt"), 2)):
        assert tiny("vip", "download", "-e", 1, *arguments).code == code
    done = tiny("vip", "upload", "-e", 1, "-f", "-", stdin="[{id: 7, ip_addr: 10.0.0.1}]")
    assert done.code == 7
    assert "id 7" in done.err
