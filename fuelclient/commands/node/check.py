"""`node check`: whether nodes are ready for tasks."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import Any

from fuelclient.commands.arguments import NAMED, add_env, add_type, node_references
from fuelclient.commands.base import Check
from fuelclient.commands.shell import LOG


class NodeCheck(Check):
    """Examine whether nodes are ready for tasks

    It looks at the connection, at the host key, which may be unknown or have changed, at SFTP, at bash and what else
    commands need to be started and found again, at the programs that tasks of a graph call (puppet, python), at the
    free space, at the user's rights and at the clock. What is the same for several nodes is one row. Every problem
    comes with what to do about it. Nothing is changed. The exit code is 7 if a node cannot run tasks.

    Without nodes, all those of the environment are examined, or those of all environments. A run examines the nodes
    that it reaches over SSH by itself, and does not begin if one is not ready, unless it is given --no-check.

      fuel2 node check
      fuel2 node check 1 2
      fuel2 node check --env 1 --type fix-1
    """

    columns = ("status", "area", "name", "message", "mend")
    advice = "mend"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        from fuelclient.model.graph import DEFAULT_TYPE

        parser.add_argument(
            "id", nargs="*", type=node_references, metavar=NAMED, help="ids or names of nodes: 1 2 or 1,2"
        )
        add_env(parser, required=False, help="all nodes of this environment")
        add_type(parser, default=DEFAULT_TYPE)

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:
        from fuelclient.model.diagnosis import Health
        from fuelclient.redact import scrubbed

        ids = [number for part in parsed_args.id for number in part]
        if not ids:
            ids = [node.id for node in self.backend.nodes.list(parsed_args.env) if node.cluster_id is not None]
        if not ids:
            LOG.info("There is no node in any environment. Add some with 'fuel2 env add nodes'.")
        found = self.backend.runs.check(ids, parsed_args.graph_type)
        self.broken = any(one.health is Health.ERROR for one in found)
        return [(str(one.health), one.area, one.name, scrubbed(one.message), scrubbed(one.mend)) for one in found]
