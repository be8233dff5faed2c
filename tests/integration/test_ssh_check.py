"""`node check`, and the same check before a run, on nodes that are real."""

from __future__ import annotations

import asyncio
import getpass
import json
import subprocess
import time
from dataclasses import replace
from typing import Any

import pytest
from executor_bench import job_of
from integration.ssh_fleet import Fleet, task
from sshd import HOST, Site

from fuelclient.executors.executor import MachineExecutor
from fuelclient.executors.job import Outcome, Target
from fuelclient.executors.machines import Connections
from fuelclient.executors.transport import Options, Unreachable
from fuelclient.model.diagnosis import Diagnosis, Health

ROWS = ("node", "check", "--env", 1, "-f", "json")


def seen(options: Options, target: Target, *programs: str) -> list[Diagnosis]:
    """What is wrong with a machine."""

    async def examine() -> list[Diagnosis]:
        connections = Connections(options)
        try:
            return [*await connections.examine(target, programs)]
        finally:
            await connections.close()

    return [one for one in asyncio.run(examine()) if "not root" not in one.message]


def rows(fleet: Fleet) -> tuple[int, list[dict[str, Any]]]:
    """The exit code and the rows of `node check`, without those about root, which depend on who tests."""
    done = fleet.fuel2(*ROWS)
    return done.code, [row for row in done.json if "not root" not in row["message"]]


def test_a_node_that_is_ready(fleet: Fleet) -> None:
    fleet.add()
    fleet.graph(task("a", cmd="true"))
    code, found = rows(fleet)
    assert (code, [(row["status"], row["name"]) for row in found]) == (0, [("ok", "1 (node-1)")])


def test_unknown_and_changed_host_keys_are_told_apart_once(fleet: Fleet) -> None:
    daemons = [fleet.add() for _ in range(5)]
    fleet.site.forget()
    for daemon in daemons[3:]:
        fleet.site.know(daemon.port, "other_key")
    fleet.graph(task("a", cmd=f"touch {fleet.site.root}/ran"), task("b", cmd="true"))

    code, found = rows(fleet)

    assert code == 7
    assert [(row["status"], row["name"], row["message"]) for row in found] == [
        ("error", "1 (node-1), 2 (node-2), 3 (node-3)", "its host key is not known"),
        ("error", "4 (node-4), 5 (node-5)", "its host key has changed"),
    ]
    keys = found[0]["fix"].partition(": ")[2]
    assert [f"ssh-keyscan -p {one.port} {HOST} >> ~/.ssh/known_hosts" for one in daemons[:3]] == keys.split("; ")
    forget = found[1]["fix"].partition(": ")[2]
    known = fleet.site.root / "known_hosts"
    said = fleet.execute()
    assert said.code == 3
    assert said.err.count("host key is not known") == said.err.count("host key has changed") == 1
    assert "--no-check" in said.err
    assert fleet.fuel2.ok("task", "list", "-f", "json").json == []
    assert not (fleet.site.root / "ran").exists()
    # the commands are right: with the home of the test for that of the user, all is mended by them
    here = [text.replace("~/.ssh/known_hosts", str(known)).replace("-R", f"-f {known} -R") for text in (forget, keys)]
    subprocess.run(["bash", "-ec", here[0]], check=True, capture_output=True)
    assert "127.0.0.1" not in known.read_text()
    here += [f"ssh-keyscan -p {daemon.port} {HOST} >> {known}" for daemon in daemons[3:]]
    for command in here[1:]:
        subprocess.run(["bash", "-ec", command], check=True, capture_output=True)
    assert rows(fleet)[0] == 0
    assert fleet.execute().code == 0


def test_nodes_on_one_machine_are_examined_once(fleet: Fleet) -> None:
    daemon = fleet.add()
    settings = {"user": getpass.getuser(), "port": daemon.port, "key": f"{fleet.site.root}/key"}
    for _ in range(2):
        fleet.node(ssh=settings)
    fleet.graph(task("a", cmd="true"))
    before = daemon.log.count("Accepted publickey")
    code, found = rows(fleet)
    assert (code, [row["name"] for row in found]) == (0, ["1 (node-1), 2 (node-2), 3 (node-3)"])
    assert daemon.log.count("Accepted publickey") == before + 1


def test_node_without_tasks_does_not_keep_a_run_from_beginning(fleet: Fleet) -> None:
    fleet.add("one")
    fleet.add("two").stop()
    fleet.site.daemons.pop()
    fleet.graph(task("a", roles="one", cmd="true"))
    assert fleet.execute().code == 0
    assert rows(fleet)[0] == 7
    fleet.graph(task("b", cmd="true"))
    refused = fleet.execute()
    assert (refused.code, "refuses connections" in refused.err) == (3, True)
    assert fleet.execute("--node", 1).code == 0
    assert fleet.execute("--no-check", "--force").code == 8


