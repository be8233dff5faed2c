"""`graph stats`: the figures of a graph."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from fuelclient.commands.graph.question import Answer, OrderQuestion, aligned

if TYPE_CHECKING:
    from fuelclient.insight.stats import Stats


class GraphStats(OrderQuestion):
    """Show the figures of a graph: its size, depth and width, who changes it, what most tasks wait for

    The longest chain is one with the most task instances: it bounds how fast a run can be, whatever the number of
    nodes. The widest generation says how many instances can run at the same time.

      fuel2 graph stats --env 1
      fuel2 graph stats --env 1 --assume controller=3,compute=100 -f json
    """

    def answer(self, parsed_args: argparse.Namespace) -> Answer:
        from fuelclient.insight.stats import stats

        figures = stats(self.study(parsed_args))
        document = dataclasses.asdict(figures)
        document["widest"] = dict(zip(("generation", "instances"), figures.widest, strict=True))
        for name in ("most_before", "most_after"):
            document[name] = [{"task": task, "count": number} for task, number in document[name]]
        document["longest"] = list(figures.longest)
        return Answer(aligned(_rows(figures)), document)


def _rows(figures: Stats) -> Iterator[tuple[str, str]]:
    yield "tasks", f"{figures.tasks}; {figures.placed} run on a node, {figures.changed} override others"
    yield "by type", _counts(figures.types)
    yield "by layer", _counts(figures.layers)
    yield "instances", f"{figures.instances} on {figures.nodes} nodes"
    yield "edges", f"{figures.edges} between tasks"
    yield "generations", f"{figures.generations}; the widest is {figures.widest[0]} with {figures.widest[1]} instances"
    yield "longest chain", f"{len(figures.longest)} instances: {' -> '.join(figures.longest)}"
    yield "most predecessors", _counts(dict(figures.most_before))
    yield "most successors", _counts(dict(figures.most_after))
    yield "findings", _counts(figures.findings) or "none"


def _counts(counted: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {number}" for name, number in counted.items())
