"""The study of one graph of an environment: merged, placed, ordered and previewed, each on first use.

Previews, questions, selections, comparisons, plans and the terminal UI use a study, so that all of them have the same
instances, dependencies and order. A study never fails because of the graph: what cannot be merged, computed or ordered
becomes a finding. `plan.plan` raises an error instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from operator import itemgetter
from typing import cast

from fuelclient.errors import (
    FIRST_STEPS,
    CycleDetected,
    FuelError,
    InvalidDocument,
    InvalidGraph,
    NotFound,
    UnknownFact,
)
from fuelclient.graph.dag import neighbours, reverse
from fuelclient.graph.merge import merge_layers, require_merged
from fuelclient.graph.references import check_parameters, check_references, refused_patterns
from fuelclient.grouping import grouped
from fuelclient.model.finding import Finding, Severity, errors_in, task_finding
from fuelclient.model.graph import Layer, Level, MergedGraph, MergedTask
from fuelclient.model.snapshot import Snapshot
from fuelclient.model.task import Relation, TaskType
from fuelclient.plan.dropped import Dropped, dropped_findings, unordered_findings
from fuelclient.plan.evaluate import Evaluation, Failed, evaluate
from fuelclient.plan.expand import Expansion, expand
from fuelclient.plan.fleet import MASTER, Fleet, fleet_of
from fuelclient.plan.order import Ordered, explained, ordered_despite_cycles
from fuelclient.plan.place import placement_findings
from fuelclient.plan.preview import ALL_NODES, Preview, PreviewOptions, PreviewRow, rows_of
from fuelclient.printing import ids_text

_MAX_ALIKE = 2
"""This many nodes with the same roles are enough to find every cycle: a cycle lies within one node, or between two."""

RUN, SKIP, UNKNOWN = "run", "skip", "unknown"

Facts = Callable[[], Evaluation | None]
"""Returns the evaluation of expressions on the facts of the nodes, or None if there are no facts."""


def no_facts() -> None:
    """The `Facts` of a study without facts."""


@dataclass(frozen=True, slots=True)
class TaskKey:
    """Identifies a task in every study of its graph: by its id, and by its layer if several tasks share the id."""

    id: str
    layer: str = ""


class Study:
    """One graph of one environment, on its nodes or on assumed ones.

    `facts` is called if dependencies are expressions and, with `conditions`, if tasks have conditions: rows then have
    verdicts, and conditions that cannot be computed become findings. `fleet` chooses the nodes instead of the options.
    With `alone`, the layers are studied without those below them: tasks that only override others are left out of the
    order, because it is unknown where they run. With `despite_cycles`, all tasks are ordered, but those of a cycle have
    no order among themselves.

    The first attribute that needs the nodes raises the errors of `plan.fleet.fleet_of`.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        options: PreviewOptions = ALL_NODES,
        facts: Facts = no_facts,
        *,
        conditions: bool = False,
        fleet: Callable[[MergedGraph], Fleet] | None = None,
        alone: bool = False,
        despite_cycles: bool = False,
    ) -> None:
        self.snapshot, self.options = snapshot, options
        self._facts, self._conditions = facts, conditions
        self._fleet_of = fleet or (lambda _: fleet_of(snapshot, node_ids=options.node_ids, assume=options.assume))
        self._alone, self._despite_cycles = alone, despite_cycles
        self.unknown: dict[tuple[int, int], tuple[str, str]] = {}
        """By task and node, the attribute whose dependencies read an unknown fact, and its path."""
        self.failed: Failed = {}
        """The dependencies that cannot be computed."""

    @cached_property
    def merged(self) -> MergedGraph:
        """The merged graph. What cannot be merged is left out, and is an error among its findings."""
        return merge_layers(self.snapshot.layers, self.options.policy, keep_partial=self._alone)

    @cached_property
    def _is_computed(self) -> bool:
        return has_computed(self.merged.tasks)

    @cached_property
    def evaluation(self) -> Evaluation | None:
        return self._facts()

    @cached_property
    def expansion(self) -> Expansion:
        """The task instances with the edges between them, including dependencies that are expressions."""
        fleet = self._fleet_of(self.merged)
        tasks = [task for task in self.merged.tasks if not (self._alone and task.task.is_partial)]
        if not self._is_computed or self.evaluation is None:
            return expand(tasks, fleet)
        evaluation, attributes = self.evaluation, [tuple(task.task.computed_attributes()) for task in tasks]

        def computed(task: int, node: int) -> Iterable[tuple[str, Relation]]:
            stated, uid, found = tasks[task].task, fleet.nodes[node].uid, list[tuple[str, Relation]]()
            for attribute in attributes[task]:
                try:
                    found += [(attribute, relation) for relation in evaluation.relations(stated, attribute, uid)]
                except UnknownFact as error:
                    self.unknown[task, node] = (attribute, error.path)
                    return ()
                except InvalidDocument as error:
                    self.failed.setdefault((task, attribute), []).append((uid, error))
                    return ()
            return found

        return expand(tasks, fleet, computed=computed)

    @cached_property
    def _decided(self) -> tuple[tuple[str, ...], dict[int, FuelError]]:
        """The verdicts, and the errors of conditions by task."""
        tasks, failed, undecided = self.merged.tasks, dict[int, FuelError](), dict[tuple[int, int], str]()
        asks = self._conditions and (self._is_computed or any(task.task.condition is not None for task in tasks))
        evaluation, expansion = self.evaluation if asks else None, self.expansion
        if evaluation is None:
            return (), failed

        def holds(task: int, node: int) -> bool:
            try:
                return evaluation.condition(tasks[task].task, expansion.fleet.nodes[node].uid)[0]
            except UnknownFact as error:
                undecided[task, node] = f"{UNKNOWN}: {error.path}"
            except InvalidDocument as error:
                failed.setdefault(task, error)
                undecided[task, node] = UNKNOWN
            return True

        verdicts = []
        for vertex, reason in enumerate(evaluate(expansion, holds)):
            skips = reason and expansion.task(vertex).task.type != TaskType.STAGE
            verdicts.append(undecided.get(expansion.instance(vertex), SKIP if skips else RUN))
        return tuple(verdicts), failed

    @property
    def verdicts(self) -> tuple[str, ...]:
        """By instance: `run`, `skip`, or `unknown: ` and the path of a fact. Empty if nothing depends on facts."""
        return self._decided[0]

    @property
    def _left_out(self) -> Sequence[int]:
        """The merged tasks whose computed dependencies, if they have any, are left out (G033)."""
        if self._alone:
            return ()
        tasks = self.expansion.tasks  # made first, because that finds the unknown facts
        has_no_facts = self._is_computed and self.evaluation is None
        return range(len(tasks)) if has_no_facts else sorted({task for task, _ in self.unknown})

    @property
    def left_out(self) -> set[str]:
        """The ids of the tasks whose computed dependencies are left out, as their facts are not available."""
        left_out = (self.merged.tasks[index] for index in self._left_out)
        return {task.id for task in left_out if any(task.task.computed_attributes())}

    @cached_property
    def _graph_findings(self) -> tuple[Finding, ...]:
        return self.merged.findings if self._alone else tuple(self._found_in_graph())

    def _found_in_graph(self, *, only_errors: bool = False) -> Iterator[Finding]:
        """Yield the findings that do not depend on the order; with `only_errors` all errors, and few others."""
        expansion, tasks, conditions = self.expansion, self.merged.tasks, self._decided[1]
        yield from graph_findings(self.snapshot, self.merged, expansion, only_errors=only_errors)
        # `graph_findings` lacks these: a run checks the parameters of the instances that it starts.
        for task, nodes in zip(tasks, expansion.placement.nodes, strict=True):
            yield from check_parameters(task, runs=bool(nodes), filled=self.snapshot.fills_parameters)
        failed = {(index, "condition"): error for index, error in conditions.items()}
        failed |= {key: errors[0][1] for key, errors in self.failed.items()}
        for (index, attribute), error in sorted(failed.items(), key=itemgetter(0)):
            what = "its condition" if attribute == "condition" else f"a dependency in {attribute}"
            problem = f"{what} cannot be computed: {error.message}"
            yield task_finding(Severity.ERROR, "G034", tasks[index], attribute, problem, error.hint)
        node_filter = self.merged.metadata.get("node_filter")
        if node_filter and not self.options.node_ids:
            message = "a run covers only the nodes that the graph's node filter lets through; this shows all nodes"
            hint = "`graph simulate` and dry runs obey the filter; --node names the nodes to show, or to run on."
            yield Finding(Severity.INFO, "G067", f"{message}: {node_filter}", hint=hint)
        for index in self._left_out:
            for attribute in tasks[index].task.computed_attributes():
                problem = f"{attribute} is computed from facts that are not available, so its dependencies are left out"
                yield task_finding(Severity.INFO, "G033", tasks[index], attribute, problem)

    @cached_property
    def _ordered(self) -> tuple[Ordered | None, CycleDetected | None, tuple[tuple[int, ...], ...]]:
        """The order or None, the error for cycles or None, and the merged tasks of each cycle."""
        expansion = self.expansion
        order, cycles = ordered_despite_cycles(expansion)
        if not cycles:
            return order, None, ()
        tasks = tuple(tuple(dict.fromkeys(expansion.task_of[vertex] for vertex in cycle)) for cycle in cycles)
        error = explained(self.snapshot, expansion, cycles)
        return (order, error, tasks) if self._despite_cycles else (None, error, ())

    @property
    def ordered(self) -> Ordered:
        """The order of the instances. Raise `CycleDetected` for a graph with a cycle."""
        order, error, _ = self._ordered
        if order is None:
            raise cast("CycleDetected", error)
        return order

    @property
    def cycle_findings(self) -> tuple[Finding, ...]:
        """The cycles (G050) of the graph, as errors."""
        error = self._ordered[1]
        return () if error is None else tuple(each for each in error.findings if isinstance(each, Finding))

    @property
    def cycles(self) -> tuple[tuple[int, ...], ...]:
        """With `despite_cycles`: the merged tasks of a shortest cycle for each set of tasks that wait for one
        another."""
        return () if errors_in(self.merged.findings) else self._ordered[2]

    @cached_property
    def problem(self) -> str:
        """Why the graph cannot be merged or completely ordered; empty if it can."""
        try:
            require_merged(self.snapshot, self.merged)
        except InvalidGraph as error:
            return error.message
        unordered = self._ordered[1]
        return "" if unordered is None else unordered.message

    @cached_property
    def _preceding(self) -> list[set[int]]:
        return self.expansion.preceding_tasks()

    @cached_property
    def _order_findings(self) -> tuple[Finding, ...]:
        """The findings about the order: cycles, and dependencies that have no effect."""
        if (order := self._ordered[0]) is None:
            return self.cycle_findings
        lost = dropped_findings(self._dropped, order, self._preceding)
        return (*self.cycle_findings, *lost, *unordered_findings(self.expansion, self._preceding))

    @cached_property
    def _dropped(self) -> Dropped:
        return Dropped(self.expansion)

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The errors among the findings, without a search for the others."""
        found = self.merged.findings if self._alone else self._found_in_graph(only_errors=True)
        return (*errors_in(found), *self.cycle_findings)

    @property
    def findings(self) -> tuple[Finding, ...]:
        return (*self._graph_findings, *self._order_findings)

    def preview(self, more: Iterable[Finding] = ()) -> Preview:
        """The preview, with `more` findings. Raise `CycleDetected` for a graph without order."""
        expansion, order, found = self.expansion, self.ordered, (*self._graph_findings, *more, *self._order_findings)
        uids = [expansion.fleet.nodes[node].uid for node in expansion.node_of]
        return Preview(
            rows=self._rows(found),
            findings=found,
            instances=expansion.size,
            sync_points=uids.count(None),
            on_master=uids.count(MASTER),
            nodes=expansion.fleet.size,
            generations=order.generations,
            assumption=expansion.fleet.assumption,
            computed=len(self.left_out),
        )

    def _rows(self, findings: Iterable[Finding] = ()) -> tuple[PreviewRow, ...]:
        return tuple(rows_of(self.expansion, self.ordered, self._preceding, self._dropped, findings, self.verdicts))

    @cached_property
    def rows(self) -> tuple[PreviewRow, ...]:
        """The merged tasks in execution order, without findings (see `findings_of`); empty if the graph has a
        `problem`, except with `despite_cycles`."""
        return () if self.problem and not self.cycles else self._rows()

    @cached_property
    def _findings_by_task(self) -> dict[str, list[Finding]]:
        return grouped((finding.task, finding) for finding in self.findings)

    def findings_of(self, row: int) -> Sequence[Finding]:
        """The findings about the task in a row."""
        return self._findings_by_task.get(self.rows[row].task, ())

    @cached_property
    def indices(self) -> tuple[int, ...]:
        # Variants share an id, so their layer distinguishes them.
        index_of = {(task.id, task.owner.label): index for index, task in reversed(list(enumerate(self.merged.tasks)))}
        return tuple(index_of[row.task, row.layer] for row in self.rows)

    @cached_property
    def row_of(self) -> dict[int, int]:
        return {index: row for row, index in enumerate(self.indices)}

    @cached_property
    def before(self) -> tuple[frozenset[int], ...]:
        """By merged task, the tasks whose instances directly precede its own."""
        return tuple(frozenset(tasks - {index}) for index, tasks in enumerate(self._preceding))

    @cached_property
    def after(self) -> tuple[frozenset[int], ...]:
        """By merged task, the tasks whose instances directly follow its own."""
        return tuple(map(frozenset, reverse(self.before)))

    @cached_property
    def generation(self) -> Sequence[int]:
        """The rank of each instance; empty without `rows`."""
        return self.ordered.generation if self.rows else ()

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The instances in execution order; empty without `rows`."""
        return tuple(sorted(range(len(self.generation)), key=self.generation.__getitem__))

    @cached_property
    def _backward(self) -> list[list[int]]:
        return self.expansion.predecessors

    def held_by(self, vertex: int) -> int | None:
        """The direct predecessor on a longest path to an instance, or None: the first of those in the generation before
        it."""
        direct, below = neighbours(self._backward, vertex, self.expansion.size), self.generation[vertex] - 1
        return min((other for other in direct if self.generation[other] == below), default=None)

    def task(self, row: int) -> MergedTask:
        return self.merged.tasks[self.indices[row]]

    def row_named(self, task: str) -> int | None:
        """The first row, in execution order, of a task with that id, or None."""
        return next((number for number, row in enumerate(self.rows) if row.task == task), None)

    def key(self, row: int) -> TaskKey:
        """The key of the task in a row, which is valid in later studies too."""
        return TaskKey(self.rows[row].task, self.rows[row].layer)

    def row_with(self, key: TaskKey) -> int | None:
        """The row of a task, or None if the graph no longer has it.

        Prefer the same id and layer, but accept the id alone, since a layer above may have redefined the task.
        """
        exact = (number for number, row in enumerate(self.rows) if (row.task, row.layer) == (key.id, key.layer))
        return next(exact, self.row_named(key.id))


