"""Stages: the priorities that order plugin tasks, and the chains they make.

Source: the specification "plugins-deployment-order" (numbers in the postfix of a stage, equal numbers by
plugin name, then by the order in the file; ranges by convention).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fuelclient.model.graph import Level, MergedTask, Owner
from fuelclient.model.task import TaskType

PLUGIN_STAGES = ("pre_deployment", "post_deployment")
"""The stages that every release has and that plugin tasks may name."""

_DECIMAL = re.compile(r"[-+]?(?:[0-9]*\.[0-9]+|[0-9]+)")
_BANDS = {0: "hardware", 2: "disks", 4: "network", 6: "software", 8: "monitoring"}


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage as a task names it: its name, its priority (no postfix counts as 0), and whether the postfix is
    the plain decimal number it should be; one that is not counts as 0."""

    name: str
    priority: float
    is_valid: bool = True


def parse_stage(text: str) -> Stage:
    """Split `pre_deployment/-99.9` into its name and its priority.

    The number is what follows the last slash, the name what precedes the first.

    >>> parse_stage("pre_deployment/-99.9")
    Stage(name='pre_deployment', priority=-99.9, is_valid=True)
    >>> parse_stage("post_deployment/high")
    Stage(name='post_deployment', priority=0.0, is_valid=False)
    """
    name, slash, rest = text.partition("/")
    if not slash:
        return Stage(name, 0.0)
    postfix = rest.rpartition("/")[2]
    priority = float(postfix) if _DECIMAL.fullmatch(postfix) else math.inf
    if math.isinf(priority):  # no number, or one of some hundred digits
        return Stage(name, 0.0, is_valid=False)
    return Stage(name, priority, is_valid="/" not in rest)


def band_of(priority: float) -> str | None:
    """What tasks of this priority do by convention, or None where the convention is silent.

    Odd thousands are reserved; negative numbers and those from 9000 on are free.

    >>> band_of(4200), band_of(1500), band_of(-1)
    ('network', 'reserved', None)
    """
    if not 0 <= priority < 9000:
        return None
    return _BANDS.get(int(priority // 1000), "reserved")


def stage_key(stage: Stage, owner: Owner, position: int) -> tuple[Any, ...]:
    """The order of stage tasks: stage, priority, plugin name (and version), position in the file.

    Entries of a release come before those of plugins, those of an environment after them.
    """
    return stage.name, stage.priority, owner.order, position


@dataclass(frozen=True, slots=True)
class Chain:
    """The stage tasks of one stage, in their order, as indices of merged tasks.

    They run one after another, after all of `after` (the tasks named `<stage>_end`) and before all of `before`
    (the stages that follow it). Both are empty in a graph that lacks the sync points.
    """

    stage: str
    entries: tuple[int, ...]
    after: tuple[int, ...]
    before: tuple[int, ...]


def stage_names(tasks: Sequence[MergedTask]) -> tuple[str, ...]:
    """The stages that a graph has: each `stage` task named `<name>_end`, in order."""
    ends = (task.id for task in tasks if task.task.type == TaskType.STAGE)
    return tuple(dict.fromkeys(name.removesuffix("_end") for name in ends if name.endswith("_end")))


def chains(tasks: Sequence[MergedTask]) -> tuple[Chain, ...]:
    """The chains of a merged graph, in stage name order; tasks without a stage are in none."""
    keyed = []
    for index, task in enumerate(tasks):
        if task.task.stage and task.task.type not in (TaskType.STAGE, TaskType.GROUP):
            keyed.append((stage_key(parse_stage(task.task.stage), _author(task), index), index))
    found: dict[str, list[int]] = {}
    for key, index in sorted(keyed):
        found.setdefault(key[0], []).append(index)
    return tuple(_chain(stage, tuple(entries), tasks) for stage, entries in found.items())


def _author(task: MergedTask) -> Owner:
    """The plugin whose entry a stage task is: an environment that overrides an attribute of it moves it nowhere."""
    return next((owner for owner in (task.owner, *task.overrides) if owner.level is Level.PLUGIN), task.owner)


def _chain(stage: str, entries: tuple[int, ...], tasks: Sequence[MergedTask]) -> Chain:
    end = f"{stage}_end"
    after = tuple(i for i, task in enumerate(tasks) if task.id == end and task.task.type == TaskType.STAGE)
    before = tuple(_successors(end, tasks)) if after else ()
    return Chain(stage, entries, after, before)


def _successors(end: str, tasks: Sequence[MergedTask]) -> Iterator[int]:
    named = {name for task in tasks if task.id == end for name in task.task.names("required_for")}
    for index, task in enumerate(tasks):
        if task.task.type != TaskType.STAGE or task.id == end:
            continue
        if end in task.task.names("requires") or task.id in named:
            yield index
