"""The facets of the boundary for what environments are made of: releases, nodes, roles and tags.

`backends.base` has the others, and all of them together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from fuelclient.model.release import Role, Tag

if TYPE_CHECKING:
    from fuelclient.model.graph import OwnerRef
    from fuelclient.model.label import Label
    from fuelclient.model.node import Node
    from fuelclient.model.release import Release

Value = TypeVar("Value")


class Releases(Protocol):
    """Releases and what they bring."""

    def list(self) -> Sequence[Release]:
        """All releases by id."""

    def get(self, release_id: int) -> Release:
        """One release; `NotFound` when there is none."""

    def create(self, releases: Sequence[Release]) -> Sequence[Release]:
        """Store all of `releases` or none; an id of 0, or one that is taken, gets the next free one.

        Each gets an empty graph of the default type. Raises `Conflict` when one of the same name and version
        exists, or is given twice, `UsageError` for an id below 0 or above 2147483647.
        """

    def delete(self, release_id: int) -> None:
        """Remove a release with its graphs; `Conflict` while an environment uses it, and for one that belongs to a
        plugin, with which it goes."""

    def components(self, release_id: int) -> Sequence[Mapping[str, Any]]:
        """The components of a release, then those of the plugins that extend it, as they are written."""

    def repositories(self, release_id: int) -> Sequence[Mapping[str, Any]]:
        """The package repositories of a release, in its order."""

    def set_repositories(self, release_id: int, repositories: Sequence[Mapping[str, Any]]) -> None:
        """The repositories of a release are these. `Conflict` for a release that a plugin defines."""


class Nodes(Protocol):
    """Nodes."""

    def list(self, cluster_id: int | None = None) -> Sequence[Node]: ...

    def get(self, node_id: int) -> Node: ...

    def create(self, nodes: Sequence[Node]) -> Sequence[Node]:
        """Store all of `nodes` or none. An id of 0 gets the next free one; `Conflict` for an id that exists;
        `NotFound` for an unknown environment or a role that its release does not know, `Conflict` for roles that
        `Clusters.add_nodes` would refuse.

        Names tell the nodes of one environment apart, and so they do those that are in none: `Conflict` for one that
        is taken there. A node that leaves its environment keeps its name, whoever has it elsewhere. `UsageError`
        for a blank name, an `ip` that is neither an address nor a host name, and an id above 2147483647.
        """

    def delete(self, node_ids: Sequence[int], *, force: bool = False) -> None:
        """Remove nodes; `Conflict` for one that belongs to an environment and not `force`."""

    def update(self, node_id: int, *, name: str | None = None, hostname: str | None = None) -> Node:
        """The node under another name, with another host name, or both; what is None stays. `UsageError` for nothing of
        both and for what no node can be called, `Conflict` for what another node of its environment is called."""

    def attributes(self, node_id: int) -> Mapping[str, Any]:
        """What was stated of a node beyond its record; tasks see it among its facts."""

    def set_attributes(self, node_id: int, attributes: Mapping[str, Any]) -> Node:
        """The attributes of a node are these, and nothing that was stated before."""

    def set_labels(self, node_ids: Sequence[int] | None, labels: Mapping[str, str | None]) -> Sequence[int]:
        """Nodes (None: all) have these labels beside those they had; which nodes these are. All or nothing:
        `NotFound` for an unknown one, `UsageError` for a label without a name."""

    def delete_labels(self, node_ids: Sequence[int] | None, labels: Sequence[Label] | None) -> Sequence[int]:
        """Nodes (None: all) have these labels (None: any) no more, whether they had or not; which nodes these are."""


class Descriptions(Protocol[Value]):
    """What releases and environments describe by name: roles, tags.

    An owner is a release or an environment. What an environment has only from its release or from a plugin is not its
    own. Every method raises `NotFound` for an owner that does not exist.
    """

    def of_release(self, release_id: int) -> Mapping[str, Value]: ...

    def of_cluster(self, cluster_id: int) -> Mapping[str, Value]:
        """Those of its release, of its enabled plugins, and its own."""

    def create(self, owner: OwnerRef, value: Value, /) -> Value:
        """A new one; in an environment it takes the place of one of its release or of a plugin. `Conflict` when the
        owner has one of this name itself, or is a release that a plugin defines, `UsageError` for a name that cannot
        be one."""

    def update(self, owner: OwnerRef, value: Value, /) -> Value:
        """The one of this name is `value`. `NotFound` when there is none, `Conflict` when it is not the owner's own."""

    def delete(self, owner: OwnerRef, name: str) -> None:
        """Remove one. Errors as in `update`, and `Conflict` while something needs it."""


class Roles(Descriptions[Role], Protocol):
    """Roles. `create` and `update` also raise `InvalidDocument` for a volume that nobody defines; a role is needed
    while a node has it whose environment would not know it any more."""


class Tags(Descriptions[Tag], Protocol):
    """Tags: by what tasks are placed. Those of a release include those that only a role names, and `create` describes
    one of these; a tag is needed while a role carries it that nobody else describes."""