def test_the_nodes_of_later_graphs_are_examined_too(fleet: Fleet) -> None:
    fleet.add("one")
    fleet.add("two").stop()
    fleet.site.daemons.pop()
    for graph_type, tasks in (("first", [task("a", roles="one", cmd="true")]), ("then", [task("b", cmd="true")])):
        arguments = ("graph", "upload", "--env", 1, "--type", graph_type, "--file", "-")
        fleet.fuel2.ok(*arguments, stdin=json.dumps(tasks))
    both = ("graph", "execute", "--env", 1, "--type", "first", "then", "--wait")
    refused = fleet.fuel2(*both)
    assert (refused.code, "refuses connections" in refused.err) == (3, True)
    assert fleet.fuel2.ok("task", "list", "-f", "json").json == []


def test_programs_that_tasks_call(fleet: Fleet) -> None:
    fleet.add("one")
    fleet.add("two")
    fleet.graph(task("a", roles="one", cmd="cd / && python9 x.py"), task("b", roles="two", cmd="echo python9"))
    code, found = rows(fleet)
    assert code == 0
    assert [(row["status"], row["name"], row["message"]) for row in found] == [
        ("warning", "1 (node-1)", "it has no python9, which tasks call"),
        ("ok", "1 (node-1), 2 (node-2)", "tasks run there by ssh"),
    ]


def test_what_spools_need(site: Site) -> None:
    node = site.target(site.daemon())
    options = site.options(remote_spool=f"{site.root}/remote")
    assert seen(options, node) == []
    (site.root / "file").write_text("")
    (found,) = seen(replace(options, remote_spool=f"{site.root}/file/below"), node)
    assert (found.health, found.message) == (Health.ERROR, f"its user cannot write to {site.root}/file")
    (site.root / "link").symlink_to(site.root)
    (found,) = seen(replace(options, remote_spool=f"{site.root}/link"), node)
    assert "belongs to another user" in found.message


def test_a_shell_that_prints_or_runs_nothing(site: Site) -> None:
    silent = site.target(site.daemon("ForceCommand /bin/false"))
    (found,) = [one for one in seen(site.options(), silent) if one.health is Health.ERROR]
    assert found.message.startswith("it runs no commands")
    talking = site.target(site.daemon('ForceCommand echo Welcome; eval "$SSH_ORIGINAL_COMMAND"'))
    (found,) = [one for one in seen(site.options(), talking) if "SFTP" not in one.message]
    assert (found.health, found.message) == (
        Health.WARNING, "its login shell prints text of its own before each command",
    )  # fmt: skip


def test_files_reach_nodes_without_sftp(site: Site) -> None:
    """No SFTP in the configuration, or one whose program is missing or no SFTP: files are sent through commands."""
    for number, sftp in enumerate(("", "/nonexistent/sftp-server", "/bin/echo hello")):
        node = site.target(site.daemon(sftp=sftp))
        (found,) = seen(site.options(), node)
        assert (found.health, "no SFTP" in found.message) == (Health.WARNING, True)
        path, began = site.root / f"new/{number}", time.monotonic()
        data = "grüße\n" * 99999
        job = job_of("upload_file", f"t{number}", path=str(path), data=data, timeout=60, retries=0)
        job = replace(job, target=node)
        outcome = asyncio.run(_run(site, job))
        assert outcome.status == "ready", outcome
        assert path.read_text() == data
        assert time.monotonic() - began < 50


def test_unwritable_file_without_sftp_fails_at_once(site: Site) -> None:
    node = site.target(site.daemon(sftp=""))

    async def put() -> None:
        connections = Connections(site.options())
        try:
            await connections.transport(node).put("/nonexistent/file", b"x")
        finally:
            await connections.close()

    with pytest.raises(Unreachable, match="which has no SFTP") as caught:
        asyncio.run(put())
    assert caught.value.final


async def _run(site: Site, job: Any) -> Outcome:
    executor = MachineExecutor(site.options())
    try:
        return await executor.run(job, site.lines.append)
    finally:
        await executor.close()


def test_script_that_ignores_its_input_is_judged_by_exit_code(site: Site) -> None:
    node = site.target(site.daemon())

    async def codes() -> set[int]:
        connections = Connections(site.options())
        try:
            transport = connections.transport(node)
            calls = [transport.call("exit 3", stdin=b"x" * 100) for _ in range(60)]
            return {done.rc for done in await asyncio.gather(*calls)}
        finally:
            await connections.close()

    assert asyncio.run(codes()) == {3}
