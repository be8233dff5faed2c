"""Nodes that are directories: what a task names by its parameters lies below the directory of its machine."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fuelclient.executors.executor import MachineExecutor
from fuelclient.executors.job import MASTER, Job, Outcome, Target
from fuelclient.executors.local import DirectoryConnector
from fuelclient.executors.transport import Options
from fuelclient.model.node import Node

NODE, PEER = Target("directory", place="1.web"), Target("directory", place="2.db")


@pytest.fixture
def options(tmp_path: Path) -> Options:
    return Options(str(tmp_path / "spool"), nodes=str(tmp_path / "nodes"), grace=1)


def job(type: str, target: Target = NODE, **parameters: Any) -> Job:
    """A job on node 1."""
    peers = {MASTER: Target("directory"), "1": NODE, "2": PEER}
    return Job(1, "1", "web", "task", type, parameters, target, peers=peers)


def run(options: Options, *jobs: Job) -> list[Outcome]:
    """Run jobs one after another."""

    async def whole() -> list[Outcome]:
        executor = MachineExecutor(options)
        try:
            return [await executor.run(job, lambda _: None) for job in jobs]
        finally:
            await executor.close()

    return asyncio.run(whole())


@pytest.mark.parametrize(
    ("type", "given", "expected"),
    [
        ("shell", {"cmd": "true"}, {"cmd": "true", "cwd": "N/"}),
        ("shell", {"cmd": "true", "cwd": "/etc/../opt/x/"}, {"cmd": "true", "cwd": "N/opt/x/"}),
        ("shell", {"cmd": "true", "cwd": "here"}, {"cmd": "true", "cwd": "here"}),
        ("master_shell", {"cmd": "true", "cwd": "/opt"}, {"cmd": "true", "cwd": "M/opt"}),
        ("upload_file", {"path": "/../../etc/motd", "data": "x"}, {"path": "N/etc/motd", "data": "x"}),
        ("upload_file", {"path": "/", "data": "x"}, {"path": "/", "data": "x"}),
        ("upload_file", {"path": 5}, {"path": 5}),
        ("sync", {"src": "/srv/tree/", "dst": "/opt/"}, {"src": "M/srv/tree/", "dst": "N/opt/"}),
        ("sync", {"src": "rsync://m:/x", "dst": "/opt"}, {"src": "rsync://m:/x", "dst": "N/opt"}),
        ("sync", {"src": "/var/x", "dst": "rsync://m:/x/"}, {"src": "N/var/x", "dst": "rsync://m:/x/"}),
        ("copy_files", {"files": [{"src": "/a", "dst": "/b"}]}, {"files": [{"src": "M/a", "dst": "N/b"}]}),
        ("copy_files", {"files": "/a"}, {"files": "/a"}),
        (
            "upload_files",
            {"nodes": [{"uid": "1", "files": [{"dst": "/a"}]}, {"uid": 2, "files": [{"dst": "/b"}]}]},
            {"nodes": [{"uid": "1", "files": [{"dst": "N/a"}]}, {"uid": 2, "files": [{"dst": "P/b"}]}]},
        ),
    ],
)
def test_paths_lie_below_the_directory_of_their_machine(
    options: Options, type: str, given: dict[str, Any], expected: dict[str, Any]
) -> None:
    def placed(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: placed(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [placed(inner) for inner in value]
        names = {"N": "1.web", "P": "2.db", "M": MASTER}
        if isinstance(value, str) and value[:1] in names and value[1:2] == "/":
            return f"{options.nodes}/{names[value[0]]}{value[1:]}"
        return value

    assert DirectoryConnector(options).prepared(job(type, **given)).parameters == placed(expected)


def test_a_command_finds_its_directory_and_its_name(options: Options) -> None:
    told = job("shell", cmd='pwd; echo "$NODE_ROOT $NODE_NAME"')
    on_master = job("master_shell", cmd='pwd; echo "$NODE_ROOT $NODE_NAME"')
    outcomes = run(options, told, replace(on_master, task="other"))
    assert [outcome.summary["out"].splitlines() for outcome in outcomes] == [
        [f"{options.nodes}/1.web", f"{options.nodes}/1.web web"],
        [f"{options.nodes}/master", f"{options.nodes}/master master"],
    ]


def test_files_of_the_master_reach_the_nodes(options: Options, tmp_path: Path) -> None:
    written = job("upload_file", Target("directory"), path="/etc/keys/a", data="secret", permissions="0600")
    copied = job("copy_files", files=[{"src": "/etc/keys/a", "dst": "/etc/a"}])
    sent = job("upload_files", nodes=[{"uid": "2", "files": [{"dst": "/b", "data": "b"}]}])
    outcomes = run(options, replace(written, node=MASTER), copied, replace(sent, task="sent"))
    assert [outcome.status for outcome in outcomes] == ["ready"] * 3, outcomes
    files = {str(path.relative_to(tmp_path / "nodes")) for path in (tmp_path / "nodes").rglob("*") if path.is_file()}
    assert files == {"master/etc/keys/a", "1.web/etc/a", "2.db/b"}


def test_scripts_of_plugins_go_into_the_directory(options: Options, tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "hello.sh").write_text("echo hello from $NODE_NAME\n")
    target = replace(NODE, scripts=((str(tmp_path / "scripts"), "/etc/fuel/plugins/hello-1.0/"),))
    [outcome] = run(options, job("shell", target, cmd="sh hello.sh", cwd="/etc/fuel/plugins/hello-1.0/"))
    assert outcome.summary["out"] == "hello from web"
    assert (tmp_path / "nodes/1.web/etc/fuel/plugins/hello-1.0/hello.sh").exists()


@pytest.mark.parametrize("type", ["puppet", "reboot", "erase_node", "cobbler_sync"])
def test_what_would_change_the_machine_is_skipped(options: Options, tmp_path: Path, type: str) -> None:
    commands = {"erase_node": f"touch {tmp_path}/erased", "reboot": f"touch {tmp_path}/erased"}
    [outcome] = run(replace(options, commands=commands), job(type, puppet_manifest="x.pp"))
    assert outcome.status == "skipped"
    assert type in outcome.message
    assert not (tmp_path / "erased").exists()


def test_names_are_one_part_of_a_path() -> None:
    assert DirectoryConnector.place(Node(3, "../../etc")) == "3...%2F..%2Fetc"
