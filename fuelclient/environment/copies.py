"""A copy of an environment: what it consists of, wherever it was read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fuelclient.model.fact import NO_FACTS, DeploymentFacts
from fuelclient.model.graph import Level
from fuelclient.model.run import HistoryRow, Run
from fuelclient.plan.inputs import Inputs

GraphKey = tuple[Level, str, str, str]
"""A graph by its level, the name and version of its plugin (empty for other owners), and its type: ids differ between
the places that an environment is copied between."""


@dataclass(frozen=True, slots=True)
class PastRun:
    """The run of one graph that ended: the facts that it saw, and the task instances that succeeded."""

    run: Run
    facts: DeploymentFacts
    succeeded: tuple[HistoryRow, ...]


@dataclass(frozen=True, slots=True)
class EnvironmentCopy:
    """An environment with its graphs of all types, effective and uploaded facts, network configuration and past runs.

    `inputs.environment.own_networks` counts only if `has_parts`: a Fuel master states networks only in `networks`, and
    no disks or interfaces. `graph_names` has the names of the graphs that have one.
    """

    inputs: Inputs
    networks: Mapping[str, Any]
    graph_names: Mapping[GraphKey, str] = field(default_factory=dict)
    past: tuple[PastRun, ...] = ()
    has_parts: bool = True
    uploaded: DeploymentFacts = NO_FACTS


@dataclass(frozen=True, slots=True)
class CopiedPart:
    """How much of a part of an environment was copied (`count`), and what the user has to know about it."""

    part: str
    count: int
    note: str = ""


@dataclass(frozen=True, slots=True)
class Copied:
    """The result of a copy: the id of the new environment, and what became of each part."""

    cluster_id: int
    parts: tuple[CopiedPart, ...]
