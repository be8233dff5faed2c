"""Labels of nodes: list, set, delete, and select nodes by them."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from fuelclient.commands.arguments import YES, Argument, flag, nodes_option, nodes_or_all, one_of, option
from fuelclient.commands.base import Command, Lister
from fuelclient.commands.shell import LOG
from fuelclient.errors import UsageError

if TYPE_CHECKING:
    from fuelclient.model.label import Label
    from fuelclient.model.node import Node


def labels_option(help: str, *, required: bool = False) -> Argument:
    """Return `--labels a b=c`: `labels` is a list of texts, or None; `labels_of` reads it."""
    return option("-l", "--labels", nargs="+", action="extend", required=required, metavar="LABEL", help=help)


def labels_of(parsed_args: argparse.Namespace) -> tuple[Label, ...]:
    """Return the labels that `labels_option` names. Raise `UsageError` for one without a name."""
    from fuelclient.model.label import label_from

    labels = tuple(label_from(text) for text in parsed_args.labels or ())
    for text, label in zip(parsed_args.labels or (), labels, strict=True):
        if not label.name:
            raise UsageError(f"The label {text!r} has no name.", hint="Write it as name or name=value.")
    return labels


def labelled(nodes: Iterable[Node], wanted: Sequence[Label]) -> list[Node]:
    """Return the nodes with one of the labels, or all nodes if no labels are wanted."""
    from fuelclient.model.label import has_any

    return [node for node in nodes if not wanted or has_any(node.labels, wanted)]


class _OnNodes(Command):
    """A command about the nodes of `--nodes`, or about all nodes."""

    def say_changed(self, verb: str, ids: Iterable[int]) -> None:
        """Say which nodes were changed. Scripts match the blank at the end."""
        changed = ",".join(map(str, ids))
        if not changed:
            LOG.warning("There are no nodes.")
        self.say(f"Labels have been {verb} on nodes: {changed} ")


class LabelList(Lister):
    """List the labels of nodes

    fuel2 node label list
    fuel2 node label list --nodes 1 2
    """

    columns = ("node_id", "label_name", "label_value")
    sort_by = "node_id"

    arguments = (nodes_option(required=False, help="only labels of these nodes: 1 2 or 1,2"),)

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:
        facet = self.backend.nodes
        nodes = facet.list() if parsed_args.nodes is None else [facet.get(node_id) for node_id in parsed_args.nodes]
        return [(node.id, name, value) for node in nodes for name, value in sorted(node.labels.items())]


class LabelSet(_OnNodes):
    """Set labels of nodes

    A label is a name with or without a value. Other labels of a node stay. Either all nodes get the labels or none.

      fuel2 node label set --labels rack=b ssd --nodes 1 2
      fuel2 node label set --labels site=west --nodes-all
    """

    arguments = (labels_option("labels: name or name=value", required=True), nodes_or_all("all nodes"))

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        labels = {label.name: label.value for label in labels_of(parsed_args)}
        ids = self.writable().nodes.set_labels(parsed_args.nodes, labels)
        self.say_changed("updated", ids)


class LabelDelete(_OnNodes):
    """Delete labels of nodes

    A name deletes the label with any value, name=value only with that value. On a terminal the command asks first,
    unless you use --yes.

      fuel2 node label delete --labels rack --nodes 1 2
      fuel2 node label delete --labels-all --nodes-all
    """

    arguments = (
        one_of(labels_option("labels: name or name=value"), flag("--labels-all", help="all labels"), required=True),
        nodes_or_all("all nodes"),
        YES,
    )

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        labels = None if parsed_args.labels_all else labels_of(parsed_args)
        what = "all labels" if labels is None else f"the labels {', '.join(parsed_args.labels)}"
        where = "all nodes" if parsed_args.nodes is None else f"nodes {', '.join(map(str, parsed_args.nodes))}"
        self.ask(parsed_args, lambda: f"Delete {what} of {where}?")
        ids = self.writable().nodes.delete_labels(parsed_args.nodes, labels)
        self.say_changed("deleted", ids)
