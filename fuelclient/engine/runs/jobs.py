"""Create jobs for the task instances of a plan, and the executor that runs them."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any, TypeVar

from fuelclient import redact, settings
from fuelclient.engine.reading.unpacked_packages import Trees
from fuelclient.engine.runs.paths import nodes_path, spool_on_nodes, spool_path
from fuelclient.errors import InvalidDocument, nearest
from fuelclient.executors import registry
from fuelclient.executors.executor import MachineExecutor
from fuelclient.executors.handlers import CONFIGURED
from fuelclient.executors.handlers.commands import misplaced
from fuelclient.executors.job import LOCAL, MASTER, Executor, Job, Target
from fuelclient.executors.transport import Options
from fuelclient.model.environment import Environment
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.graph import Level, MergedTask, Owner
from fuelclient.model.node import DEFAULT_EXECUTOR, NO_EXECUTOR, Node
from fuelclient.model.plugin import SCRIPTS, Plugin
from fuelclient.model.run import HistoryRow, NodeKey, Run, RunRequest
from fuelclient.model.task import Task
from fuelclient.plan.evaluate import Evaluation
from fuelclient.plan.inputs import Inputs
from fuelclient.plan.plan import Check
from fuelclient.plugins.select import record_for
from fuelclient.store import history, plugins
from fuelclient.store.database import Connection

_Result = TypeVar("_Result")

Definer = tuple[Level, int]
"""The owner of the layer that defines a task: its level and its id."""


@dataclass(frozen=True)
class Jobs:
    """The jobs of one run.

    `taking_part` are the nodes with task instances. As long as they are unknown, the nodes of the request, or else all
    nodes, are used instead.
    """

    run: int
    request: RunRequest
    nodes: Mapping[NodeKey, Node]
    facts: DeploymentFacts
    scripts: Mapping[Definer, tuple[tuple[str, str], ...]]
    taking_part: Collection[NodeKey]
    _secrets: dict[str, frozenset[str]] = field(default_factory=dict)

    def job(
        self,
        task: MergedTask,
        node: NodeKey,
        rendered: Mapping[str, Any],
        attempt: int = 1,
        *,
        with_secrets: bool = True,
    ) -> Job:
        """Create the job for the `attempt`-th start of an instance. The secrets of a node are searched for in all of
        its facts, so a job that is never started may lack them."""
        uid, target = str(node), self.target(node)
        definer = task.origin("type").owner  # a layer that only overrides attributes brings no scripts
        return Job(
            run=self.run,
            node=uid,
            name=self.nodes[node].name if isinstance(node, int) else uid,
            task=task.id,
            type=task.task.type,
            parameters=rendered["parameters"],
            target=replace(target, scripts=self.scripts.get((definer.level, definer.id), ())),
            attempt=attempt,
            noop=self.request.noop,
            debug=self.request.trace,
            peers=self._peers,
            secrets=self._secrets_of(uid) if with_secrets else frozenset(),
        )

    def machine(self, node: NodeKey) -> Hashable:
        """Return the properties of a node that decide whether a task can run on it."""
        target = self.target(node)
        return target.kind, bool(target.ip), target.place

    def target(self, node: NodeKey) -> Target:
        return self._peers[str(node)] if isinstance(node, int) else self._peers[MASTER]

    @cached_property
    def _kinds(self) -> set[str]:
        kind = self.request.executor
        taking_part = [uid for uid in self.taking_part if uid in self.nodes] or self.request.node_ids
        nodes = [node for uid, node in self.nodes.items() if not taking_part or uid in taking_part]
        return {kind} if kind else {node.executor or DEFAULT_EXECUTOR for node in nodes}

    @cached_property
    def _master(self) -> Target:
        """The target of the master: by default this machine. If all nodes have one kind of executor that also runs the
        master's tasks, it is of that kind. If nothing runs on any node, nothing runs on the master either."""
        if self._kinds and not any(registry.class_of(kind).runs for kind in self._kinds):
            return Target(NO_EXECUTOR)
        kind, *others = self._kinds or [LOCAL]
        return Target(kind) if registry.class_of(kind).stands_for_master and not others else Target()

    @cached_property
    def _peers(self) -> Mapping[str, Target]:
        kind, noop = self.request.executor, self.request.noop
        of_nodes = {str(node.id): target_of(node, kind, noop=noop) for node in self.nodes.values()}
        return {MASTER: self._master, **of_nodes}

    def _secrets_of(self, uid: str) -> frozenset[str]:
        """Collect the secrets of the environment and of a node, which its commands may print."""
        if uid not in self._secrets:
            own = redact.secrets_of(self.facts.nodes.get(uid, {}))
            self._secrets[uid] = (self._common | own) if own else self._common
        return self._secrets[uid]

    @cached_property
    def _common(self) -> frozenset[str]:
        return redact.secrets_of(self.facts.common)


def target_of(node: Node, executor: str = "", *, noop: bool = False) -> Target:
    """Return the target of a node. Its kind is the executor of the request, else of the node, else the default.

    In a noop run, a node without the address that its executor needs gets the executor that runs nothing.
    """
    kind = executor or node.executor or DEFAULT_EXECUTOR
    connector = registry.class_of(kind)
    if noop and connector.needs_address and not node.ip:
        return Target(NO_EXECUTOR)
    return Target(kind, node.ip, connector.place(node))


def remembered_job(row: HistoryRow, child: Run, jobs: Jobs, evaluation: Evaluation) -> Job:
    """Create the job of a row from the task as stored with the run, since the graph may have been changed.

    Passwords in a stored task are masked. The job is only used to find its commands, which do not depend on them.
    """
    task = MergedTask(Task(row.task, row.definition), Owner(Level.CLUSTER, child.cluster_id))
    return jobs.job(task, row.node, evaluation.rendered(task.task, row.node), row.attempts)


