"""Begin, stop, resume and delete runs, check that nodes are ready for tasks, and read the output of commands."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from fuelclient import redact
from fuelclient.engine.facet import writes
from fuelclient.engine.reading import lookup
from fuelclient.engine.reading.computed_facts import store_kept_values
from fuelclient.engine.runs import inputs, processes, sweep
from fuelclient.engine.runs.background import Prepared
from fuelclient.engine.runs.close import close, end_commands
from fuelclient.engine.runs.jobs import Provider, checker, jobs_for, output_of, remembered_job, target_of
from fuelclient.engine.runs.records import Records, existing, is_alive, parent_of, require_free, with_parts
from fuelclient.engine.runs.runner import remember, require_same_plan
from fuelclient.environment import plans
from fuelclient.errors import Conflict, FuelError, NotFound, NotReady, StalePlan, Unavailable, did_you_mean
from fuelclient.executors import registry
from fuelclient.executors.examination import AREA, programs_of
from fuelclient.executors.executor import MachineExecutor
from fuelclient.executors.job import Target
from fuelclient.insight.progress import rest_of
from fuelclient.model.diagnosis import Diagnosis, Health, alike
from fuelclient.model.finding import Finding, Severity
from fuelclient.model.graph import DEFAULT_TYPE
from fuelclient.model.node import Node
from fuelclient.model.run import CHILD, PARENT, EventKind, HistoryFilter, HistoryRow, Logs, Run, RunRequest
from fuelclient.model.status import InstanceStatus, Reason, RunStatus
from fuelclient.model.task import TaskType
from fuelclient.plan import select
from fuelclient.plan.inputs import Inputs
from fuelclient.plan.plan import COMMANDED, Check, Plan, checked, nothing_selected, require_decided
from fuelclient.plan.work import InstanceKind
from fuelclient.store import access, facts, graphs, history, runners, runs
from fuelclient.store.database import Connection, Database
from fuelclient.store.inventory import nodes
from fuelclient.store.leftovers import Leftover

Start = Callable[[str, int, bool, Prepared | None], None]
"""Starts a runner. Arguments: engine file, run, whether to begin interrupted instances again, prepared plan."""

_ATTEMPTS = 3
"""How often a run is prepared, if the environment is changed each time meanwhile."""


class Operations(Records):
    """The operations that change runs or need executors. `start` starts a runner, `provider` creates its executor."""

    def __init__(self, database: Database, start: Start, provider: Provider) -> None:
        super().__init__(database)
        self._start, self._provider = start, provider

    def begin(self, request: RunRequest, *, may_idle: bool = False, check: bool = True, digest: str = "") -> Run:
        request = checked(request, registry.runs_nothing)
        for _ in range(_ATTEMPTS):
            with self._database.reading():
                with self._database.read() as connection:
                    lookup.cluster(connection, request.cluster_id)
                    require_free(connection, request.cluster_id)
                    _require_no_original(connection, request)
                store_kept_values(self._database, request.cluster_id)
                with self._database.reading():  # has no effect unless that has written
                    if request.dry_run:
                        return self._dry_run(request)
                    prepared = self._prepared(request, may_idle=may_idle, digest=digest)
                    commits = self._database.commits()
                self._database.end_reading()  # reaching nodes can take long
                if prepared and check and not request.noop:
                    self._require_ready(request, prepared)
            if run := self._store_unless_changed(request, prepared, commits):
                self._start(self._database.path, run.id, False, prepared)
                return run
        raise Conflict(
            f"Environment {request.cluster_id} was changed {_ATTEMPTS} times while its run was prepared. Nothing is "
            "stored.",
            hint="Find out who changes it, and try again.",
        )

    def _prepared(self, request: RunRequest, *, may_idle: bool, digest: str) -> Prepared | None:
        """Plan the first graph. Raise what `base.Runs.begin` raises."""
        if may_idle and any(map(select.is_open, request.subgraphs)):
            # a subgraph without a task makes the run fail later; all other errors are raised now, as usual
            named = tuple(subgraph for subgraph in request.subgraphs if not select.is_open(subgraph))
            self._plan(replace(request, subgraphs=named), request.graph_types[0])
            return None
        prepared = self._plan(request, request.graph_types[0])
        if digest not in ("", prepared.plan.digest):
            raise StalePlan(
                f"The plan of the {prepared.plan.graph_type} graph has changed since it was made.",
                hint="Create the plan again, and review it.",
            )
        require_decided(prepared.plan)
        for plan in self._plans(request, prepared.plan):
            if plan is None or not plan.is_left_out or (may_idle and plan.is_idle):
                return prepared
        raise nothing_selected(request)

    def _plans(self, request: RunRequest, first: Plan) -> Iterator[Plan | None]:
        """Yield the plans of all graphs of a request; None for a graph that cannot be planned before its turn."""
        yield first
        for graph_type in request.graph_types[1:]:
            try:
                yield self._plan(request, graph_type).plan
            except FuelError:
                yield None

    @writes
    def _store_unless_changed(
        self, connection: Connection, request: RunRequest, prepared: Prepared | None, commits: int
    ) -> Run | None:
        """Store a new run. Return None, and store nothing, if its inputs have changed meanwhile."""
        if (
            prepared
            and commits != self._database.commits()
            and inputs.read(connection, request, request.graph_types[0]) != prepared.inputs
        ):
            return None
        _require_no_original(connection, request)
        parent, children = _insert(connection, request)
        if prepared:
            remember(connection, children[0], prepared.inputs, prepared.plan)
        _mark_running(connection, parent)
        return with_parts(connection, parent.id)

    def _require_ready(self, request: RunRequest, prepared: Prepared) -> None:
        """Raise `NotReady` if a node cannot run its tasks, including those of later graphs that can be planned now."""
        examined = [(node, target_of(node, request.executor)) for node in prepared.inputs.environment.nodes]
        examined = [(node, target) for node, target in examined if registry.class_of(target.kind).examined]
        if not examined:
            return
        programs_by_node = _programs_by_node(filter(None, self._plans(request, prepared.plan)))
        examined = [(node, target) for node, target in examined if node.id in programs_by_node]
        executor = self._provider(self._database.path, _new(request, PARENT))
        reports = {
            node_id: [report for report in problems if report.health is Health.ERROR]
            for node_id, problems in _examine(executor, examined, programs_by_node).items()
        }
        if failed := [node_id for node_id, errors in reports.items() if errors]:
            findings = [
                Finding(Severity.ERROR, "N002", f"{report.name}: {report.message}", hint=report.mend)
                for report in alike(report for errors in reports.values() for report in errors)
            ]
            nodes = f"node {failed[0]} is" if len(failed) == 1 else f"{len(failed)} nodes are"
            raise NotReady(
                f"The run does not start, and nothing is stored: {nodes} not ready.",
                findings=findings,
                hint="Correct that first. --no-check skips this check, but tasks there may then fail.",
            )

    def check(self, node_ids: Sequence[int], graph_type: str = DEFAULT_TYPE) -> Sequence[Diagnosis]:
        """Report graphs that cannot be planned, and examine the nodes anyway."""
        with self._database.read() as connection:
            wanted = [lookup.node(connection, node_id) for node_id in dict.fromkeys(node_ids)]
        programs_by_node: dict[int, Collection[str]] = {}
        unplanned: list[Diagnosis] = []
        for cluster_id in dict.fromkeys(node.cluster_id for node in wanted if node.cluster_id is not None):
            request = RunRequest(cluster_id, (graph_type,), force=True, unknown="run")
            store_kept_values(self._database, cluster_id)
            try:
                with self._database.read() as connection:
                    fetched = inputs.read(connection, request, graph_type)
                programs_by_node.update(_programs_by_node([plans.plan(fetched, request, graph_type)]))
            except FuelError as error:
                text = f"which programs the tasks of its graph {graph_type} call is not known: {error.message}"
                hint = error.hint or f"fuel2 graph validate --env {cluster_id}"
                unplanned.append(Diagnosis("graphs", f"environment {cluster_id}", Health.WARNING, text, hint))
        executor = self._provider(self._database.path, _new(RunRequest(0), PARENT))
        examined = [(node, target_of(node)) for node in wanted]
        reports = _examine(executor, examined, programs_by_node)
        ready = [
            Diagnosis(AREA, f"{node.id} ({node.name})", Health.OK, _ready_text(target.kind))
            for node, target in examined
            if all(report.health is not Health.ERROR for report in reports[node.id])
        ]
        return [*alike(report for node in wanted for report in reports[node.id]), *alike(ready), *unplanned]

    def _dry_run(self, request: RunRequest) -> Run:
        """Plan all graphs of a request, and store a run that has already ended."""
        planned = [self._plan(request, graph_type).plan for graph_type in request.graph_types]
        with self._database.write() as connection:
            parent, children = _insert(connection, request)
            for run, plan in zip((*children, parent), (*planned, planned[0]), strict=True):
                moment = processes.now()
                ended = replace(
                    run, status=RunStatus.READY, progress=100, message=_dry_run_message(plan),
                    digest=plan.digest, findings=plan.findings, time_start=run.time_start or moment, time_end=moment,
                )  # fmt: skip
                runs.update(connection, ended)
        return self.get(parent.id)

    def checker(self, request: RunRequest, fetched: Inputs) -> Check:
        """Make the check of the executor that the engine's settings define."""
        with self._database.read() as connection:
            jobs = jobs_for(connection, self._database.path, 0, request, fetched, fetched.environment.nodes)
        return checker(jobs, self._provider(self._database.path, _new(request, PARENT)))

    def delete(self, *run_ids: int, force: bool = False) -> tuple[str, ...]:
        """Close runs that could be resumed first. On a full disk, empty their outputs on this machine to make room."""
        with self._database.read() as connection:
            deleted = [deletable(connection, run_id, force=force) for run_id in dict.fromkeys(run_ids)]
        try:
            leftovers = self._delete_runs(deleted, force=force)
        except Unavailable:
            if not access.is_full(self._database.path):
                raise
            for run in deleted:
                sweep.empty_outputs(self._database.path, run)
            leftovers = self._delete_runs(deleted, force=force)
        return sweep.remove(self._database, leftovers, self._provider)

    @writes
    def _delete_runs(self, connection: Connection, deleted: Sequence[Run], *, force: bool) -> Sequence[Leftover]:
        """Delete runs, but not yet their files."""
        for run in deleted:
            current = deletable(connection, run.id, force=force)
            if not current.is_final:
                close(connection, current)
        return sweep.forget(connection, deleted)

    def stop(self, run_id: int, *, kill: bool = False) -> Run:
        """End a run whose runner is gone at once, and with `kill` its remaining commands, too."""
        with self._database.write() as connection:
            run = parent_of(connection, run_id)
            if run.is_final:
                raise Conflict(f"Run {run.id} has ended already: it is {run.word}.")
            runs.ask_stop(connection, run.id, "kill" if kill else "graceful")
            runner_is_gone = not is_alive(connection, run)
            if runner_is_gone and not kill:
                close(connection, run)
        if runner_is_gone and kill:
            self._kill(run)
        return self.get(run.id)

    def stop_cluster(self, cluster_id: int, *, kill: bool = False) -> Run:
        with self._database.read() as connection:
            lookup.cluster(connection, cluster_id)
            run = runs.unfinished(connection, cluster_id)
        if run is None:
            raise Conflict(f"Nothing to stop - deployment is not running on environment '{cluster_id}'.")
        return self.stop(run.id, kill=kill)

    def _kill(self, run: Run) -> None:
        """Kill the commands of a run without a runner, and then end the run.

        If the run has been resumed meanwhile, its new runner ends it, because of the stored request to stop.
        """
        killed = end_commands(self._database, run, self._provider)
        with self._database.write() as connection:
            current = existing(connection, run.id)
            if not current.is_final and not is_alive(connection, current):
                close(connection, current, killed)

    def resume(self, run_id: int, *, rerun_interrupted: bool = False) -> Run:
        with self._database.read() as connection:
            run = parent_of(connection, run_id)
            require_resumable(connection, run)
            children = [child for child in runs.children(connection, run.id) if not child.is_final]
            interrupted = (history.running_names(connection, child.id, Reason.INTERRUPTED) for child in children)
            undecided = [name for names in interrupted for name in names.values()]
            begun = next((child for child in children if child.digest), None)
            fetched = inputs.stored_with_current_graphs(connection, begun) if begun else None
            present = nodes.every(connection, cluster_id=run.cluster_id)
        if undecided and not rerun_interrupted:
            raise Conflict(
                f"How these ended is not known, because their processes or the machine were killed: "
                f"{', '.join(undecided)}.",
                hint=f"Look at their nodes; then run `fuel2 task resume {run.id} --rerun-interrupted`, or stop it.",
            )
        if begun and fetched:
            require_same_plan(begun, plans.plan(fetched, begun.request, begun.graph_type), present)
        with self._database.write() as connection:
            require_resumable(connection, existing(connection, run.id))
            _mark_running(connection, run, "resumed")
        self._start(self._database.path, run.id, rerun_interrupted, None)
        return self.get(run.id)

    def logs(self, run_id: int, task: str, node: str) -> Logs:
        _, rows = self._history(run_id, HistoryFilter(nodes=(node,), tasks=(task,)))
        if not (begun := [row for row in rows if row.attempts]):
            raise NotFound("log", f"of {task}/{node} in run {run_id}", hint=self._why_no_log(run_id, task, rows))
        row = begun[-1]
        with self._database.read() as connection:
            parent = parent_of(connection, row.run_id)
            child = existing(connection, row.run_id)
            fetched = inputs.stored_without_graphs(connection, child)
            present = (*fetched.environment.nodes, *nodes.every(connection, cluster_id=child.cluster_id))
            jobs = jobs_for(connection, self._database.path, child.id, child.request, fetched, present)
            # the tasks that a run stores are masked, so secrets in parameters are read from the current graphs
            own_secrets = redact.secrets_of(graphs.parameters_of(connection, task))
        if isinstance(row.node, int) and row.node not in jobs.nodes:
            raise NotFound("log", f"of {task}/{node} in run {run_id}", hint="Its node is gone.")
        job = remembered_job(row, child, jobs, plans.evaluation_of(fetched))
        executor = self._provider(self._database.path, parent)
        secrets = (job.known_secrets() | own_secrets) - {redact.MASK}

        def masked_output(stream: str) -> str:
            """Read an output and mask its secrets, because the file contains them unmasked."""
            left_out, text = output_of(executor, job, stream)
            head = f"[The first {left_out} bytes are left out.]\n" if left_out else ""
            is_running = row.status is InstanceStatus.RUNNING
            return head + redact.masked_part(text, secrets, head=left_out > 0, tail=is_running)

        return Logs(row.task, row.node, masked_output("out"), masked_output("err"), row.return_code)

    def _why_no_log(self, run_id: int, task: str, rows: Sequence[HistoryRow]) -> str:
        """Explain why an instance has no output; `rows` are its rows in the history."""
        if rows:
            return "The instance never began."
        tasks = {row.task: None for row in self.history(run_id)}
        if task in tasks:
            return f"The run has no {task} on that node."
        return f"The run has no task {task}. {did_you_mean(task, tasks, '')}".rstrip()

    def _plan(self, request: RunRequest, graph_type: str) -> Prepared:
        with self._database.read() as connection:
            fetched = inputs.read(connection, request, graph_type)
        return Prepared(fetched, plans.plan(fetched, request, graph_type, self.checker(request, fetched)))


