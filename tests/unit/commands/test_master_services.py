"""Commands that only a master can carry out: what they print, write to files and send, as the original client does.

`tests/support/scripted_master.py` explains the cases; what differs from the original client says `why`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from case_files import case_files
from command_line import CommandLine, fuel2
from scripted_master import prepare, scripted, shown, words, writes, written

from fuelclient.commands.base import MasterOnly
from fuelclient.commands.shell import for_target
from fuelclient.commands.table import COMMANDS

ON_THE_ENGINE = {
    "env network verify": "1", "network-group list": "", "network-group show": "1", "network-group delete": "1",
    "network-group create": "x -N 1 -C 10.0.0.0/24", "network-group update": "1 -V 7", "network-template delete": "1",
    "network-template download": "1", "network-template upload": "1 -f nosuch.yaml", "extension list": "",
    "env extension show": "1", "env extension enable": "1 -E a", "env extension disable": "1 -E a",
    "env provisioning-facts download": "-e 1", "env provisioning-facts get-default": "-e 1",
    "env provisioning-facts upload": "-e 1", "env provisioning-facts delete": "1", "openstack-config list": "-e 1",
    "openstack-config upload": "-e 1 --file nosuch.yaml", "openstack-config download": "1 --file x.yaml",
    "openstack-config execute": "-e 1", "openstack-config delete": "1", "node list-vms-conf": "1",
    "node create-vms-conf": "1 --conf {}", "env spawn-vms": "1", "snapshot create": "",
    "snapshot get-default-config": "", "snapshot get-link": "1", "health list": "-e 1", "health start": "-e 1",
    "health stop": "1", "health restart": "1", "health status list": "", "health status show": "1",
}  # fmt: skip
"""Arguments of every command that needs a master."""


@case_files("master-services")
def test_a_command_does_what_the_original_client_does(
    case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    prepare(case, tmp_path)
    with scripted(case["master"]) as server:
        for step in case["steps"]:
            done = fuel2("--server", server.url, *words(step))
            assert done.code == step.get("exit_here", step["exit"]), (step["run"], done.err)
            expected = step.get("here", step["stdout"]).rstrip("\n")
            assert shown(done.out, tmp_path, server) == expected, step["run"]
            assert written(tmp_path, step) == step.get("files", {}), step["run"]
            assert writes(server) == step.get("writes_here", step.get("writes", [])), step["run"]
            assert ("why" in step) == bool({"here", "writes_here"} & set(step)) or (step["exit"] and not done.code)


def test_commands_for_masters_are_refused_on_the_engine(tiny: CommandLine) -> None:
    commands = {}
    for name, (place, _) in COMMANDS.items():
        module, _, attribute = place.partition(":")
        command = getattr(__import__(module, fromlist=[attribute]), attribute)
        if issubclass(command, MasterOnly):
            commands[name] = command
    assert set(commands) == set(ON_THE_ENGINE)
    for name, command in commands.items():
        done = tiny(*name.split(), *ON_THE_ENGINE[name].split())
        assert (done.code, done.out) == (2, ""), name
        assert done.err == f"{command.reason} {for_target(command.instead, f'fuel2 --engine {tiny.engine}')}\n", name
        assert command.reason.count(". ") == 0
        assert command.instead


def test_the_server_of_the_engine_refuses_them_too(tiny: CommandLine, tmp_path: Path) -> None:
    pytest.importorskip("flask", reason="the server comes with the extra [server]")
    from server_process import serving

    os.chdir(tmp_path)
    with serving(tmp_path) as server:
        done = fuel2("--server", server.url, "snapshot", "create")
    assert done.code == 2
    assert done.err.startswith("Only a Fuel master ")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("health status list -c nosuch", "There is no column 'nosuch'."),
        ("health start -e 1 -c nosuch", "There is no column 'nosuch'."),
        ("network-group create x -N 1 -C 10.0.0.0/24 -c nosuch", "There is no column 'nosuch'."),
        ("openstack-config download 1 --file no-format", "No serializer for provided file no-format."),
    ],
)
def test_a_wrong_command_line_is_refused_before_the_backend(tmp_path: Path, line: str, message: str) -> None:
    done = CommandLine(tmp_path / "engine.db")(*line.split())
    assert (done.code, done.err.startswith(message)) == (2, True), done


def test_wrong_documents_are_refused_before_they_are_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "provisioning_1").mkdir()
    (tmp_path / "provisioning_1" / "1.yaml").write_text("{name: a}")
    lines = (
        ("openstack-config upload -e 1 --file -", "nova_config: {}", 7, "configuration"),
        ("network-template upload 1 -f -", "[1]", 7, "mapping"),
        ("vip upload -e 1 -f -", "a: 1", 7, "list"),
        ("snapshot create -c -", "3", 7, "mapping"),
        ("snapshot create -c nosuch.yaml", "", 5, "nosuch.yaml"),
        ("env provisioning-facts upload -e 1", "", 7, "uid"),
        ("env provisioning-facts upload -e 2", "", 5, "provisioning_2"),
        ("network-group update 3", "", 2, "Nothing to update"),
        ("network-group create x -N 1 -C 10.0.0.0/24 -m [1]", "", 2, "JSON"),
        ("node create-vms-conf 1 --conf 7", "", 2, "mapping"),
        ("openstack-config list -e 1 -D maybe", "", 2, "maybe"),
    )
    with scripted({}) as server:
        for line, stdin, code, named in lines:
            done = fuel2("--server", server.url, *line.split(), stdin=stdin)
            assert done.code == code, (line, done)
            assert named in done.err or code == 2, (line, done.err)
        assert writes(server) == []


def test_virtual_machines_need_the_advanced_features(tmp_path: Path) -> None:
    with scripted({"GET version": {"api": "1.0", "auth_required": False, "feature_groups": []}}) as server:
        done = fuel2("--server", server.url, "node", "list-vms-conf", 1)
        assert done.code == 2
        assert "Advanced feature should be enabled in feature groups" in done.err
        assert fuel2("--server", server.url, "env", "spawn-vms", 1).code == 2
        assert writes(server) == []


def test_what_a_master_does_not_have_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    answers: dict[str, object] = {
        "GET clusters/1/network_configuration/template": None,
        "GET clusters/1/orchestrator/provisioning/?split=1": {},
    }
    with scripted({key: {"status": 200, "body": value} for key, value in answers.items()}) as server:
        for line in ("network-template download 1", "env provisioning-facts download -e 1"):
            done = fuel2("--server", server.url, *line.split())
            assert (done.code, done.out) == (5, ""), line
        assert not list(tmp_path.iterdir())


NONE = "GET clusters/1/orchestrator/"
LOST = {
    "GET clusters/1/": {"id": 1, "name": "env", "status": "new", "release_id": 1},
    f"{NONE}deployment?split=1": [], f"{NONE}deployment/defaults?split=1": [], f"{NONE}provisioning?split=1": {},
    f"{NONE}provisioning/defaults?split=1": {},
    "GET transactions/2/": {"id": 2, "name": "dump", "status": "error", "cluster": None, "message": "Disk is full"},
    "GET clusters/1/network_configuration/template/": {"adv_net_template": {}},
    "GET logs/package/config/default/": {"dump": {}},
}  # fmt: skip


@pytest.mark.parametrize("kind", ["deployment", "provisioning"])
@pytest.mark.parametrize("verb", ["download", "get-default"])
def test_no_facts_are_an_error_that_leaves_nothing(
    kind: str, verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with scripted(LOST) as server:
        done = fuel2("--server", server.url, "env", f"{kind}-facts", verb, "--env", 1, "-f", "yaml")
    assert (done.code, done.out, [*tmp_path.iterdir()]) == (5, "", [])
    assert ("get-default" in done.err) == (verb == "download")


@pytest.mark.parametrize("words", ["network-template download 1", "snapshot get-default-config -f yaml"])
def test_a_missing_directory_is_not_made(words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with scripted(LOST) as server:
        done = fuel2("--server", server.url, *words.split(), "-d", "missing")
    assert (done.code, [*tmp_path.iterdir()]) == (5, [])


def test_why_a_snapshot_failed_is_said() -> None:
    with scripted(LOST) as server:
        done = fuel2("--server", server.url, "snapshot", "get-link", 2, "-f", "value")
    assert (done.code, done.out) == (0, "error\nNone\n")
    assert "Snapshot task 2 is error: Disk is full" in done.err
