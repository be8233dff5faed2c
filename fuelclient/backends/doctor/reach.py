"""Examine the Fuel master, the Dask scheduler and the nodes: whether they answer and whether their clocks agree."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from fuelclient.engine.runs.jobs import target_of
from fuelclient.errors import FuelError
from fuelclient.executors import registry
from fuelclient.executors.examination import clock
from fuelclient.executors.machines import Connections
from fuelclient.executors.transport import Options
from fuelclient.model.diagnosis import Diagnosis, Health, alike

if TYPE_CHECKING:
    from fuelclient.model.node import Node
    from fuelclient.settings import Settings
    from fuelclient.settings.master import Master

SECONDS = 5.0
"""How many seconds a machine may take to answer."""

_MAX_NODES_AT_ONCE = 16


def master(settings: Settings) -> Iterator[Diagnosis]:
    """Examine whether the Fuel master answers, accepts our credentials, and has the same time."""
    from fuelclient.backends.connected import connected

    try:
        if (server := settings.master) is None:
            return
        impatient = replace(server, timeout=SECONDS, total_timeout=2 * SECONDS, retries=0)
        with closing(connected(impatient)) as backend:
            version = backend.version()
        message = f"answers: Fuel {version.release or 'of unknown version'}, API {version.api}"
        yield Diagnosis("master", server.url, Health.OK, message)
        yield from clock("master", server.url, _skew(impatient))
    except FuelError as error:
        yield Diagnosis("master", str(settings["SERVER_ADDRESS"].value), Health.ERROR, error.message, error.hint)


def _skew(server: Master) -> float:
    """The seconds by which the master's clock is ahead, exact to a second; 0 if its answers have no date."""
    import requests

    from fuelclient.backends.http.transport import http_session, proxies_for, verification

    with http_session(server) as session:
        before = time.time()
        try:
            answer = session.get(
                f"{server.url}/", timeout=SECONDS, allow_redirects=False, verify=verification(server),
                proxies=proxies_for(server, server.url),
            )  # fmt: skip
            theirs = parsedate_to_datetime(answer.headers.get("Date", "")).timestamp()
        except (requests.exceptions.RequestException, ValueError, TypeError):
            return 0.0
    middle = (before + time.time()) / 2
    return theirs + 0.5 - middle


def dask(settings: Settings) -> Iterator[Diagnosis]:
    """Examine whether the Dask scheduler may be used, answers, and has workers; nothing if the settings name none."""
    if not settings.dask_scheduler:
        return
    from fuelclient.executors.dask import DaskScheduler, worker_names

    scheduler = DaskScheduler.of(settings)
    if refusal := scheduler.refusal():
        reason, _, fix = refusal.partition(". ")
        yield Diagnosis("dask", scheduler.address, Health.ERROR, reason, fix or "Correct DASK_SCHEDULER.")
        return
    try:
        workers = asyncio.run(worker_names(scheduler, SECONDS))
    except FuelError as error:
        fix = error.hint or "Start the scheduler, or correct DASK_SCHEDULER."
        yield Diagnosis("dask", scheduler.address, Health.ERROR, error.message, fix)
        return
    if workers:
        yield Diagnosis("dask", scheduler.address, Health.OK, f"answers; workers: {', '.join(workers)}")
    else:
        fix = "Start a worker with the name of each node."
        yield Diagnosis("dask", scheduler.address, Health.WARNING, "answers, but has no workers", fix)


def nodes(settings: Settings) -> Iterator[Diagnosis]:
    """Yield the nodes of environments that do not answer or whose clocks differ, and how many answer."""
    from fuelclient.backends.local import LocalBackend

    try:
        with closing(LocalBackend(settings.engine)) as backend:
            known = backend.nodes.list()
    except FuelError as error:
        yield Diagnosis("nodes", "list", Health.ERROR, error.message, error.hint)
        return
    if not (reached := list(filter(_is_reached, known))):
        return
    problems = [diagnosis for answers in asyncio.run(_ask_all(reached)) for diagnosis in answers]
    yield from alike(problems)
    silent = {diagnosis.name for diagnosis in problems if diagnosis.health is Health.ERROR}
    if len(silent) < len(reached):
        yield Diagnosis("nodes", "connections", Health.OK, f"{len(reached) - len(silent)} of {len(reached)} answered")


def _is_reached(node: Node) -> bool:
    """Whether the node is in an environment, and tasks reach it by its address."""
    if node.cluster_id is None or not node.ip:
        return False
    connector = registry.class_of(target_of(node).kind)
    return connector.needs_address and connector.runs


async def _ask_all(known: Sequence[Node]) -> Sequence[Sequence[Diagnosis]]:
    limit = asyncio.Semaphore(_MAX_NODES_AT_ONCE)
    with tempfile.TemporaryDirectory(prefix="fuel2-doctor-") as spool:
        connections = Connections(Options(spool, connect_timeout=SECONDS))

        async def ask(node: Node) -> Sequence[Diagnosis]:
            async with limit:
                return await _ask(connections, node)

        try:
            return await asyncio.gather(*map(ask, known))
        finally:
            await connections.close()


async def _ask(connections: Connections, node: Node) -> Sequence[Diagnosis]:
    target, name = target_of(node), f"{node.id} ({node.name})"
    try:
        async with asyncio.timeout(2 * SECONDS):
            problems = await connections.examine(target, ())
    except TimeoutError:
        message = f"it does not answer within {2 * SECONDS:g} s"
        return [Diagnosis("nodes", name, Health.ERROR, message, "Look at the load of the node.")]
    return [replace(problem, name=name) for problem in problems]
