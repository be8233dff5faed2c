"""`graph simulate`."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from fuelclient.commands.arguments import stated
from fuelclient.commands.base import Lister, report
from fuelclient.commands.graph.execute import add_selection, selected
from fuelclient.commands.shell import LOG
from fuelclient.commands.task.cells import node
from fuelclient.errors import UsageError

if TYPE_CHECKING:
    from fuelclient.model.run import SimulatedGraph


class GraphSimulate(Lister):
    """Show what would become of a run, and how long it would take

    The run is only computed, from the durations of earlier runs; what never ran is assumed to take a second. The
    instances of --fail fail in it: a row says what would be skipped or stopped then, and because of what. 'start'
    and 'end' are seconds from the beginning. How the run would end is said on stderr.

      fuel2 graph simulate --env 1 --fail netconfig/2 keystone/1

    --dot draws the run for Graphviz instead: green ended well, red failed, orange never runs because of it, violet
    was skipped.

      fuel2 graph simulate --env 1 --dot | dot -Tsvg > run.svg
    """

    columns = ("graph_type", "task", "node", "status", "reason", "because", "start", "end")
    sort_by = ""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_selection(parser)
        parser.add_argument(
            "--fail", nargs="+", type=stated, action="extend", default=[], metavar="TASK/NODE",
            help="let these task instances fail",
        )  # fmt: skip
        parser.add_argument("--dot", action="store_true", help="draw the run in the language of Graphviz")
        return parser

    def run(self, parsed_args: argparse.Namespace) -> int:
        if not parsed_args.dot:
            return super().run(parsed_args)
        if parsed_args.formatter != "table":
            raise UsageError("--dot prints a picture, which has no other format.", hint="Leave --dot or -f out.")
        from fuelclient.backends.plans import pictured

        picture = pictured(self.backend, selected(parsed_args), parsed_args.fail)
        self.app.stdout.write(picture)
        return 0

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:
        from fuelclient.backends.plans import simulated

        graphs = simulated(self.backend, selected(parsed_args), parsed_args.fail)
        for graph in graphs:
            _narrate(graph)
        return [
            (
                graph.graph_type, one.task, node(one.node), str(one.status), str(one.reason), one.because,
                _seconds(one.start), _seconds(one.end),
            )
            for graph in graphs
            for one in graph.instances
        ]  # fmt: skip


def _seconds(moment: float | None) -> float | None:
    return None if moment is None else round(moment, 3)


def _length(seconds: float) -> str:
    return "1 second" if seconds == 1 else f"{seconds:g} seconds"


def _narrate(graph: SimulatedGraph) -> None:
    """Say on stderr how a run would end, and how sure its length is."""
    report(graph.findings)
    LOG.info("Graph %s would end: %s. %s", graph.graph_type, graph.verdict, graph.message)
    running = sum(one.start is not None for one in graph.instances)
    others = f", the others are assumed to be {_length(graph.assumed_seconds)}" if running > graph.known else ""
    LOG.info(
        "It would take %.1f seconds: %d of its %d durations are those of earlier runs%s.",
        graph.makespan, graph.known, max(running, graph.known), others,
    )  # fmt: skip
    if graph.critical:
        LOG.info("The critical path: %s.", ", ".join(graph.critical))
