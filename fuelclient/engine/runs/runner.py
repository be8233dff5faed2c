"""Execute one run in a separate process, the runner, which outlives the terminal.

`python -m fuelclient.engine.runs.runner ENGINE RUN [--rerun-interrupted] [--prepared FD]` claims the environment,
executes the run and releases the environment. Its own messages are written to a log file, and the progress of the run
to the store. If a runner is killed, the next one continues from the store.

Each graph is planned after the previous one has ended, with the changes that it made. The run ends at the first graph
that fails. Every step first checks what is stored, so that it can be repeated after a crash.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from fuelclient import redact
from fuelclient.engine.reading.computed_facts import store_kept_values
from fuelclient.engine.runs import inputs as run_inputs
from fuelclient.engine.runs import processes
from fuelclient.engine.runs.background import Prepared, forget_package, hand_over, launch, packed, received, unpacked
from fuelclient.engine.runs.close import abandon, close, end_commands, finish_graph, finish_run
from fuelclient.engine.runs.event_loop import GraphRun, Journal
from fuelclient.engine.runs.jobs import Provider, checker, executor_for, jobs_for, run_and_close
from fuelclient.engine.runs.paths import RESERVE, log_path, spool_path
from fuelclient.engine.runs.processes import now
from fuelclient.engine.runs.sweep import sweep
from fuelclient.environment import plans, settings
from fuelclient.environment.networks import network_configuration
from fuelclient.errors import Conflict, FuelError, StalePlan, Unavailable
from fuelclient.executors.job import Executor
from fuelclient.expressions import limits
from fuelclient.insight.progress import rest_of
from fuelclient.model.cluster import ClusterStatus
from fuelclient.model.node import Node, NodeStatus
from fuelclient.model.run import EventKind, Run
from fuelclient.model.status import RunStatus, Verdict, changed
from fuelclient.plan.inputs import Inputs
from fuelclient.plan.plan import Plan, require_decided
from fuelclient.plan.schedule import STOPPED_BY_USER, Schedule
from fuelclient.plan.select import with_primaries
from fuelclient.plan.work import by_filters
from fuelclient.settings import load
from fuelclient.store import access, facts, history, runners, runs
from fuelclient.store.database import Connection, Database
from fuelclient.store.inventory import clusters, nodes

_RESERVE_BYTES = 2 << 20
"""How many bytes on the disk a run reserves, so that its end can be stored."""

LOCK_SECONDS = 300.0
"""How many seconds a runner waits while another process has locked the engine file. Commands go on meanwhile, and
nobody would watch them if the runner gave up at once."""


def start(engine: str, run_id: int, rerun_interrupted: bool, prepared: Prepared | None = None) -> None:
    """Start a runner in its own session, and send it the `prepared` plan. Raise `Unavailable` if it cannot be
    started."""
    arguments = [os.path.realpath(engine), str(run_id), *(["--rerun-interrupted"] if rerun_interrupted else [])]
    data = packed(prepared) if prepared else b""
    there, here = os.pipe()
    try:
        launch("fuelclient.engine.runs.runner", [*arguments, f"--prepared={there}"], log_path(engine, run_id), there)
    except (OSError, subprocess.CalledProcessError) as error:
        os.close(here)
        raise Unavailable(
            f"The runner of run {run_id} cannot be started: {error}.",
            hint=f"Remove the cause, then run `fuel2 task resume {run_id}`.",
        ) from error
    finally:
        os.close(there)
    hand_over(here, data)


def claim(connection: Connection, parent: Run) -> None:
    """Make this process the runner of the run's environment. Raise `Conflict` if another live process is."""
    runner = runners.find(connection, parent.cluster_id)
    if runner is not None and runner.pid != processes.NOT_STARTED and processes.is_alive(runner):
        raise Conflict(f"Process {runner.pid} is already executing run {runner.run_id} on this environment.")
    runners.put(connection, processes.this_process(parent))


def execute(
    database: Database,
    run_id: int,
    provider: Provider = executor_for,
    *,
    rerun_interrupted: bool = False,
    prepared: Prepared | None = None,
) -> bool:
    """Execute a run in this process, with the `prepared` plan of its first graph, if given. Return False if a user has
    to decide about interrupted instances.

    Raise `Conflict` if another process executes the run, or if it has ended.
    """
    with database.write() as connection:
        parent = runs.find(connection, run_id)
        if parent is None or parent.is_final or parent.parent_id is not None:
            raise Conflict(f"Run {run_id} does not exist, is a part of another run, or has ended.")
        claim(connection, parent)
    limits.set_seconds(load().expression_seconds)
    executor = provider(database.path, parent)
    reserve = _create_reserve(spool_path(database.path, parent) / RESERVE)
    try:
        return run_and_close(executor, Execution(database, parent, executor, rerun_interrupted, prepared).go())[0]
    except Unavailable:
        if not access.is_full(database.path):
            raise
        _end_on_full_disk(database, parent, provider, reserve)
        return True
    finally:
        _release(reserve)
        with database.write() as connection:
            runners.remove(connection, parent.cluster_id, os.getpid())


