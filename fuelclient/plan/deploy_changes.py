"""Choose the graphs that delete, provision and deploy the nodes of an environment.

Source: Nailgun's API call `changes`. A release of Fuel 9 and later lists the graphs in a sequence named
`deploy-changes`. Without it, the types are those of Nailgun and of the specification "plugins-v5". Graphs that would
have no nodes are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from fuelclient.model.graph import DEFAULT_TYPE
from fuelclient.model.node import Node, NodeStatus

DEPLOY_CHANGES = "deploy-changes"
"""The name of the sequence of graphs that deploys the environments of a release."""

PROVISION_TYPES = ("provision", "provisioning")
DELETION_TYPES = ("deletion",)
RESET_TYPES = ("reset",)


@dataclass(frozen=True, slots=True)
class Changes:
    """The types of the graphs that deploy an environment, in their order.

    `unprovisioned` and `leaving` are the ids of nodes that no graph would provision or delete. `sequence` is the name
    of the sequence that lists the types, or empty.
    """

    graph_types: tuple[str, ...]
    unprovisioned: tuple[int, ...] = ()
    leaving: tuple[int, ...] = ()
    sequence: str = ""


def is_unprovisioned(node: Node) -> bool:
    """Whether the node still lacks the operating system of the environment.

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


def changes(nodes: Iterable[Node], has_graph: Callable[[str], bool], given: Sequence[str] = ()) -> Changes:
    """Choose the graphs that deploy an environment of `nodes`.

    `has_graph` returns whether the environment has a graph of a type with tasks in it. `given` are the types in the
    release's own sequence. Ignore offline nodes.

    >>> nodes = [Node(1, "a", status="discover"), Node(2, "b", pending_deletion=True), Node(3, "c")]
    >>> changes(nodes, {"provisioning", "default"}.__contains__)
    Changes(graph_types=('provisioning', 'default'), unprovisioned=(), leaving=(2,), sequence='')
    """
    present = [node for node in nodes if node.online]
    leaving = tuple(node.id for node in present if is_leaving(node))
    unprovisioned = tuple(node.id for node in present if is_unprovisioned(node))
    if given:
        unneeded = {*(() if leaving else DELETION_TYPES), *(() if unprovisioned else PROVISION_TYPES)}
        return Changes(tuple(name for name in given if name not in unneeded), sequence=DEPLOY_CHANGES)
    deletion = next(filter(has_graph, DELETION_TYPES), "") if leaving else ""
    provision = next(filter(has_graph, PROVISION_TYPES), "") if unprovisioned else ""
    stays = not deletion or any(not is_leaving(node) for node in present)
    return Changes(
        tuple(filter(None, (deletion, provision, DEFAULT_TYPE if stays else ""))),
        () if provision else unprovisioned,
        () if deletion else leaving,
    )
