"""`graph list`."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import Any

from fuelclient.commands.arguments import add_env
from fuelclient.commands.base import Lister
from fuelclient.commands.columns import Names, Relations
from fuelclient.commands.shell import LOG


class GraphList(Lister):
    """List graphs with their tasks and owners

    Without --env all graphs; with it those of the environment, of its release and of the plugins enabled on it.
    The three filters add up. A relation says under which type which owner has the graph; -f json and -f yaml
    give tasks as a list and relations as mappings.

      fuel2 graph list --env 1
      fuel2 graph list --env 1 --cluster -c tasks -f csv
    """

    columns = ("id", "name", "tasks", "relations")

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_env(parser, required=False, help="only graphs that take part in this environment")
        parser.add_argument("--cluster", action="store_true", help="graphs of environments")
        parser.add_argument("--plugins", action="store_true", help="graphs of plugins")
        parser.add_argument("--release", action="store_true", help="graphs of releases")
        return parser

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:
        from fuelclient.model.graph import Level

        asked = {
            Level.RELEASE: parsed_args.release, Level.PLUGIN: parsed_args.plugins, Level.CLUSTER: parsed_args.cluster,
        }  # fmt: skip
        levels = [level for level, wanted in asked.items() if wanted]
        graphs = self.backend.graphs.list(parsed_args.env, levels)
        if not graphs and parsed_args.env is None and not levels:
            LOG.info("There is no graph yet: 'fuel2 graph upload' stores one, releases and plugins bring theirs.")
        for graph in graphs:
            relation = {"type": graph.type, "model": str(graph.owner.level), "model_id": graph.owner.id}
            yield graph.id, graph.name, Names(sorted(graph.task_ids)), Relations([relation])