def plugin_scripts(
    environment: Environment, source: Plugin | None, trees: Trees
) -> dict[Definer, tuple[tuple[str, str], ...]]:
    """Find the script directories of packages by definer: pairs of the path here and the path on a node.

    `source` is the plugin that defines the release, if any: the release's tasks use its scripts. A record of `releases`
    may name its own directory, and so may a release.
    """
    scripts: dict[Definer, tuple[tuple[str, str], ...]] = {}
    release = environment.release
    owners = [
        ((Level.PLUGIN, plugin.id), plugin, record_for(plugin.metadata.get("releases"), release))
        for plugin in environment.plugins
    ]
    if source is not None:
        owners.append(((Level.RELEASE, release.id), source, release.metadata))
    for owner, plugin, own in owners:
        if not trees.has(plugin.unpacked):
            continue
        folder = own.get(SCRIPTS, plugin.metadata.get(SCRIPTS))
        scripts_path = trees.path(plugin.unpacked) / (folder if isinstance(folder, str) else "deployment_scripts")
        if scripts_path.is_dir():
            scripts[owner] = ((str(scripts_path), plugin.scripts),)
    return scripts


def jobs_for(
    connection: Connection, engine: str, run_id: int, request: RunRequest, inputs: Inputs, present: Iterable[Node]
) -> Jobs:
    """Create the jobs of a run on the nodes `present`. If several have the same id, the last one is used."""
    source = plugins.defining(connection, inputs.environment.release.id)
    scripts = plugin_scripts(inputs.environment, source, Trees(engine))
    by_id: dict[NodeKey, Node] = {node.id: node for node in present}
    return Jobs(run_id, request, by_id, inputs.facts, scripts, history.nodes_of(connection, run_id))


def checker(jobs: Jobs, executor: Executor) -> Check:
    """Make a function that returns the reason why the executor cannot run an instance, or an empty string. It checks
    instances with the same task, parameters and kind of target once."""
    known: dict[Hashable, tuple[str, Mapping[str, Any]]] = {}
    machine = cache(jobs.machine)

    def check(task: MergedTask, node: NodeKey, rendered: Mapping[str, Any]) -> str:
        key = (task.id, id(rendered), machine(node))
        if key not in known:
            why = executor.check(jobs.job(task, node, rendered, with_secrets=False))
            if why:
                why = redact.scrubbed(why, jobs.job(task, node, rendered).known_secrets())
            known[key] = why, rendered  # keep `rendered` alive, so that its id stays unique
        return known[key][0]

    return check


_COMMANDS = "HANDLER_COMMANDS"

_PIECE_BYTES, _KEPT_PIECES, _MAX_READ_PIECES = 4 << 20, 6, 4096
"""How many bytes of an output are read at a time, how many such pieces are kept, and how many are read at most."""

Provider = Callable[[str, Run], MachineExecutor]
"""Creates the executor of a run of an engine file."""


def executor_for(engine: str, parent: Run) -> MachineExecutor:
    spool, on_nodes, directories = str(spool_path(engine, parent)), spool_on_nodes(parent), str(nodes_path(engine))
    kept = settings.load().output_megabytes
    return MachineExecutor(Options(spool, on_nodes, handler_commands(), directories, output_megabytes=kept))


def handler_commands() -> Mapping[str, str]:
    """Return the handler commands of the settings, by task type.

    Raise `InvalidDocument` for a task type that cannot have a command, for an empty command, and for a command with a
    placeholder that bash would not read as one word.
    """
    loaded = settings.load()
    origin = loaded[_COMMANDS].origin
    for task_type, command in loaded.handler_commands.items():
        if task_type not in CONFIGURED:
            likely = nearest(task_type, CONFIGURED)
            text = f"{origin}: {_COMMANDS} has a command for {task_type!r}, which is not a task type that can have one"
            text += f", the nearest is {likely}." if likely else "."
            raise InvalidDocument(text, hint=f"Use {', '.join(sorted(CONFIGURED))}.")
        if not command.strip():
            raise InvalidDocument(f"{origin}: the command for {task_type} is empty.", hint="Write a command of bash.")
        if problem := misplaced(command):
            raise InvalidDocument(
                f"{origin}: the command for {task_type} cannot be used: {problem}, where its value could be a command.",
                hint="Placeholders are quoted as words: put them between words, or pass them to a script.",
            )
    return loaded.handler_commands


def output_of(executor: Executor, job: Job, stream: str) -> tuple[int, str]:
    """Return how many bytes of `out` or `err` are left out, and the text after them: the end of a very long output,
    where failures are. Close the executor. Call it outside of an event loop."""
    end = deque[bytes](maxlen=_KEPT_PIECES)

    async def size_of() -> int:
        size = 0
        for _ in range(_MAX_READ_PIECES):  # a command that still runs may write faster than this reads
            end.append(await executor.read(job, stream, size, _PIECE_BYTES))
            size += len(end[-1])
            if len(end[-1]) < _PIECE_BYTES:
                break
        return size

    (size,) = run_and_close(executor, size_of())
    return size - sum(map(len, end)), b"".join(end).decode("utf-8", "replace")


def run_and_close(executor: Executor, *works: Awaitable[_Result]) -> list[_Result]:
    """Await all `works` concurrently, and then close the executor. Call it outside of an event loop."""

    async def gathered() -> list[_Result]:
        try:
            return await asyncio.gather(*works)
        finally:
            await executor.close()

    return asyncio.run(gathered())
