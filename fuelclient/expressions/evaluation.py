"""What expressions give for the tasks of a plan: conditions, computed dependencies, parameters and node filters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from fuelclient.errors import InvalidGraph
from fuelclient.expressions import yaql_engine
from fuelclient.expressions.conditions import YAQL, condition_of, yaql_of
from fuelclient.expressions.facts import NO_PAST, Facts, Past, Views
from fuelclient.expressions.render import Master, computed_relations, render
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.run import NodeKey
from fuelclient.model.task import Relation, Task


class Expressions:
    """What expressions give on the facts of a run; see `plan.plan.Evaluation`. Without `memoise` each is evaluated
    for each node: what remembering saves can be measured."""

    def __init__(self, facts: DeploymentFacts, past: Past = NO_PAST, *, memoise: bool = True) -> None:
        self._views = Views(Facts(facts.common, facts.nodes), past, memoise=memoise)
        self._master = Master()

    @property
    def chosen(self) -> Callable[[Any, Sequence[Mapping[str, Any]]], Sequence[Any]]:
        return _chosen

    def condition(self, task: Task, node: NodeKey) -> tuple[bool, str]:
        found = condition_of(task, self._views.at(task.id, node))
        return found.holds, found.reason

    def relations(self, task: Task, node: NodeKey) -> Iterable[tuple[str, Relation]]:
        return computed_relations(task, self._views.at(task.id, node), self._master)

    def rendered(self, task: Task, node: NodeKey) -> Mapping[str, Any]:
        return render(task.attributes, self._views.at(task.id, node), self._master)


def _chosen(node_filter: Any, present: Sequence[Mapping[str, Any]]) -> Sequence[Any]:
    """The ids of the nodes for which a filter is true. Source: Nailgun, which asks `$.where(...).select($.id)`."""
    stated = node_filter if isinstance(node_filter, Mapping) else {YAQL: node_filter}
    if YAQL not in stated:
        raise InvalidGraph(f"A node filter is a YAQL expression, not {node_filter!r}.", hint="Write $.status = ready.")
    text = yaql_of(stated).text
    view = Views(Facts({"nodes": list(present)})).at("", None)
    found = yaql_engine.parse(f"$.nodes.where({text}).select($.id)").value(view)
    return list(found)
