"""Print one table: what an executor adds to a task that does nothing, beside the plainest way to start its command.

`python -m benchmarks.dispatch [--tasks N] [--nodes N] [--rounds N]`. Each way runs the same trivial shell tasks, one
after another on one node, then on all nodes at the same time, one per node, and then `IN_FLIGHT` of them at once; they
take turns, the first round opens connections and does not count, and the fastest of the others does, as other work on
the machine only makes them slower. Nodes of ssh are sshd processes on loopback ports; those of dask share two workers,
as nodes of two sites do. What the login shell of the user does by itself is left out: nodes have no HOME.

The plainest ways: a bare process; a command of asyncssh on one open connection for each node; `submit` of Dask.
"""

from __future__ import annotations

import argparse
import asyncio
import getpass
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from fuelclient.executors.executor import MachineExecutor
from fuelclient.executors.job import Executor, Job, Target
from fuelclient.executors.transport import Options, Ssh
from fuelclient.model.status import InstanceStatus
from fuelclient.settings import load

HOST = "127.0.0.1"
SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
IN_FLIGHT = 50
_BARE = {"local": "bare bash process", "ssh": "raw asyncssh command", "dask": "raw Dask submit"}
_COMMAND = "true"
_SITES = ("site-a", "site-b")
_PATIENCE = 60.0

Once = Callable[[int, int], Awaitable[None]]
"""Runs one task, by its number and the number of its node."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured: tasks in each round, nodes that work at the same time, rounds that count."""

    tasks: int = 200
    nodes: int = 10
    rounds: int = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    default = Sizes()
    for name in ("tasks", "nodes", "rounds"):
        parser.add_argument(f"--{name}", type=int, default=getattr(default, name))
    options = parser.parse_args()
    table(Sizes(options.tasks, options.nodes, options.rounds))


def table(sizes: Sizes = Sizes()) -> None:
    """Print what each way costs, and why those are absent that cannot be had here."""
    with tempfile.TemporaryDirectory(prefix="fuel2-bench-", dir=Path.home()) as directory, ExitStack() as stack:
        targets, absent = _targets(Path(directory), sizes, stack)
        costs = asyncio.run(_measured(Path(directory), targets, sizes))
    heads = ("alone ms", f"{sizes.nodes} nodes ms", f"{IN_FLIGHT} at once ms")
    print(f"{'dispatch of one task':<24}" + "".join(f"{head:>14}{'':>8}" for head in heads))
    for name, bare in _BARE.items():
        for way in (bare, name) if name in costs else ():
            pairs = list(zip(costs[way], costs[bare], strict=True))
            print(f"{way:<24}" + "".join(f"{cost:>14.2f}{cost / base:>7.1f}x" for cost, base in pairs))
    for name, reason in absent.items():
        print(f"{name:<24} not measured: {reason}")


def _targets(directory: Path, sizes: Sizes, stack: ExitStack) -> tuple[dict[str, list[Target]], dict[str, str]]:
    """By way: the targets of its nodes; and why there is no other one."""
    targets, absent = {"local": [Target()] * sizes.nodes}, {}
    if SSHD is None:
        absent["ssh"] = "sshd is not installed (Debian: openssh-server)"
    elif importlib.util.find_spec("asyncssh") is None:
        absent["ssh"] = "asyncssh is not installed (the extra ssh)"
    else:
        targets["ssh"] = stack.enter_context(_daemons(directory, SSHD, sizes.nodes))
    if importlib.util.find_spec("distributed") is None:
        absent["dask"] = "distributed is not installed (the extra dask)"
    else:
        stack.enter_context(_cluster(directory))
        names = (_SITES[number % len(_SITES)] for number in range(sizes.nodes))
        targets["dask"] = [Target("dask", place=name) for name in names]
    return targets, absent


async def _measured(directory: Path, targets: dict[str, list[Target]], sizes: Sizes) -> dict[str, list[float]]:
    """By way: milliseconds for each task, alone, with all nodes at work, and with many in flight."""
    costs: dict[str, list[float]] = {}
    async with _executors(directory, targets) as executors, AsyncExitStack() as stack:
        ways: dict[str, Once] = {_BARE["local"]: _bare}
        if "ssh" in targets:
            ways[_BARE["ssh"]] = await _raw_ssh(directory, targets["ssh"], stack)
        if "dask" in targets:
            ways[_BARE["dask"]] = await _raw_dask(directory, stack)
        ways |= {name: _through(executor, targets[name]) for name, executor in executors.items()}
        first = 0
        for turn in range(sizes.rounds + 1):
            for name, once in ways.items():
                taken = []
                for at_once in (1, sizes.nodes, IN_FLIGHT):
                    taken.append(await _round(once, sizes, first, at_once))
                    first += sizes.tasks
                if turn:  # the first turn opens connections
                    costs[name] = [min(pair) for pair in zip(costs.get(name, taken), taken, strict=True)]
    return costs


async def _round(once: Once, sizes: Sizes, first: int, at_once: int) -> float:
    """Milliseconds for each task, with so many at the same time, spread over the nodes."""

    async def one_after_another(number: int) -> None:
        for task in range(first + number, first + sizes.tasks, at_once):
            await once(task, number % sizes.nodes)

    started = time.perf_counter()
    await asyncio.gather(*(one_after_another(number) for number in range(at_once)))
    return (time.perf_counter() - started) / sizes.tasks * 1000


