"""Check the names of nodes that are created, imported, renamed, or added to an environment.

A name is unique among the nodes of one environment, and among the free nodes, but not in the whole engine: environments
are independent, and deleting one must be able to free its nodes. So only nodes that come are checked, and a node that
leaves keeps its name. Nailgun checks no names at all.
"""

from __future__ import annotations

from collections.abc import Iterable

from fuelclient.environment.checks import require_node, require_printable
from fuelclient.errors import Conflict, UsageError
from fuelclient.model.node import Node, is_address
from fuelclient.similar import normal

HOSTNAME = "hostname"
"""The attribute of a node with its host name, if that is not its name."""


def require_sound(wanted: Iterable[Node]) -> None:
    """Raise `UsageError` if a node has an impossible id, name or address."""
    for node in wanted:
        require_node(node)
        require_printable("node", node.name)


def require_free_names(present: Iterable[Node], coming: Iterable[Node], where: str) -> None:
    """Raise `Conflict` if a coming node has the name of another one, or of one that is `present` in `where`."""
    taken = {normal(node.name): node.id for node in present}
    seen: set[str] = set()
    for node in coming:
        name = normal(node.name)
        if name in taken:
            raise _taken(where, node.name, taken[name])
        if name in seen:
            raise Conflict(f"Two of the nodes are called {node.name}.", hint="Rename one; nothing was changed.")
        seen.add(name)


def require_free_hostname(present: Iterable[Node], hostname: str, where: str) -> None:
    """Raise `UsageError` for an impossible host name (RFC 1123), `Conflict` if a node in `where` has it."""
    if ":" in hostname or not is_address(hostname) or hostname.replace(".", "").isdigit():
        raise UsageError(f"{hostname!r} is not a host name.", hint="Write it like node-1 or node-1.domain.tld.")
    for node in present:
        if hostname in (node.attributes.get(HOSTNAME), node.name):
            raise _taken(where, hostname, node.id)


def _taken(where: str, name: str, node_id: int) -> Conflict:
    return Conflict(
        f"{where} has a node {name} already, with id {node_id}.", hint="Choose another name; nothing was changed."
    )
