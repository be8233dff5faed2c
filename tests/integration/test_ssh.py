"""Jobs on nodes that are real: Debian's sshd, started here on loopback ports with keys of its own."""

from __future__ import annotations

import asyncio
import getpass
import os
import shutil
import signal
import socket
import stat
import time
from dataclasses import replace

import pytest
from executor_bench import job_of, together
from processes import eventually, living
from sshd import HOST, Site, free_port

from fuelclient.executors.base import Job, Outcome, Ssh, Target
from fuelclient.executors.reach import Ways
from fuelclient.executors.ssh import SshExecutor
from fuelclient.model.node import ExecutorKind


def run(site: Site, *jobs: Job, ways: Ways | None = None) -> list[Outcome]:
    """Run jobs at the same time through one executor."""

    async def all_of_them() -> list[Outcome]:
        executor = SshExecutor(ways or site.ways())
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


def test_a_command_runs_on_the_node(site: Site, node: Target) -> None:
    job = remote(job_of("shell", cmd="echo $SSH_CONNECTION | cut -d' ' -f4; pwd; echo ünï", cwd=str(site.root)), node)
    (outcome,) = run(site, job)
    assert outcome.status == "ready", outcome
    assert outcome.summary["out"] == f"{node.ssh.port}\n{site.root}\nünï"
    spool = site.root / "remote" / "1" / "1" / "task"
    assert (spool / "rc").read_text() == "1.1 0 exit\n"
    assert all(not path.stat().st_mode & 0o077 for path in (spool, *spool.iterdir(), site.root / "remote"))
    assert not (site.root / "spool").exists()


def test_failures_are_tried_again(site: Site, node: Target) -> None:
    job = remote(job_of("shell", cmd=f"echo x >> {site.root}/log; echo bad >&2; exit 7", retries=2, interval=0.1), node)
    (outcome,) = run(site, job)
    assert (outcome.status, outcome.rc, outcome.summary["tries"]) == ("error", 7, 3)
    assert (site.root / "log").read_text() == "x\n" * 3


def test_a_timeout_ends_the_command_on_the_node(site: Site, node: Target) -> None:
    stubborn = site.root / "stubborn"
    stubborn.write_text("trap '' TERM\nwhile :; do sleep 0.1; done\n")
    (outcome,) = run(site, remote(job_of("shell", cmd=f"sh {stubborn} & timeout 99 sh {stubborn}", timeout=1), node))
    assert outcome.message.startswith("timed out")
    assert not living(f"sh {stubborn}")


def test_an_upload(site: Site, node: Target) -> None:
    data = "grüße\n" * 100_000
    path = site.root / "new" / "file"
    (outcome,) = run(site, remote(job_of("upload_file", path=str(path), data=data, permissions="0600"), node))
    assert outcome.status == "ready", outcome
    assert path.read_text() == data
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_copies_come_from_this_machine(site: Site, node: Target) -> None:
    (site.root / "source").write_bytes(os.urandom(300_000))
    files = [{"src": f"{site.root}/source", "dst": f"{site.root}/deep/copy"}]
    (outcome,) = run(site, remote(job_of("copy_files", files=files), node))
    assert outcome.status == "ready", outcome
    assert (site.root / "deep" / "copy").read_bytes() == (site.root / "source").read_bytes()


def test_uploads_to_other_nodes(site: Site) -> None:
    first, second = site.target(site.daemon()), site.target(site.daemon())
    nodes = [{"uid": uid, "files": [{"dst": f"{site.root}/to{uid}", "data": uid}]} for uid in ("1", "2")]
    job = replace(remote(job_of("upload_files", nodes=nodes), first), peers={"2": second})
    (outcome,) = run(site, job)
    assert outcome.status == "ready", outcome
    assert [(site.root / f"to{uid}").read_text() for uid in "12"] == ["1", "2"]


def test_a_master_command_runs_here(site: Site, node: Target) -> None:
    (outcome,) = run(site, remote(job_of("master_shell", cmd="echo [$SSH_CONNECTION]"), node))
    assert outcome.summary["out"] == "[]"


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


def test_plugin_scripts_reach_the_node_first(site: Site) -> None:
    scripts = site.root / "deployment_scripts"
    scripts.mkdir()
    (scripts / "hello.sh").write_text("echo from the plugin\n")
    place = f"{site.root}/etc/plugin"
    node = replace(site.target(site.daemon()), scripts=((str(scripts), place),))
    jobs = [remote(job_of("shell", f"t{number}", cmd="sh hello.sh", cwd=place), node) for number in range(5)]
    outcomes = run(site, *jobs)
    assert {outcome.summary["out"] for outcome in outcomes} == {"from the plugin"}
    assert [line for line in site.lines if "plugin scripts sent" in line] == site.lines
    assert len(site.lines) == 1


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
    executor = SshExecutor(site.ways())

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
    executor = SshExecutor(site.ways())
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
    assert {outcome.status for outcome in run(site, *jobs)} == {"ready"}


