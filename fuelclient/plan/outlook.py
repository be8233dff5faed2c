"""What the facts say about a preview: the dependencies that expressions state, and which tasks would be skipped.

A preview goes on whatever expressions do: what cannot be computed becomes a finding.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fuelclient.errors import FuelError, UnknownFact
from fuelclient.graph.references import place_of
from fuelclient.model.finding import Finding, Severity
from fuelclient.model.graph import MergedTask
from fuelclient.model.task import Relation, TaskType
from fuelclient.plan.evaluate import Evaluation
from fuelclient.plan.expand import Expansion, expand
from fuelclient.plan.fleet import Fleet

RUN, SKIP, UNKNOWN = "run", "skip", "unknown"


class Outlook:
    """An expansion with what the facts decide about it.

    `verdicts` has, by instance, `run`, `skip`, or `unknown: ` and the path of a fact that is not known. `unknown` are
    the tasks whose dependencies could not be computed.
    """

    def __init__(self, tasks: Sequence[MergedTask], fleet: Fleet, evaluation: Evaluation) -> None:
        self._tasks, self._fleet, self._evaluation = tasks, fleet, evaluation
        self.unknown: set[int] = set()
        self._failed: dict[int, Finding] = {}
        self.expansion = expand(tasks, fleet, computed=self._relations)
        self.verdicts = self._verdicts(self.expansion)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The conditions and dependencies that fail, whatever the facts are: one finding for each task."""
        return tuple(finding for _, finding in sorted(self._failed.items()))

    def _relations(self, task: int, node: int) -> Iterable[tuple[str, Relation]]:
        try:
            return list(self._evaluation.relations(self._tasks[task].task, self._fleet.nodes[node].uid))
        except UnknownFact:
            self.unknown.add(task)
        except FuelError as error:
            [attribute, *_] = self._tasks[task].task.computed_attributes()
            self._fail(task, attribute, f"a dependency in {attribute}", error)
        return ()

    def _verdicts(self, expansion: Expansion) -> list[str]:
        """Return the verdict of each instance. Nodes are gone through one by one, so that evaluators can cache."""
        verdicts = [RUN] * expansion.size
        for vertex in sorted(range(expansion.size), key=expansion.node_of.__getitem__):
            task = expansion.task_of[vertex]
            verdicts[vertex] = self._verdict(task, expansion.node_of[vertex])
        return verdicts

    def _verdict(self, index: int, node: int) -> str:
        task = self._tasks[index].task
        if task.type in (TaskType.STAGE, TaskType.SKIPPED):
            return RUN if task.type == TaskType.STAGE else SKIP
        try:
            holds, _ = self._evaluation.condition(task, self._fleet.nodes[node].uid)
        except UnknownFact as error:
            return f"{UNKNOWN}: {error.path}"
        except FuelError as error:
            self._fail(index, "condition", "its condition", error)
            return UNKNOWN
        return RUN if holds else SKIP

    def _fail(self, index: int, attribute: str, what: str, error: FuelError) -> None:
        merged = self._tasks[index]
        message = f"task {merged.id}: {what} cannot be computed: {error.message}"
        place = place_of(merged, attribute)
        self._failed.setdefault(index, Finding(Severity.ERROR, "G034", message, place, merged.id, error.hint))


def asks_facts(tasks: Iterable[MergedTask]) -> bool:
    """Return whether facts can decide anything about tasks."""
    return any(merged.task.condition is not None or [*merged.task.computed_attributes()] for merged in tasks)