def require_resumable(connection: Connection, run: Run) -> None:
    if run.is_final:
        rest = rest_of(replace(run, children=tuple(runs.children(connection, run.id))))
        raise Conflict(
            f"Run {run.id} has ended: it is {run.word}.", hint=f"Execute what it left: {rest}." if rest else ""
        )
    if is_alive(connection, run):
        raise Conflict(f"Run {run.id} is running already.", hint=f"Follow it: `fuel2 task watch {run.id}`.")


def deletable(connection: Connection, run_id: int, *, force: bool) -> Run:
    """Read a run that may be deleted.

    Raise `Conflict` for a part of another run, for a live run, and without `force` for a run that has not ended.
    """
    run = parent_of(connection, run_id)
    if run_id != run.id:
        raise Conflict(f"Run {run_id} is a part of run {run.id}.", hint=f"Delete {run.id} as a whole.")
    if not run.is_final:
        if is_alive(connection, run):
            raise Conflict(f"Run {run.id} is running.", hint=f"Run `fuel2 task stop {run.id}` first.")
        if not force:
            raise Conflict(
                f"Run {run.id} has not ended: its runner is gone.",
                hint=f"Run `fuel2 task resume {run.id}`, or delete it with --force.",
            )
    return run


def _new(request: RunRequest, name: str) -> Run:
    return Run(0, str(uuid.uuid4()), request.cluster_id, name, RunStatus.RUNNING, request, time_start=processes.now())


