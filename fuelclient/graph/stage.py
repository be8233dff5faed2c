"""Order the tasks of stages (`post_deployment/100`): priorities, bands, and the chains that tasks of a stage form.

Source: the specification "plugins-deployment-order". The number after the slash decides, then the name of the
plugin, then the order in the file. What a range of numbers is for is only a convention.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from fuelclient.grouping import grouped
from fuelclient.model.graph import Level, MergedTask, Owner
from fuelclient.model.task import Task, TaskType

PLUGIN_STAGES = ("pre_deployment", "post_deployment")
"""Every release has these stages, and tasks of plugins may name them."""

_DECIMAL = re.compile(r"[-+]?(?:[0-9]*\.[0-9]+|[0-9]+)")
_BANDS = {0: "hardware", 2: "disks", 4: "network", 6: "software", 8: "monitoring"}


@dataclass(frozen=True, slots=True)
class Stage:
    """The stage of a task. Its priority is 0 if there is no postfix, or one that is not a plain decimal number (not
    `is_valid`)."""

    name: str
    priority: float
    is_valid: bool = True


def parse_stage(text: str) -> Stage:
    """Split `pre_deployment/-99.9` into a name (up to the first slash) and a priority (after the last one).

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
    if math.isinf(priority):  # not a number, or one of several hundred digits
        return Stage(name, 0.0, is_valid=False)
    return Stage(name, priority, is_valid="/" not in rest)


def band_of(priority: float) -> str | None:
    """The convention for tasks of this priority; None where there is no convention.

    Odd thousands are reserved. Negative numbers, and those from 9000 on, are free.

    >>> band_of(4200), band_of(1500), band_of(-1)
    ('network', 'reserved', None)
    """
    if not 0 <= priority < 9000:
        return None
    return _BANDS.get(int(priority // 1000), "reserved")


@dataclass(frozen=True, slots=True)
class Chain:
    """The tasks of one stage in order, as indices of merged tasks.

    They run one after another, after all of `after` (the tasks named `<stage>_end`) and before all of `before` (the
    stages that follow). Both are empty if the graph lacks the sync points.
    """

    stage: str
    entries: tuple[int, ...]
    after: tuple[int, ...]
    before: tuple[int, ...]


def stage_names(tasks: Iterable[Task]) -> tuple[str, ...]:
    """The stages of a graph in order: it has one for each `stage` task named `<name>_end`."""
    ends = (task.id for task in tasks if task.type == TaskType.STAGE)
    return tuple(dict.fromkeys(name.removesuffix("_end") for name in ends if name.endswith("_end")))


def chains(tasks: Sequence[MergedTask]) -> Iterator[Chain]:
    """Yield the chains of a merged graph, by stage name. Tasks without a stage are in no chain.

    Of tasks with equal priority, the release's come first, then the plugins', then the environment's.
    """
    staged = [
        (parse_stage(task.task.stage), author(task).order, index)
        for index, task in enumerate(tasks)
        if task.task.stage and task.task.type not in (TaskType.STAGE, TaskType.GROUP)
    ]
    ordered = sorted((stage.name, stage.priority, order, index) for stage, order, index in staged)
    stages = grouped((name, index) for name, *_, index in ordered)
    points = [(index, task.task) for index, task in enumerate(tasks) if task.task.type == TaskType.STAGE]
    for stage, entries in stages.items():
        end = f"{stage}_end"
        after = tuple(index for index, task in points if task.id == end)
        later = {name for task in tasks if task.id == end for name in task.task.names("required_for")}
        following = (
            index for index, task in points if task.id != end and (end in task.names("requires") or task.id in later)
        )
        yield Chain(stage, tuple(entries), after, tuple(following) if after else ())


def author(task: MergedTask) -> Owner:
    """The plugin that a task with a stage comes from, so that an environment's override does not move it; else its
    owner."""
    return next((owner for owner in (task.owner, *task.overrides) if owner.level is Level.PLUGIN), task.owner)
