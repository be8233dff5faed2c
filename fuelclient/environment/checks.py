"""Names and ids that users give: whether they are possible, and which plugin a name means."""

from __future__ import annotations

from collections.abc import Sequence

from fuelclient.errors import NotFound, UsageError
from fuelclient.model.node import Node, is_address
from fuelclient.model.plugin import Plugin

LARGEST_ID = 2**31 - 1
"""The largest id that a caller can give, as in Nailgun. The store counts on from its largest id, so that there has to
be room above."""


def require_id(noun: str, number: int) -> None:
    """Raise `UsageError` if a number cannot be given as an id. 0, which asks for a free id, can."""
    if not 0 <= number <= LARGEST_ID:
        raise UsageError(f"{number} cannot be the id of a {noun}.", hint=f"Ids are numbers from 1 to {LARGEST_ID}.")


def require_node(node: Node) -> None:
    """Raise `UsageError` if a node has an impossible id or address, or no name."""
    require_id("node", node.id)
    if not node.name.strip():
        raise UsageError("A node needs a name.")
    if node.ip and not is_address(node.ip):
        hint = "Write it like 10.20.0.3 or node-1.domain.tld."
        raise UsageError(f"{node.ip!r} is neither an address nor a host name.", hint=hint)


def require_sequence(name: str, graph_types: Sequence[str]) -> None:
    """Raise `UsageError` if a sequence has no name or no graph types."""
    if not name.strip():
        raise UsageError("A sequence needs a name.", hint="Choose one that its release does not have yet.")
    if not graph_types:
        raise UsageError(f"Sequence {name} needs at least one graph type.", hint="List its types in their order.")


def plugin_named(plugins: Sequence[Plugin], name: str, version: str, first: str) -> Plugin:
    """Return the plugin of this name and version.

    Raise `NotFound` if no plugin has it, with the hint `first` if there are no plugins at all. Raise `UsageError` if
    there are several versions and none is given.
    """
    matching = [plugin for plugin in plugins if plugin.name == name and version in ("", plugin.version)]
    if not matching:
        labels = dict.fromkeys(f"{plugin.name} {plugin.version}" if version else plugin.name for plugin in plugins)
        raise NotFound("plugin", f"{name} {version}".strip(), known=[*labels], hint="" if plugins else first)
    if len(matching) > 1:
        versions = ", ".join(f"{plugin.version} (id {plugin.id})" for plugin in matching)
        raise UsageError(f"Plugin {name} is installed in several versions: {versions}.", hint="Name one of them.")
    return matching[0]
