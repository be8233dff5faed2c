"""What a Fuel master has besides deployments: extensions, OpenStack configurations, network groups, health checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Extension:
    """A part of the master that handles one matter of environments, such as the disks of nodes."""

    name: str
    version: str = ""
    description: str = ""
    provides: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OpenstackConfig:
    """Settings of OpenStack services for an environment, one of its nodes, or the nodes of a role.

    It is inactive if another configuration replaced it or it was deleted.
    """

    id: int
    cluster_id: int
    config_type: str = ""
    is_active: bool = True
    node_id: int | None = None
    node_role: str | None = None
    configuration: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NetworkGroup:
    """A network of the nodes of one node group. `meta` has its other properties, under Nailgun's names."""

    id: int
    name: str
    vlan_start: int | None = None
    cidr: str | None = None
    gateway: str | None = None
    group_id: int | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The task that collects a diagnostic snapshot, with the URL of the snapshot once it is ready, or with the
    master's message."""

    status: str
    link: str | None = None
    message: str = ""


@dataclass(frozen=True, slots=True)
class TestSet:
    """A set of health checks."""

    __test__ = False  # pytest would take the class for tests
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class HealthTest:
    """The result of one health check."""

    name: str
    status: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class TestRun:
    """A run of a set of health checks. In lists of runs, `tests` is empty."""

    __test__ = False
    id: int
    testset: str
    cluster_id: int | None
    status: str = ""
    started_at: str | None = None
    ended_at: str | None = None
    tests: tuple[HealthTest, ...] = ()


@dataclass(frozen=True, slots=True)
class OstfCredentials:
    """The OpenStack user for health checks. Fields that are None are taken from the environment's administrator."""

    username: str | None = None
    password: str | None = field(default=None, repr=False)
    tenant: str | None = None

    @property
    def any_given(self) -> bool:
        return any(value is not None for value in (self.username, self.password, self.tenant))