def _insert(connection: Connection, request: RunRequest) -> tuple[Run, list[Run]]:
    """Store a new run of a request, and its children. Raise `Conflict` if the environment has an unfinished run."""
    require_free(connection, request.cluster_id)
    parent = _new(request, PARENT)
    parent = replace(parent, id=runs.insert(connection, parent))
    children = []
    for graph_type in request.graph_types:
        child = replace(
            _new(request, CHILD),
            parent_id=parent.id, graph_type=graph_type, status=RunStatus.PENDING, time_start=None,
        )  # fmt: skip
        children.append(replace(child, id=runs.insert(connection, child)))
    return parent, children


def _mark_running(connection: Connection, parent: Run, message: str = "") -> None:
    """Store that the runner of a run is about to start, and an event that the run is running."""
    runners.put(connection, processes.this_process(parent, pid=processes.NOT_STARTED))
    history.append_event(connection, parent, EventKind.RUN, RunStatus.RUNNING, processes.now(), message)


def _require_no_original(connection: Connection, request: RunRequest) -> None:
    """Raise `Conflict` if a run on a copy would reach the machine of a copied node without `on_originals`."""
    if request.dry_run or request.on_originals or request.master_only:
        return
    copied = facts.copied_nodes(connection, request.cluster_id)
    for node in nodes.every(connection, cluster_id=request.cluster_id):
        if str(node.id) not in copied or (request.node_ids and node.id not in request.node_ids):
            continue
        kind = target_of(node, request.executor, noop=request.noop).kind
        if registry.class_of(kind).runs:
            raise Conflict(
                f"Environment {request.cluster_id} is a copy. With executor {kind}, the run would reach machines of "
                f"its original, such as node {node.id} ({node.name}).",
                hint="Use --executor noop, or add --on-originals if it is meant for these machines.",
            )


