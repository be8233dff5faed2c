"""Evaluate the expressions of a plan: dependencies, conditions and parameters of its task instances. Expressions that
read unknown facts stay undecided.

A skipped instance keeps its position in the order: it does nothing, and instances that wait for it run.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol

from fuelclient.errors import FuelError, InvalidDocument, InvalidGraph, UnknownFact
from fuelclient.model.finding import Finding, Severity, finding_at
from fuelclient.model.graph import MergedTask
from fuelclient.model.run import NodeKey
from fuelclient.model.status import Reason
from fuelclient.model.task import Relation, Task, TaskType
from fuelclient.plan.expand import Expansion
from fuelclient.plan.select import Filter
from fuelclient.plan.work import PASSIVE

Holds = Callable[[int, int], bool]
"""Whether the condition of a merged task holds on a node of the fleet, both by index. It may raise `FuelError`."""


class Evaluation(Protocol):
    """The values of expressions, for tasks on nodes. Each method may raise `FuelError`."""

    def condition(self, task: Task, node: NodeKey) -> tuple[bool, str]:
        """Whether the task's condition holds, and the text of the condition."""

    def relations(self, task: Task, attribute: str, node: NodeKey) -> Iterable[Relation]:
        """The dependencies that expressions in an attribute of the task compute."""

    def rendered(self, task: Task, node: NodeKey) -> Mapping[str, Any]:
        """The `parameters` and `fail_on_error` of the task. Equal values may be one object."""

    @property
    def chosen(self) -> Filter:
        """The function that evaluates node filters."""


Failed = dict[tuple[int, str], list[tuple[NodeKey, FuelError]]]
"""By merged task and attribute, the nodes on which its expressions fail, each with the error."""


def require_computed(tasks: Sequence[MergedTask], failed: Failed, what: str = "dependencies") -> None:
    """Raise `InvalidGraph` if expressions of `what` failed, with one finding (G034) for each attribute of a task."""
    if not failed:
        return
    findings = [
        _about_instances(
            "G034", tasks[task], attribute, [node for node, _ in errors], errors[0][1].message, errors[0][1].hint
        )
        for (task, attribute), errors in sorted(failed.items())
    ]
    hint = "If the facts of a Fuel master are missing, upload them: `fuel2 env deployment-facts upload`."
    # An error with a position is in the text of an expression, not in a value that it reads.
    if all(getattr(error, "position", None) is not None for errors in failed.values() for _, error in errors):
        hint = "Correct the expressions; no facts would make them readable."
    number = len({task for task, _ in failed})
    which = f"{number} tasks" if number > 1 else "one task"
    message = f"The {what} of {which} cannot be computed from the facts of this environment."
    raise InvalidGraph(message, findings=findings, hint=hint)


def evaluate(
    expansion: Expansion, holds: Holds, only: Collection[str] | None = None, inside: Collection[int] | None = None
) -> list[Reason | None]:
    """The reason why each instance is skipped, the first one that applies; None if it runs.

    A run may be limited to the task ids `only` and to the instances `inside`; None means all. Stages are never
    filtered. Conditions are evaluated node by node, so that evaluators can cache, and only where they matter.
    Raise `InvalidGraph` with one finding (G034) for each task whose condition fails.
    """
    types = [task.task.type for task in expansion.tasks]
    reasons: list[Reason | None] = [None] * expansion.size
    failed: Failed = {}
    for vertex in expansion.by_node:
        task, node = expansion.instance(vertex)
        if types[task] in (TaskType.STAGE, TaskType.SKIPPED):
            reasons[vertex] = Reason.TYPE
        elif only is not None and expansion.tasks[task].id not in only:
            reasons[vertex] = Reason.FILTERED
        elif inside is not None and vertex not in inside:
            reasons[vertex] = Reason.SUBGRAPH
        else:
            try:
                reasons[vertex] = None if holds(task, node) else Reason.CONDITION
            except InvalidDocument as error:
                failed.setdefault((task, "condition"), []).append((expansion.uid(vertex), error))
    require_computed(expansion.tasks, failed, "condition")
    return reasons


def _about_instances(
    code: str, task: MergedTask, what: str, nodes: Sequence[NodeKey], problem: str, hint: str
) -> Finding:
    """One finding for a problem of a task on several nodes. It names the first node and counts the others, since an
    expression mostly fails for the same reason everywhere."""
    where = task.id if nodes[0] is None else f"{task.id}@{nodes[0]}"
    others = f" and {len(nodes) - 1} more" if len(nodes) > 1 else ""
    return finding_at(Severity.ERROR, code, task, what, f"{where}{others}: {what}: {problem}", hint)


def require_known(graph_type: str, undecided: Sequence[Finding]) -> None:
    if undecided:
        raise InvalidGraph(
            f"The {graph_type} graph depends on facts that are not known.",
            findings=undecided,
            hint="Give values with --assume-facts FILE, decide with --unknown run or --unknown skip, or upload facts.",
        )


