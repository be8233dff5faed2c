"""Jobs on Dask workers that are real: each a process of its own, with a name of a node or of a site."""

from __future__ import annotations

import asyncio
import shutil
import struct
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from executor_bench import job_of
from integration.dask_cluster import Cluster, certificates, cluster, settings_for
from processes import eventually

from fuelclient.executors import dask
from fuelclient.executors.dask import DaskCluster, DaskScheduler, DaskTransport
from fuelclient.executors.dask_worker import Script
from fuelclient.executors.executor import MachineExecutor
from fuelclient.executors.job import Job, Outcome, Target
from fuelclient.executors.transport import ConnectionBroken, Options, Unreachable


@dataclass
class Site:
    """A cluster, and executors whose spools are in a directory of the test."""

    root: Path
    cluster: Cluster
    lines: list[str]

    def executor(self, scheduler: DaskScheduler | None = None) -> MachineExecutor:
        options = Options(
            spool=str(self.root / "spool"), remote_spool=str(self.root / "remote"), grace=1, connect_timeout=60,
            settings=lambda: settings_for(scheduler or self.cluster.place),
        )  # fmt: skip
        return MachineExecutor(options)

    def run(self, *jobs: Job, scheduler: DaskScheduler | None = None) -> list[Outcome]:
        """Run jobs at the same time through one executor."""

        async def all_of_them() -> list[Outcome]:
            executor = self.executor(scheduler)
            try:
                return list(await asyncio.gather(*(executor.run(job, self.lines.append) for job in jobs)))
            finally:
                await executor.close()

        return asyncio.run(all_of_them())

    def spool(self, job: Job) -> Path:
        return self.root / "remote" / str(job.run) / job.node / job.task


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("dask"), "node-1", "site-a") as made:
        yield made


@pytest.fixture
def site(tmp_path: Path, shared: Cluster) -> Site:
    return Site(tmp_path, shared, [])


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Site]:
    """A cluster that a test may break."""
    with cluster(tmp_path / "dask", "node-1") as made:
        yield Site(tmp_path, made, [])


def at(job: Job, worker: str = "node-1", **changes: Any) -> Job:
    return replace(job, target=Target("dask", place=worker), **changes)


def test_a_command_runs_in_a_spool_of_the_worker(site: Site) -> None:
    job = at(job_of("shell", cmd="echo $WORKER; pwd; echo ünï", cwd="/usr"))
    (outcome,) = site.run(job)
    assert (outcome.status, outcome.rc) == ("ready", 0), outcome
    assert outcome.summary["out"] == "node-1\n/usr\nünï"
    assert (site.spool(job) / "rc").read_text() == "1.1 0 exit\n"
    assert all(not path.stat().st_mode & 0o077 for path in (site.spool(job), *site.spool(job).iterdir()))
    assert not (site.root / "spool").exists()


def test_one_worker_of_one_thread_serves_many_nodes_at_once(site: Site) -> None:
    """Each command waits for all others to have begun, so that none ends when one has to wait for a thread."""
    count = 6
    wait = f"until [ $(ls {site.root}/begun | wc -l) = {count} ]; do sleep 0.05; done"
    (site.root / "begun").mkdir()
    jobs = [
        at(job_of("shell", cmd=f"touch {site.root}/begun/{number}; {wait}", timeout=60), "site-a", node=str(number))
        for number in range(count)
    ]
    assert [outcome.status for outcome in site.run(*jobs)] == ["ready"] * count