def test_another_runner_finds_what_became_of_a_command(site: Site, node: Target) -> None:
    cmd = f"echo x >> {site.root}/log; sleep 1; exit 4"
    job = remote(job_of("shell", cmd=cmd, retries=0), node)

    async def first() -> None:
        executor = SshExecutor(site.ways())
        running = asyncio.ensure_future(executor.run(job, site.lines.append))
        await asyncio.to_thread(eventually, (site.root / "log").exists)
        running.cancel()
        await asyncio.wait({running})
        await executor.close()

    async def second() -> Outcome | None:
        executor = SshExecutor(site.ways())
        try:
            return await executor.recover(job)
        finally:
            await executor.close()

    asyncio.run(first())
    outcome = asyncio.run(second())
    assert outcome is not None
    assert outcome.rc == 4
    assert (site.root / "log").read_text() == "x\n"


def test_a_host_key_that_nobody_knows(site: Site, node: Target) -> None:
    (site.root / "nobody").write_text("")
    ways = site.ways(known_hosts=str(site.root / "nobody"))
    (outcome,) = run(site, remote(job_of("shell", cmd=f"touch {site.root}/ran"), node), ways=ways)
    assert outcome.status == "error"
    assert f"The host key of 127.0.0.1:{node.ssh.port} is not known" in outcome.message
    assert f"ssh-keyscan -p {node.ssh.port} 127.0.0.1 >> {site.root}/nobody" in outcome.message
    assert site.lines == []
    assert not (site.root / "ran").exists()


def test_a_host_key_that_changed(site: Site, node: Target) -> None:
    wrong = (site.root / "other_key.pub").read_text()
    (site.root / "wrong").write_text(f"[{HOST}]:{node.ssh.port} {wrong}")
    (outcome,) = run(site, remote(job_of("shell", cmd="true"), node), ways=site.ways(known_hosts=f"{site.root}/wrong"))
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
    stranger = replace(node, ssh=replace(node.ssh, key=str(site.root / "other_key")))
    (outcome,) = run(site, remote(job_of("shell", cmd="true"), stranger))
    assert f"does not let {getpass.getuser()} in with the key {site.root}/other_key" in outcome.message
    assert site.lines == []
    missing = replace(node, ssh=replace(node.ssh, key=str(site.root / "gone")))
    (outcome,) = run(site, remote(job_of("shell", "gone", cmd="true"), missing))
    assert f"{site.root}/gone" in outcome.message


def test_nobody_listens(site: Site) -> None:
    target = Target(ExecutorKind.SSH, HOST, Ssh("x", free_port(), str(site.root / "key")))
    (outcome,) = run(site, remote(job_of("shell", cmd="true", retries=1, interval=0.1), target))
    assert "refuses connections. Does sshd run there" in outcome.message
    assert len(site.lines) == 1


def test_nobody_answers(site: Site) -> None:
    with socket.socket() as silent:
        silent.bind((HOST, 0))
        silent.listen()
        target = Target(ExecutorKind.SSH, HOST, Ssh("x", silent.getsockname()[1], str(site.root / "key")))
        began = time.monotonic()
        job = remote(job_of("shell", cmd="true", retries=0), target)
        (outcome,) = run(site, job, ways=site.ways(connect_timeout=0.5))
    assert "does not answer within 0.5 s" in outcome.message
    assert time.monotonic() - began < 5


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
    target = Target(ExecutorKind.SSH, "node-7")
    (outcome,) = run(site, remote(job_of("shell", cmd="true"), target), ways=site.ways(known_hosts=""))
    assert outcome.status == "ready", outcome


def test_noop_reads_from_the_node_and_changes_nothing(site: Site, node: Target) -> None:
    (site.root / "motd").write_text("old\n")
    jobs = [
        remote(job_of("upload_file", "upload", path=f"{site.root}/motd", data="new\n"), node),
        remote(job_of("shell", "shell", cmd=f"touch {site.root}/ran"), node),
        remote(job_of("sync", "sync", src=f"{site.root}/", dst=f"{site.root}/ran"), node),
    ]
    upload, shell, sync = run(site, *(replace(job, noop=True) for job in jobs))
    assert "-old\n+new\n" in upload.summary["diff"][f"{site.root}/motd"]
    assert (upload.status, shell.status, sync.status) == ("skipped", "ready", "skipped")
    for name in ("ran", "remote", "spool"):
        assert not (site.root / name).exists()


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
    job = remote(job_of("reboot", timeout=3), machine_that_restarts(site, really=False))

    async def found() -> Outcome | None:
        executor = SshExecutor(site.ways())
        running = asyncio.ensure_future(executor.run(job, site.lines.append))
        await asyncio.to_thread(eventually, (site.root / "asked").exists)
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