class Decisions:
    """The values of expressions for the instances of a plan, and the expressions that read unknown facts.

    `on_unknown` is the request's decision about instances with an unknown condition: "run", "skip", or none. "skip"
    also applies to unknown parameters. `dependencies` has the unknown paths that dependencies of instances read, each
    after its attribute.
    """

    def __init__(
        self,
        expansion: Expansion,
        evaluation: Evaluation,
        on_unknown: str = "",
        dependencies: Mapping[tuple[int, int], tuple[str, str]] = MappingProxyType({}),
    ) -> None:
        self._expansion, self._evaluation, self._on_unknown = expansion, evaluation, on_unknown
        self._paths: dict[tuple[int, int], str] = {}
        self._undecided: dict[tuple[int, str], list[tuple[NodeKey, str]]] = {}
        for (task, node), (attribute, path) in dependencies.items():
            self._add(task, node, attribute, path)

    def _add(self, task: int, node: int, what: str, path: str) -> None:
        """Record an unknown path that an instance reads in an attribute (`what`)."""
        self._paths.setdefault((task, node), path)
        if self._on_unknown != "skip" or what not in ("condition", "parameters"):
            self._undecided.setdefault((task, what), []).append((self._expansion.fleet.nodes[node].uid, path))

    def findings(self) -> Iterator[Finding]:
        """Yield a finding (G036) for each attribute of a task that stays undecided."""
        for (task, what), reads in sorted(self._undecided.items()):
            nodes, hint = [node for node, _ in reads], "Upload the fact, or assume a value for it with --assume-facts."
            yield _about_instances("G036", self._expansion.tasks[task], what, nodes, f"unknown: {reads[0][1]}", hint)

    def skips(
        self, only: Collection[str], inside: Collection[int] | None = None
    ) -> tuple[dict[int, Reason], dict[int, str]]:
        """The reasons of skipped instances, and the conditions of those that a condition skips.

        An instance with an unknown condition runs, unless the request decides to skip it. Empty `only` means all tasks.
        Stages are left out: nothing skips them, and digests of plans must not change, or runs that began with an
        earlier version could not be resumed. Raise `InvalidGraph` as `evaluate` does.
        """
        expansion, conditions = self._expansion, dict[tuple[int, int], str]()

        always = [task.task.condition is None for task in expansion.tasks]

        def holds(task: int, node: int) -> bool:
            if always[task]:
                return True
            uid = expansion.fleet.nodes[node].uid
            try:
                result, conditions[task, node] = self._evaluation.condition(expansion.tasks[task].task, uid)
            except UnknownFact as error:
                if self._on_unknown != "run":
                    self._add(task, node, "condition", error.path)
                conditions[task, node] = f"its condition reads {error.path}, which is not known"
                result = self._on_unknown != "skip"
            return result

        skipped = {
            vertex: reason
            for vertex, reason in enumerate(evaluate(expansion, holds, only or None, inside))
            if reason and expansion.task(vertex).task.type != TaskType.STAGE
        }
        details = {
            vertex: conditions[expansion.instance(vertex)]
            for vertex, reason in skipped.items()
            if reason is Reason.CONDITION
        }
        skipped.update((vertex, Reason.UNKNOWN) for vertex in details if self._paths.get(expansion.instance(vertex)))
        return skipped, details

    def rendered(self, skipped: Collection[int], *, trace: bool = False) -> dict[int, Mapping[str, Any]]:
        """Render the attributes of every instance that will run, node by node.

        Instances with unknown parameters are left out. Raise `InvalidGraph` with one finding (G034) for each task
        whose parameters fail.
        """
        expansion, result = self._expansion, dict[int, Mapping[str, Any]]()
        failed: Failed = {}
        passive = [task.task.type in PASSIVE for task in expansion.tasks]
        for vertex in expansion.by_node:
            index, node = instance = expansion.instance(vertex)
            if vertex in skipped or passive[index]:
                continue
            uid = expansion.fleet.nodes[node].uid
            try:
                attributes = self._evaluation.rendered(expansion.tasks[index].task, uid)
                if trace:
                    attributes = {**attributes, "parameters": {**attributes["parameters"], "debug": True}}
                result[vertex] = attributes
            except UnknownFact as error:
                if instance not in self._paths:
                    self._add(*instance, "parameters", error.path)
            except InvalidDocument as error:
                failed.setdefault((index, "parameters"), []).append((uid, error))
        require_computed(expansion.tasks, failed, "parameters")
        return result

    def left(
        self, rendered: Mapping[int, Mapping[str, Any]], skipped: dict[int, Reason], details: dict[int, str]
    ) -> dict[int, str]:
        """The unknown path that each undecided instance reads.

        Instances with unknown parameters are added to `skipped` and `details` if the request decides to skip them.
        """
        paths: dict[int, str] = {}
        for vertex in range(self._expansion.size):
            path = self._paths.get(self._expansion.instance(vertex))
            if not path or vertex in skipped:
                continue
            if self._on_unknown == "skip" and vertex not in rendered:
                skipped[vertex] = Reason.UNKNOWN
                details[vertex] = f"its parameters read {path}, which is not known"
            else:
                paths[vertex] = path
        return paths
