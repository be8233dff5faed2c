"""`node check`: whether nodes are ready for tasks."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import Any

from fuelclient.commands.arguments import NAMED, env_option, node_references, option, type_option
from fuelclient.commands.base import DiagnosisCheck
from fuelclient.commands.shell import LOG


class NodeCheck(DiagnosisCheck):
    """Examine whether nodes are ready for tasks

    It checks the connection, the host key, SFTP, bash and the other tools that fuel2 needs to start commands and to
    find them again, the programs that tasks of a graph call (puppet, python), the free space, the user's rights and the
    clock. Nodes with the same result share a row. Every problem is shown with its fix. Nothing is changed. The exit
    code is 7 if a node cannot run tasks.

    If you name no nodes, all nodes of the environment are checked; without --env, those of all environments. Every run
    checks the nodes that it reaches over SSH, and does not start if one is not ready, unless you use --no-check.

      fuel2 node check
      fuel2 node check 1 2
      fuel2 node check --env 1 --type fix-1
    """

    arguments = (
        option("id", nargs="*", type=node_references, metavar=NAMED, help="ids or names of nodes: 1 2 or 1,2"),
        env_option(required=False, help="all nodes of this environment"),
        type_option(default="default"),
    )

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:
        ids = [number for part in parsed_args.id for number in part]
        if not ids:
            ids = [node.id for node in self.backend.nodes.list(parsed_args.env) if node.cluster_id is not None]
        if not ids:
            LOG.info("There is no node in any environment. Add some with 'fuel2 env add nodes'.")
        return self.diagnosed(self.backend.runs.check(ids, parsed_args.graph_type))