def test_workers_of_one_machine_unpack_scripts_at_once(site: Site) -> None:
    """Each task checks all of them; the second time others take the place of some, and nothing else goes away."""
    scripts, place = site.root / "scripts", site.root / "plugin"
    (scripts / "deep" / "er").mkdir(parents=True)
    check = f"cd {place} && sha256sum --quiet -c sums && sh deep/er/hello.sh"
    for turn in range(4):
        for number in range(150):
            (scripts / "deep" / f"{number}").write_text(f"{turn} {number}\n" * 2000)
        (scripts / "deep" / "er" / "hello.sh").write_text(f"echo {turn}\n")
        sums = ["find", "deep", "-type", "f", "-exec", "sha256sum", "{}", "+"]
        (scripts / "sums").write_bytes(subprocess.run(sums, cwd=scripts, capture_output=True, check=True).stdout)
        jobs = [
            replace(
                job_of("shell", f"task{turn}", cmd=check, timeout=60, retries=0), node=worker,
                target=Target("dask", place=worker, scripts=((str(scripts), f"{place}/"),)),
            )
            for worker in ("node-1", "site-a")
        ]  # fmt: skip
        for outcome in site.run(*jobs):
            assert (outcome.status, outcome.summary.get("out")) == ("ready", str(turn)), outcome
        (place / f"beside-{turn}").touch()
    assert {path.name for path in place.iterdir()} == {
        "deep", "sums", ".fuel2-scripts", *(f"beside-{turn}" for turn in range(4)),
    }  # fmt: skip
    assert (place / "deep").stat().st_mode & 0o777 == (scripts / "deep").stat().st_mode & 0o777
    assert not [path for path in site.root.iterdir() if path.name.startswith(".fuel2")]
    assert not list((site.root / "remote" / "scripts").iterdir())


def test_secrets_are_in_no_log_of_dask(site: Site) -> None:
    job = at(job_of("shell", cmd="echo hunter2hunter2; exit 3", password="hunter2hunter2", retries=0))  # noqa: S106
    (outcome,) = site.run(job)
    assert (outcome.rc, outcome.summary["out"]) == (3, "***")
    assert "hunter2" not in repr(outcome) + "".join(site.lines) + site.cluster.said()


def test_nodes_without_a_worker_are_refused_at_once(site: Site) -> None:
    executor = site.executor()
    refusal = executor.check(at(job_of("shell", cmd="true"), "node-7"))
    assert refusal.startswith("Task task/1 cannot run: ")
    assert "has no worker named node-7. Did you mean node-1?" in refusal
    assert "--name node-7" in refusal
    assert executor.check(at(job_of("shell", cmd="true"))) == ""
    assert executor.check(at(job_of("master_shell", cmd="true"), "node-7")) == ""
    assert "never restarted" in executor.check(at(job_of("reboot")))
    (outcome,) = site.run(at(job_of("shell", cmd="true", retries=0), "node-7"))
    assert outcome.status == "error"
    assert "has no worker named node-7" in outcome.message


@pytest.mark.parametrize(
    ("scheduler", "words"),
    [
        (DaskScheduler(), "Set DASK_SCHEDULER"),
        (DaskScheduler("tcp://10.20.0.2:8786"), "is not on this machine and has no TLS"),
        (DaskScheduler("master.example.com"), "is not on this machine and has no TLS"),
        (DaskScheduler("ws://127.0.0.1:1"), "neither tls nor tcp"),
        (DaskScheduler("tcp://127.0.0.1:many"), "'tcp://127.0.0.1:many'"),
        (DaskScheduler("tls://10.20.0.2:8786", ca_file="/nowhere/ca"), "needs DASK_TLS_CERT and DASK_TLS_KEY"),
        (DaskScheduler("tls://10.20.0.2", "/nowhere/ca", "/nowhere/cert", "/nowhere/key"), "cannot be read"),
        (DaskScheduler("tcp://127.0.0.1:1", insecure=True), "tcp://127.0.0.1:1 cannot be reached"),
        (DaskScheduler("tcp://127.0.0.1:1"), "set DASK_INSECURE: true"),
        (DaskScheduler("localhost"), "every user of this machine could run anything"),
        (DaskScheduler("tcp://10.20.0.2:8786", insecure=True), "is not on this machine and has no TLS"),
    ],
)
def test_schedulers_that_are_refused(site: Site, scheduler: DaskScheduler, words: str) -> None:
    refusal = site.executor(scheduler).check(at(job_of("shell", cmd="true")))
    assert words in refusal
    began = time.monotonic()
    (outcome,) = site.run(at(job_of("shell", cmd="true", retries=0)), scheduler=scheduler)
    assert outcome.status == "error"
    assert words in outcome.message
    assert time.monotonic() - began < 30