def _create_reserve(path: Path) -> Path:
    """Create a file that reserves room on the disk for the end of the run, and return its path."""
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with path.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, _RESERVE_BYTES)
    return path


def _release(reserve: Path) -> None:
    with suppress(OSError):
        reserve.unlink(missing_ok=True)
        reserve.parent.rmdir()  # fails if commands have left spools there


def _end_on_full_disk(database: Database, parent: Run, provider: Provider, reserve: Path) -> None:
    """Kill the commands of a run whose journal can no longer be written, and end the run."""
    why = f"The disk of {database.path} is full"
    _log(f"{why}: the run ends.")
    end_commands(database, parent, provider)  # first, because a command may take the room that is released
    _release(reserve)
    killed = end_commands(database, parent, provider)
    with database.write() as connection:
        close(connection, parent, killed, why)


@dataclass(frozen=True, slots=True)
class Execution:
    """The execution of one run by this process."""

    database: Database
    parent: Run
    executor: Executor
    rerun_interrupted: bool = False
    prepared: Prepared | None = None

    async def go(self) -> bool:
        """Run all graphs, then end the run. Return False if a user first has to decide about interrupted instances."""
        with self.database.read() as connection:
            children = runs.children(connection, self.parent.id)
        for child in children:
            if not child.is_final and not await self._graph(child):
                return False
            with self.database.read() as connection:
                ended = runs.find(connection, child.id)
            if ended is None or ended.status is RunStatus.ERROR:
                break
        with self.database.write() as connection:
            finish_run(connection, self.parent.id)
        return True

    async def _graph(self, child: Run) -> bool:
        """Plan and run one graph. Return False if a user has to decide about interrupted instances."""
        try:
            inputs, plan = self._plan(child)
        except FuelError as error:
            with self.database.write() as connection:
                abandon(connection, replace(child, findings=error.findings), Verdict.ERROR, str(error))
            return True
        with self.database.write() as connection:
            begin(connection, child.id, inputs, plan)
        graph_run = self._graph_run(child, inputs, plan)
        if not await graph_run.go():
            return False
        with self.database.write() as connection:
            finish_graph(connection, child.id, plan, graph_run.schedule)
        return True

    def _plan(self, child: Run) -> tuple[Inputs, Plan]:
        """Repeat the plan that a child began with; for a new child, make the plan and store it."""
        if self.prepared and child.digest == self.prepared.plan.digest:
            return self.prepared.inputs, self.prepared.plan
        if not child.digest:
            store_kept_values(self.database, child.cluster_id)
        with self.database.read() as connection:
            if child.digest:
                inputs = run_inputs.stored_with_current_graphs(connection, child)
            else:
                inputs = run_inputs.read(connection, child.request, child.graph_type, before=child.id)
            present = nodes.every(connection, cluster_id=child.cluster_id)
            known = (*inputs.environment.nodes, *present)
            jobs = jobs_for(connection, self.database.path, child.id, child.request, inputs, known)
        plan = plans.plan(inputs, child.request, child.graph_type, checker(jobs, self.executor))
        if child.digest:
            require_same_plan(child, plan, present)
        else:
            require_decided(plan)
            with self.database.write() as connection:
                remember(connection, child, inputs, plan)
        return inputs, plan

    def _graph_run(self, child: Run, inputs: Inputs, plan: Plan) -> GraphRun:
        with self.database.read() as connection:
            before = history.changes(connection, child.id)
            attempts = history.attempts(connection, child.id)
            stop_request = runs.stop_of(connection, self.parent.id)
            present = nodes.every(connection, cluster_id=child.cluster_id)
            jobs = jobs_for(connection, self.database.path, child.id, child.request, inputs, present)
        return GraphRun(
            work=plan.work,
            schedule=Schedule(plan.work, before, stopped=STOPPED_BY_USER if stop_request else ""),
            journal=Journal(self.database, child),
            make=lambda vertex, attempt: jobs.job(*plan.at(vertex), plan.rendered[vertex], attempt),
            executor=self.executor,
            log=_log,
            attempts=attempts,
            rerun_interrupted=self.rerun_interrupted,
        )


