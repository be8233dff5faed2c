"""The facet of the boundary for networks and virtual addresses; `backends.base` has the others.

Documents are in the shapes of Nailgun's REST API, because people edit them as files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from fuelclient.backends.reading import reads


class Networks(Protocol):
    """The networks of environments, and the addresses that move between their nodes."""

    @reads
    def configuration(self, cluster_id: int) -> Mapping[str, Any]:
        """Return the network configuration: `networks`, `networking_parameters`, and `vips` by name."""

    def set_configuration(self, cluster_id: int, configuration: Mapping[str, Any]) -> Mapping[str, Any]:
        """Change the networks and parameters that a configuration has, and return the configuration.

        Raise `InvalidDocument`, with all findings where the backend has them, and change nothing, if one is wrong.
        """

    @reads
    def vips(
        self, cluster_id: int, *, vip_id: int | None = None, network_id: int | None = None, network_role: str = ""
    ) -> Sequence[Mapping[str, Any]]:
        """Return the virtual addresses of an environment, or those that all given filters match."""

    def set_vips(self, cluster_id: int, vips: Sequence[Mapping[str, Any]]) -> None:
        """Store virtual addresses, in the shape of `vips`, all or none; others stay."""

    def create_vip(
        self, cluster_id: int, name: str, address: str, *, network_id: int | None = None, namespace: str | None = None
    ) -> None:
        """Add a virtual address."""
