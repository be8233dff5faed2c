"""Jobs on nodes that are real: Debian's sshd, started here on loopback ports with keys of its own."""

from __future__ import annotations

import asyncio
import getpass
import os
import shutil
import signal
import socket
import time
from dataclasses import replace

import pytest
from executor_bench import job_of, together
from processes import eventually
from sshd import HOST, Site, free_port, port_of, ssh_of

from fuelclient.executors.executor import MachineExecutor
from fuelclient.executors.job import Job, Outcome, Target
from fuelclient.executors.transport import Options, Ssh


def run(site: Site, *jobs: Job, options: Options | None = None) -> list[Outcome]:
    """Run jobs at the same time through one executor."""

    async def all_of_them() -> list[Outcome]:
        executor = MachineExecutor(options or site.options())
        try:
            return list(await asyncio.gather(*(executor.run(job, site.lines.append) for job in jobs)))
        finally:
            await executor.close()

    return asyncio.run(all_of_them())


@pytest.fixture
def node(site: Site) -> Target:
    return site.target(site.daemon())


def remote(job: Job, target: Target) -> Job:
    return replace(job, target=target)


@pytest.mark.parametrize("tool", ["rsync", "tar"])
def test_a_sync(site: Site, tool: str) -> None:
    if not shutil.which(tool):
        pytest.skip(f"{tool} is not installed")
    source, target = site.root / "source", site.root / "target"
    (source / "deep").mkdir(parents=True)
    (source / "deep" / "file").write_text("x")
    target.mkdir()
    (target / "stale").write_text("old")
    lines = []
    if tool == "tar":
        tools = site.root / "tools"
        tools.mkdir()
        for name in ["sh", "bash", "cat", "mkdir", "mktemp", "mv", "rm", "tar", "wc", "tail", "setsid"]:
            (tools / name).symlink_to(str(shutil.which(name)))
        lines = [f"SetEnv PATH={tools}"]
    node = site.target(site.daemon(*lines))
    (outcome,) = run(site, remote(job_of("sync", src=f"{source}/", dst=str(target), retries=0), node))
    assert outcome.status == "ready", outcome
    assert (target / "deep" / "file").read_text() == "x"
    assert not (target / "stale").exists()
    where = "spool" if tool == "rsync" else "remote"
    assert (site.root / where / "1" / "1" / "task" / "rc").exists()


@pytest.mark.slow
def test_ten_nodes_at_once(site: Site) -> None:
    nodes = [site.target(site.daemon()) for _ in range(10)]
    jobs = [
        replace(remote(job_of("shell", f"t{task}", cmd=f"exit {number}", retries=0), node), node=str(number))
        for number, node in enumerate(nodes)
        for task in range(5)
    ]
    outcomes = run(site, *jobs)
    assert [outcome.rc for outcome in outcomes] == [number for number in range(10) for _ in range(5)]


def test_one_connection_for_each_node(site: Site, node: Target) -> None:
    jobs = [remote(job_of("shell", f"t{number}", cmd="echo $SSH_CONNECTION"), node) for number in range(8)]
    assert len({outcome.summary["out"] for outcome in run(site, *jobs)}) == 1


def test_a_connection_that_breaks_does_not_hurt_the_command(site: Site) -> None:
    daemon = site.daemon()
    node = site.target(daemon)
    cmd = f"echo x >> {site.root}/log; until [ -e {site.root}/go ]; do sleep 0.05; done; echo end"
    executor = MachineExecutor(site.options())

    async def watched() -> Outcome:
        outcome = await executor.run(remote(job_of("shell", cmd=cmd, retries=0), node), site.lines.append)
        await executor.close()
        return outcome

    async def breaks() -> None:
        await asyncio.to_thread(eventually, (site.root / "log").exists)
        daemon.stop()
        await asyncio.sleep(0.3)
        (site.root / "go").touch()
        await asyncio.sleep(0.3)
        daemon.again()

    outcome, _ = together(watched(), breaks())
    assert outcome is not None
    assert (outcome.status, outcome.summary["out"]) == ("ready", "end")
    assert (site.root / "log").read_text() == "x\n"
    assert "connection broke" in site.lines[0]


