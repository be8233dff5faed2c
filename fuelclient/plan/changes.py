"""Changes: which graphs deploy an environment as it is now, its nodes to be deleted and to be provisioned included.

Source: Nailgun's `changes`, which deletes, provisions and deploys; a release of Fuel 9 and later says with a sequence
called `deploy-changes` by which graphs. Without one, the types are those that Nailgun and the specification
"plugins-v5" have. A graph that would find no node is left out: it could not run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from fuelclient.model.graph import DEFAULT_TYPE
from fuelclient.model.node import Node, NodeStatus

DEPLOY_CHANGES = "deploy-changes"
"""The sequence of a release that says by which graphs its environments are deployed."""

PROVISION_TYPES = ("provision", "provisioning")
DELETION_TYPES = ("deletion",)
RESET_TYPES = ("reset",)


@dataclass(frozen=True, slots=True)
class Changes:
    """The types of the graphs that deploy an environment, in their order; `unprovisioned` and `leaving` are the ids of
    nodes that stay as they are, because there is no graph that would provision or delete them."""

    graph_types: tuple[str, ...]
    unprovisioned: tuple[int, ...] = ()
    leaving: tuple[int, ...] = ()


def is_unprovisioned(node: Node) -> bool:
    """Whether the node has no operating system of the environment yet.

    >>> is_unprovisioned(Node(1, "a", status="discover")), is_unprovisioned(Node(1, "a", status="provisioned"))
    (True, False)
    """
    return not is_leaving(node) and (node.status == NodeStatus.DISCOVER or node.error_type == "provision")


def is_leaving(node: Node) -> bool:
    """Whether the node is to be deleted from its environment.

    >>> is_leaving(Node(1, "a", pending_deletion=True)), is_leaving(Node(1, "a", error_type="deletion"))
    (True, True)
    """
    return node.pending_deletion or node.error_type == "deletion"


def changes(nodes: Iterable[Node], has_graph: Callable[[str], bool], stated: Sequence[str] = ()) -> Changes:
    """The graphs that deploy an environment of `nodes`; `has_graph` says whether it has one of a type with tasks in it.

    `stated` are the types that the release's own sequence has. Nodes that are offline are not waited for.

    >>> nodes = [Node(1, "a", status="discover"), Node(2, "b", pending_deletion=True), Node(3, "c")]
    >>> changes(nodes, {"provisioning", "default"}.__contains__)
    Changes(graph_types=('provisioning', 'default'), unprovisioned=(), leaving=(2,))
    """
    present = [node for node in nodes if node.online]
    leaving = tuple(node.id for node in present if is_leaving(node))
    unprovisioned = tuple(node.id for node in present if is_unprovisioned(node))
    if stated:
        idle = {*(() if leaving else DELETION_TYPES), *(() if unprovisioned else PROVISION_TYPES)}
        return Changes(tuple(one for one in stated if one not in idle))
    deletion = next(filter(has_graph, DELETION_TYPES), "") if leaving else ""
    provision = next(filter(has_graph, PROVISION_TYPES), "") if unprovisioned else ""
    stays = not deletion or any(not is_leaving(node) for node in present)
    return Changes(
        tuple(filter(None, (deletion, provision, DEFAULT_TYPE if stays else ""))),
        () if provision else unprovisioned,
        () if deletion else leaving,
    )