async def _bare(task: int, node: int) -> None:  # noqa: ARG001 - it is the same on all nodes
    process = await asyncio.create_subprocess_exec(
        "bash", "-c", _COMMAND, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    await process.communicate()
    if process.returncode:
        raise RuntimeError(f"bash ended with exit code {process.returncode}")


async def _raw_ssh(directory: Path, targets: list[Target], stack: AsyncExitStack) -> Once:
    import asyncssh

    files = {"known_hosts": str(directory / "known_hosts"), "client_keys": [str(directory / "key")], "config": None}
    places = [target.place for target in targets if isinstance(target.place, Ssh)]
    connections = [
        await stack.enter_async_context(asyncssh.connect(HOST, place.port, username=place.user, **files))
        for place in places
    ]

    async def once(task: int, node: int) -> None:  # noqa: ARG001
        await connections[node].run(f"bash -c {_COMMAND}", check=True)

    return once


async def _raw_dask(directory: Path, stack: AsyncExitStack) -> Once:
    from distributed import Client

    scheduler = (directory / "scheduler").read_text()
    client = Client(scheduler, asynchronous=True)  # type: ignore[no-untyped-call]  # it has no types
    await stack.enter_async_context(client)

    async def once(task: int, node: int) -> None:
        site = _SITES[node % len(_SITES)]
        await client.submit(subprocess.run, ["bash", "-c", _COMMAND], check=True, key=f"raw-{task}", workers=[site])

    return once


def _through(executor: Executor, targets: list[Target]) -> Once:
    async def once(task: int, node: int) -> None:
        parameters = {"cmd": _COMMAND, "retries": 0}
        job = Job(1, str(node), f"node-{node}", f"task-{task}", "shell", parameters, targets[node])
        outcome = await executor.run(job, lambda line: print(line, file=sys.stderr))
        if outcome.status is not InstanceStatus.READY:
            raise RuntimeError(f"{job.label}: {outcome.message}")  # a task that fails is fast and means nothing

    return once


@asynccontextmanager
async def _executors(directory: Path, targets: dict[str, list[Target]]) -> AsyncIterator[dict[str, Executor]]:
    def options(name: str) -> Options:
        return Options(
            spool=str(directory / name), remote_spool=str(directory / f"{name}-nodes"),
            known_hosts=str(directory / "known_hosts"), ssh_config=str(directory / "ssh_config"), connect_timeout=60,
            settings=lambda: load(
                {"DASK_SCHEDULER": (directory / "scheduler").read_text(), "DASK_INSECURE": True}, {}, by_program=True
            ),
        )  # fmt: skip

    made: dict[str, Executor] = {name: MachineExecutor(options(name)) for name in targets}
    try:
        yield made
    finally:
        for executor in made.values():
            await executor.close()


@contextmanager
def _daemons(directory: Path, sshd: str, count: int) -> Iterator[list[Target]]:
    """So many sshd processes with keys of their own."""
    for name in ("host_key", "key"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(directory / name)], check=True)
    (directory / "ssh_config").write_text("")
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)
    host = (directory / "host_key.pub").read_text()
    targets, known, started = [], "", []
    try:
        for _ in range(count):
            port = _free_port()
            options = (
                f"SetEnv=HOME={directory}",
                "UsePAM=no",
                "StrictModes=no",
                "PidFile=none",
                f"AuthorizedKeysFile={directory}/key.pub",
            )
            words = (f"-oHostKey={directory}/host_key", "-oListenAddress=" + HOST, *(f"-o{one}" for one in options))
            started.append(subprocess.Popen([sshd, "-D", "-q", "-f", os.devnull, "-p", str(port), *words]))
            ssh = Ssh(getpass.getuser(), port, str(directory / "key"))
            targets.append(Target("ssh", HOST, ssh))
            known += f"[{HOST}]:{port} {host}"
        (directory / "known_hosts").write_text(known)
        for target in targets:
            port = target.place.port if isinstance(target.place, Ssh) else 0
            _until(partial(_listens, port), f"sshd on port {port}")
        yield targets
    finally:
        _end(started)


@contextmanager
def _cluster(directory: Path) -> Iterator[None]:
    """A Dask scheduler and a worker for each site; its address is in the file `scheduler`."""
    address, logs = f"tcp://{HOST}:{_free_port()}", directory / "dask.log"
    (directory / "scheduler").write_text(address)
    started = []
    with logs.open("wb") as log:
        try:
            words = ["scheduler", "--host", HOST, "--port", address.rpartition(":")[2], "--no-dashboard"]
            started.append(subprocess.Popen([sys.executable, "-m", "dask", *words], stdout=log, stderr=log))
            for name in _SITES:
                words = ["worker", address, "--name", name, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
                words += ["--host", HOST, "--local-directory", str(directory / "local")]
                started.append(subprocess.Popen([sys.executable, "-m", "dask", *words], stdout=log, stderr=log))
            _until(lambda: logs.read_text().count("Registered to:") == len(_SITES), "Dask workers")
            yield
        finally:
            _end(started)


def _end(processes: list[subprocess.Popen[bytes]]) -> None:
    for process in reversed(processes):
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _until(holds: Callable[[], bool], what: str) -> None:
    until = time.monotonic() + _PATIENCE
    while not holds():
        if time.monotonic() > until:
            raise RuntimeError(f"{what} did not come up within {_PATIENCE:g} s")
        time.sleep(0.05)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((HOST, port)) == 0


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        return int(listener.getsockname()[1])


if __name__ == "__main__":
    main()
