"""Previews: the merged graph in execution order, before anything runs."""

from __future__ import annotations

from dataclasses import dataclass

from fuelclient.model.finding import Finding
from fuelclient.model.graph import MergePolicy
from fuelclient.model.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class PreviewOptions:
    """What to preview: on which nodes, and how layers merge.

    `node_ids` restricts the environment's nodes; `assume` (`controller=3,compute+cinder=2`) replaces them.
    """

    node_ids: tuple[int, ...] = ()
    assume: str = ""
    policy: MergePolicy = MergePolicy.REPLACE


@dataclass(frozen=True, slots=True)
class PreviewRow:
    """One merged task. `nodes` has `"master"`, None for a sync point, or node ids; generations are None for a
    task that is placed nowhere; `stage`, `priority` and `band` say where in the stages it runs."""

    order: int
    first_generation: int | None
    last_generation: int | None
    stage: str | None
    priority: float | int | None
    band: str | None
    task: str
    type: str
    roles: tuple[str, ...]
    nodes: tuple[int | str | None, ...]
    layer: str
    overrides: tuple[str, ...]
    requires: tuple[str, ...]
    findings: tuple[Finding, ...] = ()

    @property
    def is_changed(self) -> bool:
        """Whether a plugin or the environment set anything of this task."""
        return self.layer != "release"


@dataclass(frozen=True, slots=True)
class Preview:
    """All rows in execution order, every finding, and the figures of a summary line. `assumption` says in one
    sentence which nodes were assumed, and is empty when the environment's own were taken."""

    rows: tuple[PreviewRow, ...]
    findings: tuple[Finding, ...]
    instances: int
    sync_points: int
    on_master: int
    nodes: int
    generations: int
    assumption: str = ""


def preview(snapshot: Snapshot, options: PreviewOptions) -> Preview:
    """Merge, place and order one environment's graph.

    Raises `UsageError` for an `assume` that cannot be read, `NotFound` for an unknown role or node in it,
    `CycleDetected` and `InvalidGraph` for a graph that cannot be ordered.
    """
    raise NotImplementedError
