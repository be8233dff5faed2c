"""`graph upload`: store a graph."""

from __future__ import annotations

import argparse
import dataclasses
import logging
from typing import TYPE_CHECKING

from fuelclient.commands.arguments import add_owner, add_source, add_type, add_yes, described, owner_of
from fuelclient.commands.base import Command, report
from fuelclient.commands.shell import LOG, count
from fuelclient.errors import NotFound

if TYPE_CHECKING:
    from fuelclient.backends.base import Backend
    from fuelclient.model.graph import OwnerRef, Uploaded

DEFAULT = "default"


class GraphUpload(Command):
    """Upload a graph to an owner

    The owner is an environment, a release or a plugin; it has one graph of each type. If it already has a graph of the
    type, the upload replaces the tasks of that graph. Its id stays, and so do its name and metadata unless the document
    has its own. Without --type the graph type is default; on a terminal the command asks first.

    If a task is invalid, or the document is empty, nothing is stored, all findings are listed, and the exit code is 7.
    Write [] for a graph without tasks.

      fuel2 graph upload --env 1 --type default --file override.yaml
      fuel2 graph upload --release 1 --dir fuel-library/deployment/puppet --yes
      fuel2 graph upload --plugin 2 --type default --file -
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add_owner(parser)
        add_type(parser, default=None)
        add_source(parser, short=True)
        parser.add_argument("--name", help="name of the graph (default: the name in the document)")
        add_yes(parser)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        from fuelclient.commands.graph.documents import graph_document
        from fuelclient.model.graph import Level

        ref = owner_of(parsed_args)
        owner = self.backend.graphs.owner(ref)
        graph_type = parsed_args.graph_type or self._default_type(described(ref), ask=not parsed_args.yes)
        label = owner.name if owner.level is Level.PLUGIN else str(owner.level)
        document = graph_document(parsed_args, self.app.stdin, owner_label=label, absolute=True)
        if parsed_args.name is not None:
            document = dataclasses.replace(document, name=parsed_args.name)
        before = _tasks(self.backend, ref, graph_type)
        uploaded = self.writable().graphs.upload(ref, document, graph_type)
        report(uploaded.findings)
        _narrate(uploaded, before, f"type '{graph_type}' of {described(ref)}")
        self.say("Deployment graph was successfully uploaded.")

    def _default_type(self, owner: str, *, ask: bool) -> str:
        """Return the type default once the user has agreed, or if no terminal can ask."""
        if ask and self.app.stdin.isatty():
            self.writable()
            self.confirm(f"--type is not given. Upload to the graph type '{DEFAULT}' of {owner}?")
        else:
            LOG.info("--type is not given: uploading to the graph type '%s' of %s.", DEFAULT, owner)
        return DEFAULT


def _tasks(backend: Backend, owner: OwnerRef, graph_type: str) -> int:
    """Return how many tasks the graph to replace has; 0 if it does not exist."""
    try:
        return len(backend.graphs.get(owner, graph_type).tasks)
    except NotFound:
        return 0


def _narrate(uploaded: Uploaded, before: int, where: str) -> None:
    """Say on stderr what was stored and replaced, as a warning if the new graph is empty and the old one was not."""
    now = len(uploaded.graph.tasks)
    if uploaded.created:
        LOG.info("Created graph %d with %s: %s.", uploaded.graph.id, count(now, "task"), where)
        return
    level = logging.WARNING if before and not now else logging.INFO
    was, is_now = count(before, "task"), count(now, "task")
    LOG.log(level, "Replaced graph %d (%s) with %s: %s.", uploaded.graph.id, was, is_now, where)
