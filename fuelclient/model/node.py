"""Nodes: the machines of an environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

DEPLOY_ERROR = "deploy"
"""The `error_type` of a node whose deployment failed."""

DEFAULT_EXECUTOR = "ssh"
"""The kind of executor that reaches a node which names none. It needs an address."""


class NodeStatus(StrEnum):
    """Nailgun's words for the state of a node."""

    READY = "ready"
    DISCOVER = "discover"
    PROVISIONING = "provisioning"
    PROVISIONED = "provisioned"
    DEPLOYING = "deploying"
    ERROR = "error"
    REMOVING = "removing"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Node:
    """A machine.

    `roles` are deployed, `pending_roles` wait for a successful run; `primary_tags` are the tags of which it is the
    primary. `executor` is the kind of executor that reaches it; without one, a node with an `ip` is reached by the
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
