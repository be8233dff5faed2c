"""Networks, disks and services on a real master: what is uploaded and changed there, and what it refuses."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
import yaml
from contract.recorded.conftest import OnMaster
from recordings import Replay, commands, line

pytestmark = pytest.mark.corpus


def words(command: str) -> list[str]:
    """The arguments of a command line."""
    return shlex.split(command)[1:]


def test_what_was_downloaded_is_uploaded_as_it_is(on_master: OnMaster) -> None:
    assert on_master(Replay(192, 193), *words("fuel2 env network download 1 -f yaml")).code == 0
    upload = "fuel2 env network upload 1 -f yaml"
    replay = commands()[upload].replay()
    done = on_master(replay, *words(upload))  # the replay only answers the recorded body
    assert done.out.startswith("Configuration of network for the environment with id 1 was loaded from "), done.err
    assert replay.asked[-1] == "PUT clusters/1/network_configuration/neutron"
    assert on_master(Replay(168), *words("fuel2 node interfaces download 1")).code == 0
    assert on_master(Replay(170), *words("fuel2 node interfaces upload 1")).code == 0


def test_a_refusal_says_what_the_master_says(on_master: OnMaster) -> None:
    refused = on_master(Replay(174), "node", "disks", "upload", 1, "--file", "-", stdin='[{"id": "nosuch"}]')
    assert refused.code == 7
    assert "'size' is a required property" in refused.err
    absent = on_master(Replay(187), "env", "network", "download", 99)
    assert (absent.code, absent.out) == (5, "")
    wrong = on_master(Replay(174), "node", "disks", "upload", 1, "--file", "-", stdin="sda: 1")
    assert wrong.code == 7
    assert "stdin" in wrong.err


@pytest.mark.parametrize(
    ("number", "arguments", "code", "said"),
    [
        (202, "network-group show 99", 5, "99"),
        (211, "env extension enable 1 -E nosuch", 7, "No such extensions: nosuch"),
        (219, "openstack-config execute -e 1", 6, "Cluster should be in the status 'operational'"),
        (222, "openstack-config delete 1", 6, "Configuration '1' has been already disabled."),
        (223, "openstack-config delete 99", 5, "99"),
    ],
)
def test_a_service_is_refused_in_the_words_of_the_master(
    on_master: OnMaster, number: int, arguments: str, code: int, said: str
) -> None:
    recorded = line(number)
    same = Replay(number, same=lambda _sent, _recorded: True) if recorded.request_body else Replay(number)
    done = on_master(same, *shlex.split(arguments))
    assert (done.code, done.out) == (code, "")
    assert said in done.err


def test_configurations_are_stored_and_deleted(on_master: OnMaster) -> None:
    document = "configuration: {nova_config: {DEFAULT/debug: {value: false}}}"
    stored = on_master(
        Replay(216), "openstack-config", "upload", "-e", 1, "-r", "compute", "--file", "-", "-f", "json", stdin=document
    )
    assert stored.json == [
        {"id": 2, "is_active": True, "config_type": "role", "cluster_id": 1, "node_id": None, "node_role": "compute"}
    ]
    deleted = on_master(Replay(221), "openstack-config", "delete", 1)
    assert deleted.out == "Openstack configuration with id 1 was deleted.\n"


def test_extensions_are_enabled(on_master: OnMaster) -> None:
    done = on_master(Replay(210), "env", "extension", "enable", 1, "-E", "volume_manager", "network_manager")
    assert done.out == (
        "The following extensions: volume_manager, network_manager have been enabled for the environment with id 1.\n"
    )


def test_provisioning_facts_are_deleted(on_master: OnMaster) -> None:
    deleted = on_master(Replay(412), "env", "provisioning-facts", "delete", 1)
    assert deleted.out == "Provisioning facts for the environment 1 were deleted successfully.\n"


def test_defaults_of_a_node_come_from_the_master(on_master: OnMaster, tmp_path: Path) -> None:
    for number, part in ((166, "disks"), (169, "interfaces")):
        done = on_master(Replay(number), "node", part, "get-default", 1, "-f", "json")
        assert done.out == (f"Configuration of {part} for node with id 1 was stored in {tmp_path}/node_1/{part}.json\n")
        written = yaml.safe_load((tmp_path / "node_1" / f"{part}.json").read_text(encoding="utf-8"))
        assert written == line(number).response_body