def graph_findings(
    snapshot: Snapshot, merged: MergedGraph, expansion: Expansion, *, only_errors: bool = False
) -> Iterator[Finding]:
    """Yield the findings about a graph that do not depend on its order, for a preview or a run. With `only_errors`,
    those checks are left out that only find others."""
    yield from merged.findings
    if snapshot.unique_tasks:
        yield from _defined_by_several(snapshot)
    if only_errors:
        yield from chain.from_iterable(map(refused_patterns, merged.tasks))
    else:
        yield from check_references(merged)
    yield from expansion.placement.findings
    if not only_errors:
        yield from placement_findings(merged.tasks, expansion.placement, snapshot, expansion.fleet)
    if not expansion.fleet.assumption:
        yield from snapshot.findings
    if expansion.fleet.absent:
        nodes = ids_text(expansion.fleet.absent)
        yield Finding(Severity.WARNING, "G045", f"offline nodes are skipped, and no task waits for them: {nodes}")


def _defined_by_several(snapshot: Snapshot) -> Iterator[Finding]:
    """Yield a finding for each task that several plugins define, which keeps a Fuel master from merging the graph."""
    first: dict[str, Layer] = {}
    for layer in snapshot.layers:
        for task in layer.tasks if layer.owner.level is Level.PLUGIN else ():
            if (other := first.setdefault(task.id, layer)) is not layer:
                problem = (
                    f"{other.owner.label} and {layer.owner.label} both define it, and a Fuel master cannot merge the "
                    "graph while two enabled plugins define the same task"
                )
                yield task_finding(Severity.ERROR, "G049", task, "", problem, "Disable one of the two plugins.")


