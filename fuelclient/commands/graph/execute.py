"""`graph execute`: run graphs."""

from __future__ import annotations

import argparse
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from fuelclient.commands.arguments import ASSUME, OF_ENV, SOME_NODES, names, option, stated, types_option
from fuelclient.commands.base import Command
from fuelclient.commands.graph.question import SELECT, selected_tasks
from fuelclient.commands.task.start import Starter, run_options
from fuelclient.errors import UsageError

if TYPE_CHECKING:
    from fuelclient.model.run import RunRequest


SELECTION = (
    OF_ENV,
    types_option("graph types in the order in which they run (default: default)"),
    SOME_NODES,
    option(
        "-T", "--task-names", nargs="+", type=names, action="extend", default=[], metavar="TASK", dest="task_names",
        help="only these tasks: a b or a,b",
    ),
    SELECT,
    option(
        "-S", "--subgraphs", nargs="+", type=stated, action="extend", default=[], metavar="SUBGRAPH",
        help="only these parts of the graph: start/1,2:end",
    ),
)  # fmt: skip
"""What to run where: `env`, `graph_types`, `nodes`, `task_names`, `select` and `subgraphs`; `selected` reads them."""


def selected(command: Command, parsed_args: argparse.Namespace) -> RunRequest:
    """Return the request that the options of `SELECTION` describe, with the tasks that `--select` selects now."""
    from fuelclient.model.graph import DEFAULT_TYPE
    from fuelclient.model.run import RunRequest

    graph_types = tuple(chain.from_iterable(parsed_args.graph_types or [[DEFAULT_TYPE]]))
    tasks = tuple(dict.fromkeys(chain.from_iterable(parsed_args.task_names)))
    if parsed_args.select:
        if tasks:
            hint = "Leave --task-names out: write 'a or b' in a query for two tasks."
            raise UsageError("--task-names and --select cannot be combined.", hint=hint)
        tasks = selected_tasks(command, parsed_args.select, parsed_args.env, graph_types)
    return RunRequest(parsed_args.env, graph_types, tuple(parsed_args.nodes or ()), tasks, tuple(parsed_args.subgraphs))


def run_flags(parsed_args: argparse.Namespace) -> dict[str, Any]:
    """Return the fields of a `RunRequest` that the options of `run_options` set."""
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
        self.execute(replace(selected(self, parsed_args), **run_flags(parsed_args)), parsed_args)
