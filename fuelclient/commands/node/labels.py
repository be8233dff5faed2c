"""Labels of nodes: list, set, delete."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from fuelclient.commands.arguments import add_nodes
from fuelclient.commands.base import Command, Lister
from fuelclient.commands.shell import LOG
from fuelclient.errors import UsageError

if TYPE_CHECKING:
    from fuelclient.model.label import Label
    from fuelclient.model.node import Node


def add_labels(parser: argparse._ActionsContainer, help: str, *, required: bool = False) -> None:
    """`--labels a b=c`: `labels` is a list of texts, or None; read it with `labels_of`."""
    parser.add_argument("-l", "--labels", nargs="+", action="extend", required=required, metavar="LABEL", help=help)


def labels_of(parsed_args: argparse.Namespace) -> tuple[Label, ...]:
    """The labels that `add_labels` made the user name; `UsageError` for one without a name."""
    from fuelclient.model.label import label_from

    found = tuple(label_from(text) for text in parsed_args.labels or ())
    for text, label in zip(parsed_args.labels or (), found, strict=True):
        if not label.name:
            raise UsageError(f"The label {text!r} has no name.", hint="Write it as name or name=value.")
    return found


def labelled(nodes: Iterable[Node], wanted: Sequence[Label]) -> list[Node]:
    """The nodes that have one of the labels, or all of them where none is wanted."""
    from fuelclient.model.label import has_any

    return [node for node in nodes if not wanted or has_any(node.labels, wanted)]


class _Some(Command):
    """A command about nodes that are named, or all."""

    def add_nodes(self, parser: argparse.ArgumentParser) -> None:
        group = parser.add_mutually_exclusive_group(required=True)
        add_nodes(group, required=False, help="ids of the nodes: 1 2 or 1,2")
        group.add_argument("--nodes-all", action="store_true", help="all nodes")

    def told(self, verb: str, ids: Iterable[int]) -> None:
        """Say which nodes were changed; scripts know the blank at the end."""
        found = ",".join(map(str, ids))
        if not found:
            LOG.warning("There are no nodes.")
        self.say(f"Labels have been {verb} on nodes: {found} ")


class LabelList(Lister):
    """List the labels of nodes"""

    columns = ("node_id", "label_name", "label_value")
    sort_by = "node_id"

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_nodes(parser, required=False, help="only of these nodes: 1 2 or 1,2")
        return parser

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:
        facet = self.backend.nodes
        nodes = facet.list() if parsed_args.nodes is None else [facet.get(one) for one in parsed_args.nodes]
        return chain.from_iterable(_rows(node) for node in nodes)


def _rows(node: Node) -> list[Sequence[Any]]:
    return [(node.id, name, value) for name, value in sorted(node.labels.items())]


class LabelSet(_Some):
    """Set labels of nodes

    A label is a name with or without a value. Those that a node has besides stay. Either all nodes get them or none.

      fuel2 node label set --labels rack=b ssd --nodes 1 2
      fuel2 node label set --labels site=west --nodes-all
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_labels(parser, "labels: name or name=value", required=True)
        self.add_nodes(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        labels = {label.name: label.value for label in labels_of(parsed_args)}
        ids = self.writable().nodes.set_labels(None if parsed_args.nodes_all else parsed_args.nodes, labels)
        self.told("updated", ids)


class LabelDelete(_Some):
    """Delete labels of nodes

    A name deletes the label whatever its value is, name=value only where it has that value.

      fuel2 node label delete --labels rack --nodes 1 2
      fuel2 node label delete --labels-all --nodes-all
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        group = parser.add_mutually_exclusive_group(required=True)
        add_labels(group, "labels: name or name=value")
        group.add_argument("--labels-all", action="store_true", help="all labels")
        self.add_nodes(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        labels = None if parsed_args.labels_all else labels_of(parsed_args)
        ids = self.writable().nodes.delete_labels(None if parsed_args.nodes_all else parsed_args.nodes, labels)
        self.told("deleted", ids)
