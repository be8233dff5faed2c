"""What a plan could not decide: conditions, dependencies and parameters that read facts which are not known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fuelclient.errors import InvalidGraph
from fuelclient.graph.references import place_of
from fuelclient.model.finding import Finding, Severity
from fuelclient.model.run import NodeKey
from fuelclient.model.status import Reason
from fuelclient.plan.expand import Expansion


def require_known(graph_type: str, undecided: Sequence[Finding]) -> None:
    """Raise `InvalidGraph` with findings about facts that are not known, if there are any."""
    if undecided:
        raise InvalidGraph(
            f"The {graph_type} graph depends on facts that are not known.",
            findings=undecided,
            hint="Give values with --assume-facts FILE, decide with --unknown run or --unknown skip, or upload facts.",
        )


class Unknowns:
    """What a plan could not decide, because expressions read facts that are not known.

    `decision` is that of the request: "run" or "skip" decides about conditions, and "skip" about parameters, too.
    `dependencies` has the paths that dependencies of instances read.
    """

    def __init__(self, expansion: Expansion, decision: str, dependencies: Mapping[tuple[int, int], str]) -> None:
        self.tasks, self.fleet, self.decision = expansion.tasks, expansion.fleet, decision
        self.paths: dict[tuple[int, int], str] = {}
        self._open: dict[tuple[int, str], list[tuple[NodeKey, str]]] = {}
        for (task, node), path in dependencies.items():
            self.add(task, node, "dependencies", path)

    def add(self, task: int, node: int, what: str, path: str) -> None:
        """Record that something of an instance, `what`, reads a path that is not known."""
        self.paths.setdefault((task, node), path)
        if self.decision != "skip" or what == "dependencies":
            self._open.setdefault((task, what), []).append((self.fleet.nodes[node].uid, path))

    def findings(self) -> Iterator[Finding]:
        """Yield what stays open, with one finding (G036) for each task and kind of expression."""
        for (task, what), places in sorted(self._open.items()):
            (node, path), *more = places
            merged = self.tasks[task]
            where = merged.id if node is None else f"{merged.id}@{node}"
            others = f" and {len(more)} more" if more else ""
            yield Finding(
                Severity.ERROR, "G036", f"{where}{others}: {what}: unknown: {path}", place_of(merged, what), merged.id,
                "Upload the fact, or assume a value for it with --assume-facts.",
            )  # fmt: skip

    def condition(self, task: int, node: int, path: str) -> tuple[bool, str]:
        """Return how the condition of an instance counts that reads a path that is not known, and why."""
        if self.decision != "run":
            self.add(task, node, "condition", path)
        return self.decision != "skip", f"its condition reads {path}, which is not known"

    def path(self, expansion: Expansion, vertex: int) -> str:
        """Return the path that an instance depends on and that is not known; empty if it depends on none."""
        return self.paths.get((expansion.task_of[vertex], expansion.node_of[vertex]), "")

    def left(
        self,
        expansion: Expansion,
        rendered: Mapping[int, Mapping[str, Any]],
        skipped: dict[int, Reason],
        details: dict[int, str],
    ) -> dict[int, str]:
        """Return the path of each instance that depends on one that is not known.

        An instance that would run with parameters that are not known is skipped, if the request decides so.
        """
        paths: dict[int, str] = {}
        for vertex in range(expansion.size):
            path = self.path(expansion, vertex)
            if not path or vertex in skipped:
                continue
            if self.decision == "skip" and vertex not in rendered:
                skipped[vertex] = Reason.UNKNOWN
                details[vertex] = f"its parameters read {path}, which is not known"
            else:
                paths[vertex] = path
        return paths
