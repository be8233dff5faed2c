"""`graph upload`: store a graph."""

from __future__ import annotations

import argparse
import dataclasses
import logging
from typing import TYPE_CHECKING

from fuelclient.commands.arguments import OWNER, YES, described, one_of, option, owner_of, source_options, type_option
from fuelclient.commands.base import Command, report
from fuelclient.commands.columns import some
from fuelclient.commands.shell import LOG, count
from fuelclient.errors import NotFound
from fuelclient.support import supports

if TYPE_CHECKING:
    from fuelclient.backends.base import Backend
    from fuelclient.model.graph import OwnerRef, Uploaded

DEFAULT = "default"


class GraphUpload(Command):
    """Upload a graph to an owner

    The owner is an environment, a release or a plugin; it has one graph of each type. If it already has a graph of the
    type, the upload replaces the tasks of that graph. Its id stays, and so do its name and metadata unless the document
    has its own. Without --type the graph type is default. On a terminal the command asks before it replaces tasks, and
    if --type is not given; --yes answers.

    If a task is invalid, or the document is empty, nothing is stored, all findings are listed, and the exit code is 7.
    Write [] for a graph without tasks.

      fuel2 graph upload --env 1 --type default --file override.yaml
      fuel2 graph upload --release 1 --dir fuel-library/deployment/puppet --yes
      fuel2 graph upload --plugin 2 --type default --file -
    """

    arguments = (
        OWNER,
        type_option(default=None),
        one_of(*source_options("-f"), required=True),
        option("--name", type=str, help="name of the graph (default: the name in the document)"),
        YES,
    )

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        from fuelclient.commands.graph.documents import graph_document

        ref = owner_of(parsed_args)
        label = self._label(ref)
        graph_type = parsed_args.graph_type or DEFAULT
        document = graph_document(parsed_args, self.app.stdin, owner_label=label, absolute=True)
        if parsed_args.name is not None:
            document = dataclasses.replace(document, name=parsed_args.name)
        asked = self.ask(parsed_args, lambda: self._question(ref, parsed_args.graph_type))
        if parsed_args.graph_type is None and not asked:
            LOG.info("--type is not given: uploading to the graph type '%s' of %s.", DEFAULT, described(ref))
        uploaded = self.writable().graphs.upload(ref, document, graph_type)
        report(uploaded.findings)
        _narrate(uploaded, f"type '{graph_type}' of {described(ref)}")
        self.say("Deployment graph was successfully uploaded.")

    def _label(self, ref: OwnerRef) -> str:
        """Return what the ids of legacy tasks begin with. Raise `NotFound` for an unknown owner.

        A Fuel master is not asked for a release or an environment: its answer about the graph says that too.
        """
        from fuelclient.model.graph import Level

        if ref.level is not Level.PLUGIN and supports(self.backend.runs.act):
            return str(ref.level)
        owner = self.backend.graphs.owner(ref)
        return owner.name if ref.level is Level.PLUGIN else str(ref.level)

    def _question(self, owner: OwnerRef, graph_type: str | None) -> str:
        """Return the question that says what would be replaced, and where; empty if nothing would be and the type is
        given. Raise `NotFound` for an unknown owner."""
        self.backend.graphs.owner(owner)
        before = _tasks(self.backend, owner, graph_type or DEFAULT)
        if not before and graph_type:
            return ""
        if not before:
            return f"--type is not given. Upload to the graph type '{DEFAULT}' of {described(owner)}?"
        users = _environments(self.backend, owner)
        merged = f", which {some(users)} {'uses' if len(users) == 1 else 'use'}" if users else ""
        return f"Replace the {count(before, 'task')} of type '{graph_type or DEFAULT}' of {described(owner)}{merged}?"


def _environments(backend: Backend, owner: OwnerRef) -> list[str]:
    """Return the environments that merge the graph of a release or a plugin."""
    from fuelclient.model.graph import Level

    if owner.level is Level.CLUSTER:
        return []
    clusters = backend.clusters.list()
    if owner.level is Level.RELEASE:
        users = [cluster for cluster in clusters if cluster.release_id == owner.id]
    else:
        enabled = backend.plugins.get(owner.id).clusters
        users = [cluster for cluster in clusters if cluster.id in enabled]
    return [f"environment {cluster.id} ({cluster.name})" for cluster in users]


def _tasks(backend: Backend, owner: OwnerRef, graph_type: str) -> int:
    """Return how many tasks the graph to replace has; 0 if it does not exist."""
    try:
        return len(backend.graphs.get(owner, graph_type).tasks)
    except NotFound:
        return 0


def _narrate(uploaded: Uploaded, where: str) -> None:
    """Say on stderr what was stored and replaced, as a warning if the new graph is empty and the old one was not."""
    before, now = uploaded.replaced, len(uploaded.graph.tasks)
    if uploaded.created:
        LOG.info("Created graph %d with %s: %s.", uploaded.graph.id, count(now, "task"), where)
        return
    level = logging.WARNING if before and not now else logging.INFO
    was, is_now = count(before, "task"), count(now, "task")
    LOG.log(level, "Replaced graph %d (%s) with %s: %s.", uploaded.graph.id, was, is_now, where)
