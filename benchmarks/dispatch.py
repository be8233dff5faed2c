"""Print one table: what an executor adds to a task that does nothing, beside a bare process of the same command.

`python -m benchmarks.dispatch [--tasks N] [--nodes N] [--rounds N]`. Each way runs the same trivial shell tasks, one
after another on one node, and then on all nodes at the same time, one per node; they take turns, the first round
opens connections and does not count. Nodes of ssh are sshd processes on loopback ports; those of dask share two
workers, as nodes of two sites do. What the login shell of the user does by itself is left out: nodes have no HOME.
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
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
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
BARE = "bare bash process"
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


@dataclass(frozen=True, slots=True)
class Cost:
    """Milliseconds for each task: one after another, and with all nodes at work."""

    alone: float
    together: float


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
    base = costs[BARE]
    print(f"{'dispatch of one task':<24}{'alone ms':>9}{'':>9}{f'{sizes.nodes} nodes ms':>13}{'':>9}  beside {BARE}")
    for name, cost in costs.items():
        ratios = f"{cost.alone / base.alone:.1f}x", f"{cost.together / base.together:.1f}x"
        print(f"{name:<24}{cost.alone:>9.2f}{ratios[0]:>9}{cost.together:>13.2f}{ratios[1]:>9}")
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


async def _measured(directory: Path, targets: dict[str, list[Target]], sizes: Sizes) -> dict[str, Cost]:
    alone: dict[str, list[float]] = {}
    together: dict[str, list[float]] = {}
    async with _executors(directory, targets) as executors:
        ways: dict[str, Once] = {BARE: _bare}
        ways |= {name: _through(executor, targets[name]) for name, executor in executors.items()}
        for turn in range(sizes.rounds + 1):
            for name, once in ways.items():
                first = turn * 2 * sizes.tasks
                costs = await _round(once, sizes, first, 1), await _round(once, sizes, first + sizes.tasks, sizes.nodes)
                if turn:  # the first turn opens connections
                    alone.setdefault(name, []).append(costs[0])
                    together.setdefault(name, []).append(costs[1])
    return {name: Cost(statistics.median(alone[name]), statistics.median(together[name])) for name in alone}


async def _round(once: Once, sizes: Sizes, first: int, nodes: int) -> float:
    """Milliseconds for each task, when so many nodes work at the same time, each on one task after another."""

    async def node(number: int) -> None:
        for task in range(first + number, first + sizes.tasks, nodes):
            await once(task, number)

    started = time.perf_counter()
    await asyncio.gather(*(node(number) for number in range(nodes)))
    return (time.perf_counter() - started) / sizes.tasks * 1000


async def _bare(task: int, node: int) -> None:  # noqa: ARG001 - it is the same on all nodes
    process = await asyncio.create_subprocess_exec(
        "bash", "-c", _COMMAND, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    await process.communicate()
    if process.returncode:
        raise RuntimeError(f"bash ended with exit code {process.returncode}")


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
            settings=lambda: load({}, {"FUEL_DASK_SCHEDULER": (directory / "scheduler").read_text()}),
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
