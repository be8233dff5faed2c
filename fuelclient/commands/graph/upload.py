"""`graph upload`."""

from __future__ import annotations

import argparse
import dataclasses

from fuelclient.commands.arguments import add_owner, add_source, add_type, add_yes, described, owner_of
from fuelclient.commands.base import Command, report
from fuelclient.commands.shell import LOG, count

DEFAULT = "default"


class GraphUpload(Command):
    """Upload a graph to an owner

    The owner is an environment, a release or a plugin; it has one graph of each type. An upload over a graph
    that exists replaces its tasks; its id stays, and so do its name and metadata where the document has none.
    Without --type it goes to the type default, after a question where a terminal can answer it.

    Nothing is stored when one task is wrong; all findings are listed then, and the exit code is 7.

      fuel2 graph upload --env 1 --type default --file override.yaml
      fuel2 graph upload --release 1 --dir fuel-library/deployment/puppet --yes
      fuel2 graph upload --plugin 2 --type default --file -
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_owner(parser)
        add_type(parser, default=None)
        add_source(parser, short=True)
        parser.add_argument("--name", help="name of the graph; the document's own otherwise")
        add_yes(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        from fuelclient.commands.graph.documents import graph_document
        from fuelclient.model.graph import Level

        ref = owner_of(parsed_args)
        backend = self.writable()
        owner = backend.graphs.owner(ref)
        graph_type = parsed_args.graph_type or self._default_type(described(ref), ask=not parsed_args.yes)
        label = owner.name if owner.level is Level.PLUGIN else str(owner.level)
        document = graph_document(parsed_args, self.app.stdin, owner_label=label)
        if parsed_args.name is not None:
            document = dataclasses.replace(document, name=parsed_args.name)
        uploaded = backend.graphs.upload(ref, document, graph_type)
        report(uploaded.findings)
        LOG.info(
            "%s graph %d of type '%s' of %s with %s.", "Created" if uploaded.created else "Replaced",
            uploaded.graph.id, graph_type, described(ref), count(len(uploaded.graph.tasks), "task"),
        )  # fmt: skip
        self.say("Deployment graph was successfully uploaded.")

    def _default_type(self, owner: str, *, ask: bool) -> str:
        """The type default, once the user has agreed, or cannot be asked."""
        if ask and self.app.stdin.isatty():
            self.confirm(f"No graph type is given. Upload to the graph type '{DEFAULT}' of {owner}?")
        else:
            LOG.info("No graph type is given: uploading to the graph type '%s' of %s.", DEFAULT, owner)
        return DEFAULT
