"""The parts of the backend interface (facets) for releases, nodes, networks, roles, tags, sequences and copies of
environments.

`backends.base` has the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from fuelclient.model.release import Release, Role, Tag

if TYPE_CHECKING:
    from fuelclient.environment.differences import Copied, EnvironmentCopy
    from fuelclient.model.graph import OwnerRef
    from fuelclient.model.label import Label
    from fuelclient.model.node import Node
    from fuelclient.model.sequence import DeploymentSequence

Value = TypeVar("Value")
Method = TypeVar("Method", bound=Callable[..., Any])


def reads(method: Method) -> Method:
    """Mark a method that changes nothing: users who may only read may call it, and clients may send it again."""
    method._reads = True  # type: ignore[attr-defined]
    return method


class Releases(Protocol):
    @reads
    def list(self) -> Sequence[Release]:
        """All releases, in the order of their ids."""

    @reads
    def get(self, release_id: int) -> Release:
        """Raise `NotFound` if it does not exist."""

    def create(self, releases: Sequence[Release]) -> Sequence[Release]:
        """Create all of `releases` or none, each with an empty graph of the default type.

        An id of 0, or one that is taken, is replaced by the next free one. Raise `Conflict` if a release with the same
        name and version already exists or is given twice, `UsageError` for an id below 0 or above 2147483647.
        """

    def delete(self, release_id: int) -> None:
        """Remove a release with its graphs. Raise `Conflict` if an environment uses it, or if a plugin defines it."""

    @reads
    def components(self, release_id: int) -> Sequence[Mapping[str, Any]]:
        """The components of a release, then those of the plugins that extend it, unchanged."""

    @reads
    def repositories(self, release_id: int) -> Sequence[Mapping[str, Any]]: ...

    def update(self, release: Release) -> Release:
        """Store all fields of the release with this id; sections of metadata that it leaves out stay.

        Raise `NotFound` if it does not exist, `Conflict` if another one has its name and version, if it belongs to a
        plugin, or if it would no longer have a role that a node has.
        """

    def set_repositories(self, release_id: int, repositories: Sequence[Mapping[str, Any]]) -> None:
        """Replace the package repositories of a release. Raise `Conflict` if a plugin defines it."""


class Nodes(Protocol):
    @reads
    def list(self, cluster_id: int | None = None) -> Sequence[Node]: ...

    @reads
    def get(self, node_id: int) -> Node: ...

    def create(self, nodes: Sequence[Node]) -> Sequence[Node]:
        """Create all of `nodes` or none; an id of 0 is replaced by the next free one.

        Nodes that name an environment join it as in `Clusters.add_nodes`, with the same errors. Raise `Conflict` for an
        id that is taken, and for a name that another node of the environment, or another free node, has; a node that
        leaves its environment keeps its name. Raise `UsageError` for a blank name, an `ip` that is neither an address
        nor a host name, and an id above 2147483647.
        """

    def delete(self, node_ids: Sequence[int], *, force: bool = False) -> None:
        """Remove nodes. Raise `Conflict` for one that is in an environment, unless `force`."""

    def update(self, node_id: int, *, name: str | None = None, hostname: str | None = None) -> Node:
        """Change the name, the host name, or both; what is None stays.

        Raise `UsageError` if both are None or one is invalid, `Conflict` if another node of its environment has it.
        """

    @reads
    def attributes(self, node_id: int) -> Mapping[str, Any]:
        """The free attributes of a node, which tasks see among its facts."""

    def set_attributes(self, node_id: int, attributes: Mapping[str, Any]) -> Node: ...

    @reads
    def disks(self, node_id: int) -> Sequence[Any]:
        """The disks of a node with their volumes, in Nailgun's shape."""

    @reads
    def default_disks(self, node_id: int) -> Sequence[Any]:
        """The disks of a node with the volumes that follow from its roles."""

    def set_disks(self, node_id: int, disks: Sequence[Any]) -> Sequence[Any]:
        """Store the disks of a node. Raise `InvalidDocument` if they are invalid."""

    @reads
    def interfaces(self, node_id: int) -> Sequence[Any]:
        """The interfaces of a node with their networks, in Nailgun's shape."""

    @reads
    def default_interfaces(self, node_id: int) -> Sequence[Any]:
        """The interfaces of a node with the networks that they have at first."""

    def set_interfaces(self, node_id: int, interfaces: Sequence[Any]) -> Sequence[Any]:
        """Store the interfaces of a node. Raise `InvalidDocument` if they are invalid."""

    def set_labels(self, node_ids: Sequence[int] | None, labels: Mapping[str, str | None]) -> Sequence[int]:
        """Add labels to nodes (None: all nodes) and return the ids of the nodes. After an error, no node is changed; on
        a Fuel master, the nodes before it stay changed.

        Raise `NotFound` for an unknown node, `UsageError` for a label without a name.
        """

    def delete_labels(self, node_ids: Sequence[int] | None, labels: Sequence[Label] | None) -> Sequence[int]:
        """Remove labels (None: all) from nodes (None: all) and return the ids of the nodes."""