def preview(snapshot: Snapshot, options: PreviewOptions, evaluation: Evaluation | None = None) -> Preview:
    """Merge, place and order one environment's graph, with dependencies and conditions on the facts of `evaluation`.

    Tasks that cannot be merged are left out, and reported as errors among the findings. Raise `UsageError` for an
    `assume` that cannot be read, `NotFound` for an unknown role or node in it, and `CycleDetected` for a graph that
    cannot be ordered.
    """
    return Study(snapshot, options, lambda: evaluation, conditions=True).preview()


def cycles_of(snapshot: Snapshot, facts: Facts = no_facts) -> tuple[Finding, ...]:
    """The cycles (G050) of an environment's graph, as errors. Of nodes with equal roles, only a few are expanded."""
    alike: Counter[tuple[object, ...]] = Counter()
    nodes = []
    for node in snapshot.nodes:
        key = (node.all_roles, node.primary_tags, node.online, node.pending_deletion)
        alike[key] += 1
        if alike[key] <= _MAX_ALIKE + bool(snapshot.primary_tags):
            nodes.append(node)
    return Study(replace(snapshot, nodes=tuple(nodes)), facts=facts).cycle_findings


def has_computed(tasks: Iterable[MergedTask]) -> bool:
    return any(True for merged in tasks for _ in merged.task.computed_attributes())


def indices_of(merged: MergedGraph, task: str) -> tuple[int, ...]:
    """The indices of the merged tasks with an id: several if plugins define variants.

    Raise `NotFound`, with the nearest id, if the graph has none.
    """
    if not (indices := tuple(index for index, candidate in enumerate(merged.tasks) if candidate.id == task)):
        hint = "" if merged.tasks else FIRST_STEPS["task"]
        if owners := [each.id for each in merged.tasks if task.startswith(f"{each.id}.")]:
            hint = f"Write an attribute as a word of its own: {owners[-1]} {task.removeprefix(f'{owners[-1]}.')}."
        raise NotFound("task", task, known=[candidate.id for candidate in merged.tasks], hint=hint)
    return indices