def _dry_run_message(plan: Plan) -> str:
    running = sum(kind is InstanceKind.REAL for kind in plan.work.kinds)
    what = "1 task instance" if running == 1 else f"{running} task instances"
    return f"Dry run: {what} would run, {plan.work.size - running} would be skipped. Nothing was run."


_WITHOUT_PROGRAMS = frozenset({TaskType.MASTER_SHELL, TaskType.STAGE, TaskType.SKIPPED, TaskType.NOOP, *COMMANDED})
"""The types of tasks that run no command on their node."""


def _programs_by_node(plans: Iterable[Plan]) -> Mapping[int, Collection[str]]:
    programs_by_node: dict[int, set[str]] = {}
    for plan in plans:
        for vertex, rendered in plan.rendered.items():
            task, node = plan.at(vertex)
            if isinstance(node, int) and task.task.type not in _WITHOUT_PROGRAMS:
                programs_by_node.setdefault(node, set()).update(programs_of(task.task.type, rendered["parameters"]))
    return programs_by_node


def _examine(
    executor: MachineExecutor, examined: Sequence[tuple[Node, Target]], programs_by_node: Mapping[int, Collection[str]]
) -> Mapping[int, Sequence[Diagnosis]]:
    """Examine nodes, and return their problems by node id. Nodes with the same target are examined once."""
    machines: dict[Target, set[str]] = {}
    for node, target in examined:
        machines.setdefault(target, set()).update(programs_by_node.get(node.id, ()))
    problems = asyncio.run(executor.examine(machines)) if machines else {}
    return {
        node.id: [replace(one, area=AREA, name=f"{node.id} ({node.name})") for one in problems[target]]
        for node, target in examined
    }


def _ready_text(kind: str) -> str:
    text = "tasks run there by" if registry.class_of(kind).runs else "no task runs there: its executor is"
    return f"{text} {kind}"