class Networks(Protocol):
    """The networks of environments, and the addresses that move between their nodes.

    Documents are in the shapes of Nailgun's REST API, because people edit them as files.
    """

    @reads
    def configuration(self, cluster_id: int) -> Mapping[str, Any]:
        """The network configuration: `networks`, `networking_parameters`, and `vips` by name."""

    def set_configuration(self, cluster_id: int, configuration: Mapping[str, Any]) -> Mapping[str, Any]:
        """Change the networks and parameters that a configuration has, and return the whole.

        Raise `InvalidDocument`, with all findings where the backend has them, and change nothing, if one is invalid.
        """

    @reads
    def vips(
        self, cluster_id: int, *, vip_id: int | None = None, network_id: int | None = None, network_role: str = ""
    ) -> Sequence[Mapping[str, Any]]:
        """The virtual addresses of an environment, or those that match all given filters."""

    def set_vips(self, cluster_id: int, vips: Sequence[Mapping[str, Any]]) -> None:
        """Store virtual addresses, in the shape of `vips`, all or none; others stay."""

    def create_vip(
        self, cluster_id: int, name: str, address: str, *, network_id: int | None = None, namespace: str | None = None
    ) -> None: ...


class Descriptions(Protocol[Value]):
    """The roles or the tags that releases and environments describe, by name.

    An owner is a release or an environment. What an environment has only from its release or a plugin is not its own.
    All methods raise `NotFound` if the owner does not exist.
    """

    @reads
    def of_release(self, release_id: int) -> Mapping[str, Value]:
        """The roles, or the tags, of a release by name, in its order."""

    @reads
    def of_cluster(self, cluster_id: int) -> Mapping[str, Value]:
        """The roles, or the tags, of an environment by name: its own, and those of its release and enabled plugins."""

    def create(self, owner: OwnerRef, value: Value, /) -> Value:
        """Add a role or a tag, and return the effective one: an environment's own replaces that of its release,
        and a plugin's replaces both.

        Raise `Conflict` if the owner itself has one of this name, or is a release that a plugin defines. Raise
        `UsageError` for an impossible name.
        """

    def update(self, owner: OwnerRef, value: Value, /) -> Value:
        """Replace the role or tag of this name. Raise `NotFound`, or `Conflict` if it is not the owner's own."""

    def delete(self, owner: OwnerRef, name: str) -> None:
        """Remove a role or a tag. Raise what `update` raises, and `Conflict` while it is in use."""


class Roles(Descriptions[Role], Protocol):
    """Roles.

    `create` and `update` also raise `InvalidDocument` for an undefined volume. A role is in use while a node has it and
    nothing else in the node's environment defines it.
    """


class Tags(Descriptions[Tag], Protocol):
    """Tags, which decide where tasks are placed.

    A release also has tags that its roles name but nothing describes; `create` can add the description of such a tag. A
    tag is in use while a role carries it and no other owner describes it.
    """


class Sequences(Protocol):
    """Named sequences of graphs, each for the environments of one release."""

    @reads
    def list(self, *, release_id: int | None = None, cluster_id: int | None = None) -> Sequence[DeploymentSequence]:
        """All sequences, those of a release, or those that an environment can execute, in the order of their ids."""

    @reads
    def get(self, sequence_id: int) -> DeploymentSequence:
        """Raise `NotFound` if it does not exist."""

    @reads
    def for_cluster(self, sequence_id: int, cluster_id: int) -> DeploymentSequence:
        """Find a sequence that an environment can execute.

        Raise `NotFound` if either does not exist, or if the sequence belongs to another release.
        """

    def create(self, release_id: int, name: str, graph_types: Sequence[str]) -> DeploymentSequence:
        """Create a sequence. Raise `Conflict` if the name is taken, `UsageError` if there are no graph types."""

    def update(
        self, sequence_id: int, *, name: str | None = None, graph_types: Sequence[str] | None = None
    ) -> DeploymentSequence:
        """Change the name, the graph types, or both; what is None stays. Raise `UsageError` if both are."""

    def delete(self, sequence_id: int) -> None: ...


class Copies(Protocol):
    """Copies of environments of other backends."""

    def store(self, copy: EnvironmentCopy, name: str = "") -> Copied:
        """Store an environment, with its release and its plugins, under its own name or another one; all or nothing.

        Nodes keep their ids, because facts name them. A release or a plugin of the same name and version is used if it
        is equal. Raise `Conflict` if it is not, and if the name of the environment or the id of a node is taken.
        """

    def graphs(self, cluster_id: int) -> Mapping[str, str]:
        """The digests that the original's graphs had when the copy was made, by their labels.

        The mapping is empty for an environment that is not a copy, and for copies made by earlier versions.
        """

    def set_graphs(self, cluster_id: int, digests: Mapping[str, str]) -> None:
        """Store the digests of the original's graphs that the copy is now based on."""