@pytest.mark.slow
def test_a_worker_that_dies_and_comes_back_is_asked_again(own: Site) -> None:
    """The command outlives its worker, and is not begun again by the next one."""
    cmd = f"echo x >> {own.root}/log; until [ -e {own.root}/go ]; do sleep 0.05; done"
    job = at(job_of("shell", cmd=cmd, timeout=120, retries=0))

    async def run() -> Outcome:
        executor = own.executor()
        running = asyncio.ensure_future(executor.run(job, own.lines.append))
        assert await asyncio.to_thread(eventually, (own.root / "log").exists, 60)
        await asyncio.to_thread(own.cluster.kill, "node-1")
        assert await asyncio.to_thread(eventually, lambda: own.lines, 60)
        await asyncio.to_thread(own.cluster.start, "node-1")
        (own.root / "go").touch()
        try:
            return await running
        finally:
            await executor.close()

    outcome = asyncio.run(run())
    assert outcome.status == "ready", outcome
    assert (own.root / "log").read_text() == "x\n"
    assert own.lines == ["task/1: the connection broke; the command may go on, looking for it"]


HOSTILE = """
import msgpack, os, pickle, sys
from distributed.protocol.serialize import Serialized, ToPickle

class Payload:
    def __init__(self, path):
        self.path = path
    def __reduce__(self):
        return eval, ("open(%r, 'a').write(str(__import__('os').getpid()) + ' ')" % self.path,)

payload = Payload({unpickled!r})
frames = [pickle.dumps(payload)]
answers = [
    {{"status": "OK", "result": Serialized({{"serializer": "pickle"}}, frames)}},
    {{"status": "OK", "result": Serialized({{"serializer": "dask", "type-serialized": frames[0]}}, frames)}},
    {{"status": "OK", "result": Serialized({{"serializer": "msgpack"}}, frames)}},
    {{"status": "OK", "result": Serialized({{"serializer": "msgpack", "compression": ["lz4"]}}, frames)}},
    {{"status": "OK", "result": ToPickle(payload)}},
    {{"status": "OK", "result": frames[0]}},
    {{"status": "OK", "result": {{"__Serialized__": 10**9}}}},
    {{"status": "OK", "result": {{"__Serialized__": float("inf")}}}},
    {{"status": "OK", "result": Serialized({{"serializer": "msgpack"}}, [msgpack.packb('[Infinity, "", ""]')])}},
    {{"status": "error", "exception": frames[0], "traceback": frames[0], "exception_text": "no"}},
    ToPickle(payload), frames[0], [1], None,
]

async def dask_setup(worker):
    def run(comm, **asked):
        worker.log_event("warn", {{"message": frames[0], "category": frames[0]}})
        return answers.pop(0) if answers else frames[0]
    worker.handlers["run"] = run
"""


@pytest.mark.slow
def test_nothing_that_a_worker_sends_is_unpickled(own: Site) -> None:
    """A worker that answers with pickles, in all the ways of Dask's protocol: none of them is opened here."""
    unpickled = own.root / "unpickled"
    (own.root / "hostile.py").write_text(HOSTILE.format(unpickled=str(unpickled)))
    own.cluster.options = ("--preload", str(own.root / "hostile.py"))
    own.cluster.start("hostile")

    async def asked() -> list[str]:
        cluster = DaskCluster(own.cluster.place, 60)
        transport = DaskTransport(cluster, "hostile")
        said = []
        for _ in range(14):
            with pytest.raises((Unreachable, ConnectionBroken)) as raised:
                await transport.call("true")
            said.append(str(raised.value))
        assert await cluster.names() == {"node-1", "hostile"}
        await cluster.close()
        return said

    said = asyncio.run(asked())
    assert [line for line in said if "Dask worker hostile" not in line] == []
    assert sum("with something other than the JSON that was asked for" in line for line in said) >= 7, said

    (outcome,) = own.run(at(job_of("shell", cmd="true", retries=3), "hostile"))
    assert outcome.status == "error"
    assert "with something other than the JSON that was asked for" in outcome.message
    assert "install this version" in outcome.message.lower()

    assert set(unpickled.read_text().split()) == {str(own.cluster.scheduler.pid)}, "the scheduler trusts its workers"