@pytest.mark.parametrize("seconds", [0, 0.005, 0.02, 0.2])
def test_a_broken_connection_is_opened_again(site: Site, seconds: float) -> None:
    """However long before or after the next command begins it breaks: the command runs once, and is not a retry."""
    daemon = site.daemon()
    executor = MachineExecutor(site.options())
    counted = job_of("shell", "b", cmd=f"echo x >> {site.root}/log", retries=0)

    async def twice() -> list[Outcome]:
        first = await executor.run(remote(job_of("shell", "a", cmd="true"), site.target(daemon)), site.lines.append)
        serving = daemon.children()
        second = asyncio.ensure_future(executor.run(remote(counted, site.target(daemon)), site.lines.append))
        await asyncio.sleep(seconds)
        for number in serving:
            os.kill(number, signal.SIGKILL)
        ended = await second
        await executor.close()
        return [first, ended]

    assert [outcome.status for outcome in asyncio.run(twice())] == ["ready", "ready"]
    assert (site.root / "log").read_text() == "x\n"


def test_more_commands_than_one_connection_has_sessions(site: Site, node: Target) -> None:
    jobs = [remote(job_of("shell", f"t{number}", cmd="sleep 0.2", retries=0), node) for number in range(16)]
    assert [outcome.message for outcome in run(site, *jobs) if outcome.status != "ready"] == []


def test_an_unknown_host_key(site: Site, node: Target) -> None:
    (site.root / "empty").write_text("")
    options = site.options(known_hosts=str(site.root / "empty"))
    (outcome,) = run(site, remote(job_of("shell", cmd=f"touch {site.root}/ran"), node), options=options)
    assert outcome.status == "error"
    assert f"The host key of 127.0.0.1:{port_of(node)} is not known" in outcome.message
    assert f"ssh-keyscan -p {port_of(node)} 127.0.0.1 >> {site.root}/empty" in outcome.message
    assert site.lines == []
    assert not (site.root / "ran").exists()


def test_a_host_key_that_changed(site: Site, node: Target) -> None:
    wrong = (site.root / "other_key.pub").read_text()
    (site.root / "wrong").write_text(f"[{HOST}]:{port_of(node)} {wrong}")
    (outcome,) = run(
        site, remote(job_of("shell", cmd="true"), node), options=site.options(known_hosts=f"{site.root}/wrong")
    )
    assert "has changed" in outcome.message


def test_the_host_key_of_a_jump_host_counts_too(site: Site) -> None:
    jump, inner = site.daemon(), site.daemon()
    site.forget()
    site.know(inner.port)
    node = site.target(inner, jump=f"{getpass.getuser()}@{HOST}:{jump.port}")
    (outcome,) = run(site, remote(job_of("shell", cmd="true"), node))
    assert outcome.message.startswith(f"The host key of 127.0.0.1:{jump.port} is not known"), outcome
    assert f"ssh-keyscan -p {jump.port} 127.0.0.1" in outcome.message


def test_a_key_that_is_not_let_in(site: Site, node: Target) -> None:
    stranger = replace(node, place=replace(ssh_of(node), key=str(site.root / "other_key")))
    (outcome,) = run(site, remote(job_of("shell", cmd="true"), stranger))
    assert f"does not let {getpass.getuser()} in with the key {site.root}/other_key" in outcome.message
    assert site.lines == []
    missing = replace(node, place=replace(ssh_of(node), key=str(site.root / "gone")))
    (outcome,) = run(site, remote(job_of("shell", "gone", cmd="true"), missing))
    assert f"{site.root}/gone" in outcome.message


def test_a_port_without_a_listener(site: Site) -> None:
    target = Target("ssh", HOST, Ssh("x", free_port(), str(site.root / "key")))
    (outcome,) = run(site, remote(job_of("shell", cmd="true", retries=1, interval=0.1), target))
    assert "refuses connections. Does sshd run there" in outcome.message
    assert len(site.lines) == 1


