"""Nodes: the machines of an environment."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

DEPLOY_ERROR = "deploy"
"""The `error_type` of a node whose deployment failed."""

DEFAULT_EXECUTOR = "ssh"
"""The kind of executor for a node that has an address and names no kind."""

NO_EXECUTOR = "noop"
"""The kind of executor that connects to no machine."""

_ADDRESS = re.compile(r"[A-Za-z0-9.:%_-]{1,253}")
_LABEL = re.compile(r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?")


class NodeStatus(StrEnum):
    """The status of a node, in Nailgun's words."""

    READY = "ready"
    DISCOVER = "discover"
    PROVISIONING = "provisioning"
    PROVISIONED = "provisioned"
    DEPLOYING = "deploying"
    ERROR = "error"
    REMOVING = "removing"
    STOPPED = "stopped"


_BEFORE_DEPLOYMENT = frozenset({NodeStatus.DISCOVER, NodeStatus.PROVISIONING, NodeStatus.PROVISIONED})

DELETED = "deleted"
"""The status in a graph's `node_attributes` that takes a node out of its environment."""


@dataclass(frozen=True, slots=True)
class Node:
    """A machine.

    `roles` are deployed, `pending_roles` wait for a successful run; `primary_tags` are the tags whose primary it
    is. `executor` is the kind of executor that reaches it; without one, a node with an `ip` is reached by the
    default kind. Users sort nodes by `labels`; None marks a label without a value.
    """

    id: int
    name: str
    cluster_id: int | None = None
    status: str = NodeStatus.PROVISIONED
    roles: tuple[str, ...] = ()
    pending_roles: tuple[str, ...] = ()
    primary_tags: tuple[str, ...] = ()
    ip: str = ""
    mac: str = ""
    online: bool = True
    executor: str = ""
    ssh: Mapping[str, Any] = field(default_factory=dict)
    attributes: Mapping[str, Any] = field(default_factory=dict)
    error_type: str = ""
    pending_addition: bool = False
    pending_deletion: bool = False
    labels: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def hostname(self) -> str:
        """The host name: the attribute of that name, or else `node-ID`, as a master gives it."""
        return str(self.attributes.get("hostname") or f"node-{self.id}")

    @property
    def reached_by(self) -> str:
        """The kind of executor that reaches the node, or an empty string if it has neither executor nor address."""
        return self.executor or (DEFAULT_EXECUTOR if self.ip else "")

    @property
    def all_roles(self) -> tuple[str, ...]:
        """Deployed and pending roles, each once, in that order.

        >>> Node(1, "a", roles=("db",), pending_roles=("web", "db")).all_roles
        ('db', 'web')
        """
        return tuple(dict.fromkeys((*self.roles, *self.pending_roles)))

    @property
    def was_deployed(self) -> bool:
        """Whether a deployment has begun on the node.

        >>> [Node(1, "a", status=status).was_deployed for status in ("ready", "stopped", "provisioned")]
        [True, True, False]
        """
        return self.status not in _BEFORE_DEPLOYMENT and self.error_type != "provision"

    def freed(self, status: str = "") -> Node:
        """The node outside of any environment, without roles or errors. If there is no `status`, it keeps its own, or
        becomes provisioned if it was deployed.

        >>> Node(1, "a", 7, "ready", roles=("db",)).freed().status, Node(1, "a", 7, "discover").freed().status
        (<NodeStatus.PROVISIONED: 'provisioned'>, 'discover')
        """
        status = status or (self.status if self.status in _BEFORE_DEPLOYMENT else NodeStatus.PROVISIONED)
        return replace(
            self, cluster_id=None, status=status, roles=(), pending_roles=(), primary_tags=(), error_type="",
            pending_addition=False, pending_deletion=False,
        )  # fmt: skip


def is_address(text: str) -> bool:
    """Whether a string can be the address of a node: IPv4, IPv6, or the name of a host (RFC 1123).

    A name whose last part is a number is not allowed, because it is a mistyped IPv4 address.

    >>> [is_address(text) for text in ("10.20.0.3", "fe80::1%eth0", "node-1.domain.tld")]
    [True, True, True]
    >>> [is_address(text) for text in ("10.20.0.300", "10.20.0.3/24", "node 1", "-x", "")]
    [False, False, False, False, False]
    """
    from ipaddress import ip_address  # listings do not need it

    if not _ADDRESS.fullmatch(text):
        return False
    try:
        ip_address(text)
    except ValueError:
        labels = text.removesuffix(".").split(".")
        return all(map(_LABEL.fullmatch, labels)) and not labels[-1].isdigit()
    return True
