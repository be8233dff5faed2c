"""The inputs of plans: an environment, its graphs and facts, and the memory of earlier runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fuelclient.model.environment import Environment
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.finding import Finding
from fuelclient.model.graph import Layer
from fuelclient.model.node import Node, NodeStatus

_DEPLOYED_ANEW = frozenset({NodeStatus.DISCOVER, NodeStatus.ERROR, NodeStatus.PROVISIONED, NodeStatus.STOPPED})


@dataclass(frozen=True, slots=True)
class Memory:
    """The successes of earlier runs of an environment.

    `last` has, by task and uid, the id of the run in which the task last succeeded there; `facts` has the facts of each
    of these runs. `forgotten` are the uids of nodes that are deployed anew: earlier runs on them do not count.
    """

    facts: Mapping[int, DeploymentFacts] = field(default_factory=dict)
    last: Mapping[tuple[str, str], int] = field(default_factory=dict)
    forgotten: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Inputs:
    """Everything that the plans of one request are computed from, fetched at one moment.

    `layers` has the layers of the environment for each graph type of the request, least important first. `memory` is
    None if the facts of earlier runs are unknown. `durations` has the seconds that task instances took when they last
    succeeded, by graph type, task and uid. `findings` are about the facts.
    """

    environment: Environment
    layers: Mapping[str, tuple[Layer, ...]]
    facts: DeploymentFacts
    memory: Memory | None = None
    durations: Mapping[tuple[str, str, str], float] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class EnvironmentChange:
    """An environment with its graphs before and after a change, without facts; `findings` are about the change."""

    before: Inputs
    after: Inputs
    findings: tuple[Finding, ...] = ()


def is_deployed_anew(node: Node) -> bool:
    """Whether earlier runs on the node do not count. Source: Nailgun `TransactionsManager`.

    >>> is_deployed_anew(Node(1, "a", status="discover")), is_deployed_anew(Node(1, "a", status="ready"))
    (True, False)
    """
    return node.pending_addition or bool(node.error_type) or node.status in _DEPLOYED_ANEW