def test_a_listener_that_does_not_answer(site: Site) -> None:
    with socket.socket() as silent:
        silent.bind((HOST, 0))
        silent.listen()
        target = Target("ssh", HOST, Ssh("x", silent.getsockname()[1], str(site.root / "key")))
        began = time.monotonic()
        job = remote(job_of("shell", cmd="true", retries=0), target)
        (outcome,) = run(site, job, options=site.options(connect_timeout=0.5))
    assert "does not answer within 0.5 s" in outcome.message
    assert time.monotonic() - began < 60, "not as long as the default"


def test_through_a_jump_host(site: Site) -> None:
    jump, inner = site.daemon(), site.daemon()
    node = site.target(inner, jump=f"{getpass.getuser()}@{HOST}:{jump.port}")
    (outcome,) = run(site, remote(job_of("shell", cmd="echo $SSH_CONNECTION"), node))
    assert outcome.status == "ready", outcome
    assert outcome.summary["out"].endswith(f" {inner.port}")
    jump.stop()
    (outcome,) = run(site, remote(job_of("shell", "b", cmd="true", retries=0), node))
    assert outcome.status == "error"


def test_the_users_own_configuration_counts(site: Site) -> None:
    daemon = site.daemon()
    (site.root / "ssh_config").write_text(
        f"Host node-7\n  HostName {HOST}\n  Port {daemon.port}\n  User {getpass.getuser()}\n"
        f"  IdentityFile {site.root}/key\n  UserKnownHostsFile {site.root}/known_hosts\n"
    )
    target = Target("ssh", "node-7", Ssh())
    (outcome,) = run(site, remote(job_of("shell", cmd="true"), target), options=site.options(known_hosts=""))
    assert outcome.status == "ready", outcome


def machine_that_restarts(site: Site, *, really: bool) -> Target:
    """A node whose `reboot` changes what its `stat` says of process 1, or only pretends to."""
    tools = site.root / "tools"
    tools.mkdir()
    (site.root / "boot").write_text("1000")
    (tools / "stat").write_text(f"#!/bin/sh\ncat {site.root}/boot\n")
    change = f"echo 2000 > {site.root}/boot" if really else ":"
    (tools / "reboot").write_text(f"#!/bin/sh\necho x >> {site.root}/asked\n{change}\n")
    for name in ("stat", "reboot"):
        (tools / name).chmod(0o755)
    return site.target(site.daemon(f"SetEnv PATH={tools}:/usr/bin:/bin"))


def test_a_restart_is_done_when_the_boot_time_changed(site: Site) -> None:
    (outcome,) = run(site, remote(job_of("reboot"), machine_that_restarts(site, really=True)))
    assert (outcome.status, outcome.message) == ("ready", "restarted")
    assert (site.root / "asked").read_text() == "x\n"


def test_a_restart_that_does_not_come(site: Site) -> None:
    (outcome,) = run(site, remote(job_of("reboot", timeout=3), machine_that_restarts(site, really=False)))
    assert outcome.status == "error"
    assert "has not restarted within 3 s" in outcome.message


def test_a_restart_is_not_asked_for_twice(site: Site) -> None:
    job = remote(job_of("reboot", timeout=60), machine_that_restarts(site, really=False))

    async def found() -> Outcome | None:
        executor = MachineExecutor(site.options())
        running = asyncio.ensure_future(executor.run(job, site.lines.append))
        assert await asyncio.to_thread(eventually, (site.root / "asked").exists)
        running.cancel()
        await asyncio.wait({running})
        (site.root / "boot").write_text("3000")
        try:
            return await executor.recover(job)
        finally:
            await executor.close()

    outcome = asyncio.run(found())
    assert outcome is not None
    assert outcome.status == "ready"
    assert (site.root / "asked").read_text() == "x\n"
