"""Graphs: list and delete them."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from fuelclient.commands.arguments import NOUNS, OWNER, YES, described, env_option, flag, owner_of, type_option
from fuelclient.commands.base import Command, Lister, report
from fuelclient.commands.columns import Counted, Names, Relations
from fuelclient.commands.shell import LOG, count

if TYPE_CHECKING:
    from fuelclient.model.graph import OwnerRef


class GraphList(Lister):
    """List graphs with their tasks and owners

    Without --env all graphs are listed, with it those of the environment, of its release and of the plugins enabled on
    it. --cluster, --plugins and --release can be combined. A relation names an owner of the graph, and the type that
    the graph has there. With -f json and -f yaml tasks are a list and relations are mappings. On a terminal the table
    has the number of tasks and the first of them; files and pipes get all.

      fuel2 graph list --env 1
      fuel2 graph list --env 1 --cluster -c tasks -f csv
    """

    columns = ("id", "name", "tasks", "relations")

    arguments = (
        env_option(required=False, help="only graphs that are merged for this environment"),
        flag("--cluster", help="graphs of environments"),
        flag("--plugins", help="graphs of plugins"),
        flag("--release", help="graphs of releases"),
    )

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:
        from fuelclient.model.graph import Level

        asked = {
            Level.RELEASE: parsed_args.release, Level.PLUGIN: parsed_args.plugins, Level.CLUSTER: parsed_args.cluster,
        }  # fmt: skip
        levels = [level for level, is_asked in asked.items() if is_asked]
        graphs = self.backend.graphs.list(parsed_args.env, levels)
        if not graphs and parsed_args.env is None and not levels:
            LOG.info("There are no graphs yet. 'fuel2 graph upload' stores one; releases and plugins bring their own.")
        for graph in graphs:
            relation = {"type": graph.type, "model": str(graph.owner.level), "model_id": graph.owner.id}
            names = sorted(graph.task_ids)
            tasks = Counted(names, "task") if self.is_for_terminal(parsed_args) else Names(names)
            yield graph.id, graph.name, tasks, Relations([relation])


class GraphDelete(Command):
    """Delete one graph of an owner

    --type is required, so that the default graph is not deleted by accident. On a terminal the command asks first,
    unless you use --yes.

      fuel2 graph delete --env 1 --type rollback
    """

    arguments = (OWNER, type_option(default=None, required=True), YES)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        owner = owner_of(parsed_args)
        self.ask(parsed_args, lambda: self._question(owner, parsed_args.graph_type))
        report(self.writable().graphs.delete(owner, parsed_args.graph_type))
        noun = NOUNS[owner.level]
        self.say(f"Deployment graph '{parsed_args.graph_type}' for {noun} with id {owner.id} was deleted.")

    def _question(self, owner: OwnerRef, graph_type: str) -> str:
        tasks = len(self.backend.graphs.get(owner, graph_type).tasks)
        return f"Delete the {graph_type} graph of {described(owner)} with its {count(tasks, 'task')}?"
