"""`graph simulate`: compute how a run would go."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fuelclient.commands.arguments import ASSUME, flag, instance, option
from fuelclient.commands.base import STRUCTURED, Lister, report, sorted_by
from fuelclient.commands.exits import Exit
from fuelclient.commands.formatters import check_columns
from fuelclient.commands.graph.execute import SELECTION, selected
from fuelclient.commands.shell import LOG
from fuelclient.commands.task.history import node
from fuelclient.commands.task.start import UNKNOWN, decisions, report_unknown
from fuelclient.errors import UsageError

if TYPE_CHECKING:
    from fuelclient.model.run import RunRequest, SimulatedGraph


class GraphSimulate(Lister):
    """Show how a run would go, and how long it would take

    Nothing is executed: durations are those of earlier runs, and one second for tasks that never ran. The instances
    that --fail names fail; rows then say which instances would be skipped or stopped, and why. 'start' and 'end' are
    seconds from the beginning. The result of the run is on stderr, and with -f json and -f yaml in each row. The exit
    code is 8 if the run would fail. Instances that depend on facts which are not known run in a simulation, with the
    fact as their reason.

      fuel2 graph simulate --env 1 --fail netconfig/2 keystone/1

    --assume simulates on other nodes than those of the environment, as 'graph preview' takes them. If the environment
    has no nodes, a few nodes for each role are assumed.

      fuel2 graph simulate --env 1 --assume controller=3,compute=8

    --dot draws the run for Graphviz instead: green succeeded, red failed, orange was not reached because of a failure,
    violet was skipped.

      fuel2 graph simulate --env 1 --dot | dot -Tsvg > run.svg
    """

    reads_once = True

    columns = ("graph_type", "task", "node", "status", "reason", "because", "start", "end")
    sort_by = ""

    arguments = (
        *SELECTION,
        option(
            "--fail", nargs="+", type=instance, action="extend", default=[], metavar="TASK/NODE",
            help="let these task instances fail",
        ),
        ASSUME,
        *UNKNOWN,
        flag("--dot", help="draw the run in the DOT language of Graphviz"),
    )  # fmt: skip

    def run(self, parsed_args: argparse.Namespace) -> int:
        self._exit = Exit.OK
        if not parsed_args.dot:
            super().run(parsed_args)
            return self._exit
        if parsed_args.formatter != "table":
            raise UsageError("--dot and -f cannot be combined.", hint="Leave one of them out.")
        from fuelclient.backends.plans import pictured

        picture = pictured(self.backend, self._request(parsed_args), parsed_args.fail, parsed_args.assume or "")
        self.app.stdout.write(picture)
        return 0

    def take_action(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Iterable[Sequence[Any]]]:
        columns = (*self.columns, "verdict") if parsed_args.formatter in STRUCTURED else self.columns
        check_columns(parsed_args.columns, columns)
        rows = [row[: len(columns)] for row in self.rows(parsed_args)]
        return columns, sorted_by(rows, self.columns, parsed_args.sort_keys or ())

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:
        """Return the rows, each with the verdict on its graph at the end."""
        from fuelclient.backends.plans import simulated

        graphs = simulated(self.backend, self._request(parsed_args), parsed_args.fail, parsed_args.assume or "")
        if graphs and graphs[0].assumption:
            LOG.info("%s", graphs[0].assumption)
        for graph in graphs:
            _narrate(graph)
        if any(graph.verdict == "error" for graph in graphs):
            self._exit = Exit.FAILED
        return [
            (
                graph.graph_type, instance.task, node(instance.node), str(instance.status), str(instance.reason),
                instance.because, _seconds(instance.start), _seconds(instance.end), str(graph.verdict),
            )
            for graph in graphs
            for instance in graph.instances
        ]  # fmt: skip

    def _request(self, parsed_args: argparse.Namespace) -> RunRequest:
        return replace(selected(self, parsed_args), **decisions(self, parsed_args))


def _seconds(moment: float | None) -> float | None:
    return None if moment is None else round(moment, 3)


def _length(seconds: float) -> str:
    return "1 second" if seconds == 1 else f"{seconds:g} seconds"


def _narrate(graph: SimulatedGraph) -> None:
    """Say on stderr how a run would end, and how many of its durations are assumed."""
    report(graph.findings)
    LOG.info("Graph %s would end: %s. %s", graph.graph_type, graph.verdict, graph.message)
    running = sum(instance.start is not None for instance in graph.instances)
    others = f", the others are assumed to be {_length(graph.assumed_seconds)}" if running > graph.known else ""
    LOG.info(
        "It would take %.1f seconds: %d of %d durations come from earlier runs%s.",
        graph.makespan, graph.known, max(running, graph.known), others,
    )  # fmt: skip
    report_unknown([instance.unknown for instance in graph.instances if instance.unknown])
    if graph.critical:
        LOG.info("The critical path: %s.", ", ".join(graph.critical))
