"""What nodes may be called, whichever way they come: created one by one, imported, or given to an environment.

A name tells the nodes of one environment apart, and those that are in none. It need not be the only one of the whole
engine: environments are independent, and one that is deleted must be able to let its nodes go. So only who comes is
checked, and a node that leaves keeps its name. Nailgun checks no names at all.
"""

from __future__ import annotations

from collections.abc import Iterable

from fuelclient.engine.reading import lookup
from fuelclient.errors import Conflict, UsageError
from fuelclient.model.node import Node
from fuelclient.serializers.node import is_address

HOSTNAME = "hostname"
"""The attribute of a node that has its host name, where that is not its name."""


def require_sound(wanted: Iterable[Node]) -> None:
    """Nothing happens when all nodes have an id, a name and an address that can be one; `UsageError` otherwise."""
    for node in wanted:
        lookup.require_id("node", node.id)
        if not node.name.strip():
            raise UsageError("A node needs a name.")
        require_printable("node", node.name)
        if node.ip and not is_address(node.ip):
            hint = "Write it like 10.20.0.3 or node-1.domain.tld."
            raise UsageError(f"{node.ip!r} is neither an address nor a host name.", hint=hint)


def require_printable(noun: str, name: str) -> None:
    """Nothing happens for a name that can be shown in one line; `UsageError` for one with control characters or others
    that cannot be printed: they would command terminals, and hide what a name really is."""
    if not name.isprintable():
        article = "an" if noun[0] in "aeiou" else "a"
        raise UsageError(
            f"{name!r} cannot be the name of {article} {noun}: it has unprintable characters.",
            hint="Write printable letters only.",
        )


def require_free_names(present: Iterable[Node], coming: Iterable[Node], where: str) -> None:
    """Nothing happens when `coming` have names that differ from one another and from those that are `present`;
    `Conflict` otherwise. `where` is where all of them would be then."""
    taken = {node.name: node.id for node in present}
    seen: set[str] = set()
    for node in coming:
        if node.name in taken:
            raise Conflict(
                f"{where} has a node {node.name} already, with id {taken[node.name]}.",
                hint="Choose another name; nothing was changed.",
            )
        if node.name in seen:
            raise Conflict(f"Two of the nodes are called {node.name}.", hint="Rename one; nothing was changed.")
        seen.add(node.name)


def require_free_hostname(present: Iterable[Node], hostname: str, where: str) -> None:
    """Nothing happens for a host name that none of the nodes that are `present` has; `UsageError` for a text that can
    be none (RFC 1123), `Conflict` for one that is taken."""
    if ":" in hostname or not is_address(hostname) or hostname.replace(".", "").isdigit():
        raise UsageError(f"{hostname!r} is no host name.", hint="Write it like node-1 or node-1.domain.tld.")
    for node in present:
        if hostname in (node.attributes.get(HOSTNAME), node.name):
            raise Conflict(
                f"{where} has a node {hostname} already, with id {node.id}.",
                hint="Choose another host name; nothing was changed.",
            )