@pytest.mark.parametrize(
    "content", [b"", b"x", b"\xff" * 40, struct.pack("4Q", 24, 2, 1 << 40, 8), struct.pack("QQ", 8, 0),
                struct.pack("3Q", 17, 1, 1) + b"\x01", struct.pack("3Q", 18, 1, 2) + b"\xc1\x01"],
)  # fmt: skip
def test_what_is_no_answer_of_a_scheduler_is_one_clear_error(content: bytes) -> None:
    async def met(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(content)
        with suppress(OSError):
            await writer.drain()
        writer.close()

    async def asked() -> None:
        server = await asyncio.start_server(met, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        cluster = DaskCluster(DaskScheduler(f"tcp://127.0.0.1:{port}", insecure=True), 20)
        with pytest.raises(Unreachable, match=r"(cannot be reached|does not answer): .+\."):
            await cluster.names()
        server.close()

    asyncio.run(asked())


@pytest.mark.slow
def test_a_command_that_holds_its_call_for_long_is_followed(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """It begins once, and its end is found by looking."""
    monkeypatch.setattr(dask, "Script", partial(Script, seconds=0.5))
    (outcome,) = site.run(at(job_of("shell", cmd=f"echo x >> {site.root}/log; sleep 2; echo done; exit 3", retries=0)))
    assert (outcome.rc, outcome.summary["out"]) == (3, "done"), outcome
    assert (site.root / "log").read_text() == "x\n"
    assert site.lines == []


@pytest.mark.slow
def test_a_worker_with_another_version_is_named(own: Site) -> None:
    (own.root / "old.py").write_text("from fuelclient.executors import dask_worker\nvars(dask_worker).pop('call', 0)\n")
    own.cluster.options = ("--preload", str(own.root / "old.py"))
    own.cluster.start("old")
    (outcome,) = own.run(at(job_of("shell", cmd="true", retries=3), "old"))
    assert "The Dask worker old does not know this version of fuelclient" in outcome.message


@pytest.mark.slow
@pytest.mark.parametrize("what", ["worker", "scheduler"])
def test_what_dies_for_good_is_an_error_when_the_time_is_over(own: Site, what: str) -> None:
    cmd = f"touch {own.root}/began; until [ -e {own.root}/go ]; do sleep 0.05; done"
    job = at(job_of("shell", cmd=cmd, timeout=12, retries=0))

    async def run() -> Outcome:
        executor = own.executor()
        await executor.run(at(job_of("shell", "first", cmd="true")), own.lines.append)  # the connection is open now
        running = asyncio.ensure_future(executor.run(job, own.lines.append))
        assert await asyncio.to_thread(eventually, (own.root / "began").exists, 12)
        await asyncio.to_thread(own.cluster.kill, "node-1" if what == "worker" else "")
        try:
            return await running
        finally:
            await executor.close()

    outcome = asyncio.run(run())
    (own.root / "go").touch()
    assert outcome.status == "error"
    assert outcome.message.startswith("timed out: not done within 12 s")
    why = "has no worker named node-1" if what == "worker" else "cannot be reached"
    assert any("could not be ended" in line and why in line for line in own.lines), own.lines


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_over_tls(tmp_path: Path) -> None:
    ca, cert, key = certificates(tmp_path / "certificates")
    _, other_cert, other_key = certificates(tmp_path / "others")
    options = ("--tls-ca-file", str(ca), "--tls-cert", str(cert), "--tls-key", str(key))
    with cluster(tmp_path / "dask", "node-1", protocol="tls", options=options) as made:
        assert made.address.startswith("tls://")
        place = DaskScheduler(made.address, str(ca), str(cert), str(key))
        site = Site(tmp_path, made, [])
        job = at(job_of("shell", cmd="echo safe"))
        (outcome,) = site.run(job, scheduler=place)
        assert (outcome.status, outcome.summary["out"]) == ("ready", "safe"), outcome
        stranger = replace(place, cert=str(other_cert), key=str(other_key))
        assert "cannot be reached" in site.executor(stranger).check(job)
        plain = DaskScheduler(made.address.replace("tls:", "tcp:"), insecure=True)
        assert "cannot be reached" in site.executor(plain).check(job)