def require_same_plan(child: Run, plan: Plan, present: Sequence[Node]) -> None:
    """Raise `StalePlan` if a child began with another plan, or if a node of the plan has left its environment."""
    if plan.digest != child.digest:
        raise StalePlan(
            f"The {child.graph_type} graph of environment {child.cluster_id} has changed since run {child.id} began.",
            hint=f"Stop it (`fuel2 task stop {child.parent_id or child.id}`), and execute what it left: "
            f"{rest_of(replace(child, children=(child,)))}.",
        )
    known = {node.id for node in present}
    if gone := [str(node_id) for node_id in plan.node_ids if node_id not in known]:
        raise StalePlan(
            f"Run {child.id} cannot be resumed: nodes have left environment {child.cluster_id}: {', '.join(gone)}.",
            hint=f"Stop it (`fuel2 task stop {child.parent_id or child.id} --kill`) and execute the graph again.",
        )


def remember(connection: Connection, child: Run, inputs: Inputs, plan: Plan) -> None:
    """Store the plan of a child: its digest, findings and inputs, and a pending row for each instance.

    Rendered parameters are not stored: they can be computed from the facts, which are stored once. Tasks are stored for
    the history, with masked passwords.
    """
    tasks = {task.id: redact.masked_document(task.task.attributes) for task in plan.expansion.tasks}
    forgotten = inputs.memory.forgotten if inputs.memory else ()
    runs.put_inputs(connection, child.id, inputs.environment.nodes, forgotten, tasks)
    facts.put_seen(connection, child.id, inputs.facts)
    facts.put_part(connection, child.id, facts.SETTINGS, settings.effective(inputs.environment))
    facts.put_part(connection, child.id, facts.NETWORKS, network_configuration(inputs.environment))
    instances = map(plan.at, range(plan.work.size))
    history.insert(connection, child.id, [(task.id, uid, task.task.type) for task, uid in instances])
    stored = runs.find(connection, child.id) or child
    runs.update(connection, replace(stored, digest=plan.digest, findings=plan.findings))


def begin(connection: Connection, child_id: int, inputs: Inputs, plan: Plan) -> None:
    """Mark a child as running and its nodes as deploying, and store primary tags, unless the child has begun already.

    Source: Nailgun `Cluster.set_primary_tags`, which does not look at the graph.
    """
    child = runs.find(connection, child_id)
    if child is None or child.status is not RunStatus.PENDING:
        return
    runs.update(connection, replace(child, status=changed(child.status, RunStatus.RUNNING), time_start=now()))
    history.append_event(connection, child, EventKind.RUN, RunStatus.RUNNING, now())
    if child.dry_run:
        return
    reached = {plan.fleet.nodes[node].uid for node in plan.work.node_of}
    left_out = {plan.fleet.nodes[node].uid for node in by_filters(plan.work)[1]}
    # the whole fleet: a primary without a task in this run would lose its tags to a node that becomes ready
    for node in with_primaries(nodes.every(connection, cluster_id=child.cluster_id), plan.fleet):
        deploying = replace(node, status=NodeStatus.DEPLOYING, error_type="")
        nodes.update(connection, deploying if node.id in reached - left_out else node)
    cluster = inputs.environment.cluster
    if cluster.status != ClusterStatus.DEPLOYMENT:
        current = clusters.find(connection, cluster.id) or cluster
        clusters.update(connection, replace(current, status=ClusterStatus.DEPLOYMENT))


def main(arguments: Sequence[str] | None = None) -> int:
    """Execute a run. Return 0 if it has ended, successfully or not, and 1 otherwise."""
    parser = argparse.ArgumentParser(prog="python -m fuelclient.engine.runs.runner", description=__doc__)
    parser.add_argument("engine")
    parser.add_argument("run", type=int)
    parser.add_argument("--rerun-interrupted", action="store_true")
    parser.add_argument("--prepared", type=int, metavar="FD")
    options = parser.parse_args(arguments)
    data = b"" if options.prepared is None else received(options.prepared)  # first, because the starter waits
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    os.umask(0o077)
    forget_package()
    database = Database(options.engine, patience=LOCK_SECONDS, tell=_log)
    try:
        ended = execute(database, options.run, rerun_interrupted=options.rerun_interrupted, prepared=unpacked(data))
        sweep(database)
    except FuelError as error:
        _log(f"{type(error).__name__}: {error}")
        return 1
    finally:
        database.close()
    return 0 if ended else 1


def _log(line: str) -> None:
    stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime())
    with suppress(OSError):  # the disk of the log may be full
        sys.stderr.write(f"{stamp} {line}\n")
        sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
