"""`graph execute` and `graph simulate`: run graphs, or compute how a run would go."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from fuelclient.commands.arguments import (
    ASSUME,
    OF_ENV,
    SOME_NODES,
    flag,
    instance,
    names_option,
    nonempty,
    option,
    types_option,
)
from fuelclient.commands.base import STRUCTURED, Command, Lister, report
from fuelclient.commands.exits import Exit
from fuelclient.commands.formatters import Shown
from fuelclient.commands.graph.question import SELECT, selected_tasks
from fuelclient.commands.shell import LOG
from fuelclient.commands.task.history import node
from fuelclient.commands.task.start import UNKNOWN, Starter, decisions, report_unknown, run_options
from fuelclient.errors import UsageError

if TYPE_CHECKING:
    from fuelclient.model.run import RunRequest, SimulatedGraph


SELECTION = (
    OF_ENV,
    types_option("graph types in the order in which they run (default: default)"),
    SOME_NODES,
    names_option("-T", "--task-names", default=[], metavar="TASK", help="only these tasks: a b or a,b"),
    SELECT,
    option(
        "-S", "--subgraphs", nargs="+", type=nonempty, action="extend", default=[], metavar="SUBGRAPH",
        help="only these parts of the graph: start/1,2:end",
    ),
)  # fmt: skip
"""What to run where: `env`, `graph_types`, `nodes`, `task_names`, `select` and `subgraphs`; `request_of` reads them."""


def request_of(command: Command, parsed_args: argparse.Namespace) -> RunRequest:
    """Read the options of `SELECTION` as a request, with the tasks that `--select` selects now."""
    from fuelclient.model.graph import DEFAULT_TYPE
    from fuelclient.model.run import RunRequest

    graph_types = tuple(chain.from_iterable(parsed_args.graph_types or [[DEFAULT_TYPE]]))
    tasks = tuple(parsed_args.task_names)
    if parsed_args.select:
        if tasks:
            hint = "Leave --task-names out: write 'a or b' in a query for two tasks."
            raise UsageError("--task-names and --select cannot be combined.", hint=hint)
        tasks = selected_tasks(command, parsed_args.select, parsed_args.env, graph_types)
    return RunRequest(parsed_args.env, graph_types, tuple(parsed_args.nodes or ()), tasks, tuple(parsed_args.subgraphs))


def run_flags(parsed_args: argparse.Namespace) -> dict[str, Any]:
    names = ("force", "dry_run", "noop", "trace", "executor", "on_originals")
    return {name: getattr(parsed_args, name) for name in names}


class GraphExecute(Starter):
    """Run graphs on the nodes of an environment

    The graphs of the given types run one after another; the first that fails ends the run. The run is a process of its
    own and goes on when the terminal closes. On a terminal the command follows the run to its end, with exit code 8 if
    it fails, or if nothing of a selection succeeded. Ctrl-C stops the run, and a second Ctrl-C kills running tasks.
    Without a terminal the command returns at once unless --wait is given, and exit code 0 means that the run has
    started. --timeout limits the waiting; the exit code is then 12, and the run goes on.

    --dry-run prints what would run and starts nothing. A Fuel master is asked as well, and keeps the dry run as a task:
    the column 'action' has the plan that is computed here, the column 'master' what the master decides. With --assume
    the plan is made for other nodes, and no master is asked.

    --select takes a query as 'graph query' does, and runs the tasks that it selects now. --subgraphs takes
    '[start[/nodes]][:end[/nodes]]' and selects what follows start and precedes end.

      fuel2 graph execute --env 1 --type fix-1 --node 2 3
      fuel2 graph execute --env 1 --type default fix-1 --dry-run
      fuel2 graph execute --env 1 --dry-run --assume controller=3,compute=8
      fuel2 graph execute --env 1 --task-names netconfig keystone --wait
      fuel2 graph execute --env 1 --select 'keystone+1,role:controller' --dry-run
      fuel2 graph execute --env 1 --subgraphs keystone/1: --noop

    If a condition or a parameter reads a fact that is not known, it is unknown too. A dry run lists these and goes on.
    A run lists them and refuses to start, unless --assume-facts gives values or --unknown decides.

      fuel2 graph execute --env 1 --assume-facts facts.yaml --unknown skip
    """

    arguments = (*SELECTION, ASSUME, *run_options())

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        if parsed_args.assume and not parsed_args.dry_run:
            raise UsageError("Nothing can be executed on assumed nodes.", hint="Add --dry-run, or leave --assume out.")
        self.execute(replace(request_of(self, parsed_args), **run_flags(parsed_args)), parsed_args)


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
    by_weight = ("task", "node", "status", "reason", "because")
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
        if not parsed_args.dot:
            return super().run(parsed_args)
        if parsed_args.formatter != "table":
            raise UsageError("--dot and -f cannot be combined.", hint="Leave one of them out.")
        from fuelclient.backends.plans import pictured

        picture = pictured(self.backend, self._request(parsed_args), parsed_args.fail, parsed_args.assume or "")
        self.app.stdout.write(picture)
        return 0

    def shown_columns(self, parsed_args: argparse.Namespace) -> Sequence[str]:
        return (*self.columns, "verdict") if parsed_args.formatter in STRUCTURED else self.columns

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:
        """Simulate, and end each row with the verdict on its graph."""
        from fuelclient.backends.plans import simulated

        graphs = simulated(self.backend, self._request(parsed_args), parsed_args.fail, parsed_args.assume or "")
        if graphs and graphs[0].assumption:
            LOG.info("%s", graphs[0].assumption)
        for graph in graphs:
            _log_summary(graph)
        if any(graph.verdict == "error" for graph in graphs):
            self.exit_code = Exit.FAILED
        return [
            (
                graph.graph_type, instance.task, Shown(instance.node, str(node(instance.node))),
                str(instance.status), str(instance.reason), instance.because,
                _seconds(instance.start), _seconds(instance.end), str(graph.verdict),
            )
            for graph in graphs
            for instance in graph.instances
        ]  # fmt: skip

    def _request(self, parsed_args: argparse.Namespace) -> RunRequest:
        return replace(request_of(self, parsed_args), **decisions(self, parsed_args))


def _seconds(moment: float | None) -> float | None:
    return None if moment is None else round(moment, 3)


def _log_summary(graph: SimulatedGraph) -> None:
    report(graph.findings)
    LOG.info("Graph %s would end: %s. %s", graph.graph_type, graph.verdict, graph.message)
    running = sum(instance.start is not None for instance in graph.instances)
    length = f"{graph.assumed_seconds:g} second{'s' * (graph.assumed_seconds != 1)}"
    others = f", the others are assumed to be {length}" if running > graph.known else ""
    LOG.info(
        "It would take %.1f seconds: %d of %d durations come from earlier runs%s.",
        graph.makespan, graph.known, running, others,
    )  # fmt: skip
    report_unknown([instance.unknown for instance in graph.instances if instance.unknown])
    if graph.critical:
        LOG.info("The critical path: %s.", ", ".join(graph.critical))
