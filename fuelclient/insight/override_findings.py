"""Warnings about what layers do to one another: lost attributes, overrides without effect, shortened lists, ties."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from fuelclient.graph.stage import chains
from fuelclient.insight.blame import Blame, blame
from fuelclient.insight.relation import Because, stage_rule
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.model.graph import MergedGraph, MergedTask, Origin

OVERRIDES = ("G060", "G061", "G062", "G063")
"""The codes of these warnings."""


def override_findings(merged: MergedGraph) -> Iterator[Finding]:
    """Yield the warnings, task by task, then those about ties."""
    for task in merged.tasks:
        if task.overrides:
            yield from _of_overrides(task)
    yield from _ties(merged.tasks)


def _of_overrides(task: MergedTask) -> Iterator[Finding]:
    rows = blame(task)
    setting = task.settings.get("type")
    whole = setting.origin.owner if setting is not None and setting.replaced else None
    for row in rows:
        if row.dropped and not _is_default(row):
            yield _warning(
                "G060", task, row.origin, f"{row.path} of {row.replaced[0][1].owner.label} is lost",
                "The whole task is replaced: leave its type out to override single attributes, or repeat this one.",
            )  # fmt: skip
        elif row.replaced and not row.dropped and _is_equal(row.value, row.replaced[0][0]):
            if row.origin.owner != whole:  # a whole definition has to repeat what stays
                text = f"the override of {row.path} states what {row.replaced[0][1].owner.label} says already"
                yield _warning("G061", task, row.origin, text, "Leave the attribute out of the override.")
        elif row.replaced and not row.dropped:
            yield from _shortened(task, row)
    if whole == task.owner and not any(row.is_changed for row in rows) and all(row.replaced for row in rows):
        text = f"{task.owner.label} states the task as {task.overrides[0].label} does"
        yield _warning("G061", task, task.origin("type"), text, "Leave it out, so that later changes below count.")


def _is_default(row: Blame) -> bool:
    """Return whether the lost value is one that a layer adds to its own tasks, which nobody has written."""
    return row.path in ("parameters.cwd", "fault_tolerance") and not row.replaced[0][1].place.file


def _is_equal(value: Any, other: Any) -> bool:
    return bool(value == other) and isinstance(value, bool) == isinstance(other, bool)


def _shortened(task: MergedTask, row: Blame) -> Iterator[Finding]:
    below, origin = row.replaced[0]
    if isinstance(row.value, list) and isinstance(below, list) and len(row.value) < len(below):
        lost = [item for item in below if item not in row.value]
        names = f", without {', '.join(lost)}" if lost and all(isinstance(item, str) for item in lost) else ""
        yield _warning(
            "G062", task, row.origin,
            f"{row.path} has {len(row.value)} of the {len(below)} elements of {origin.owner.label}{names}",
            "A list replaces the one below it as a whole: state everything that shall stay.",
        )  # fmt: skip


def _ties(tasks: Sequence[MergedTask]) -> Iterator[Finding]:
    for chain in chains(tasks):
        for before, after in pairwise(tasks[index] for index in chain.entries):
            if stage_rule(before, after) is Because.PLUGIN:
                yield _warning(
                    "G063", after, after.origin("stage"),
                    f"only the names of the plugins put it after {before.id}: both are in stage {after.task.stage}",
                    "Give the tasks different numbers after the stage, if their order matters.",
                )  # fmt: skip


def _warning(code: str, task: MergedTask, origin: Origin, message: str, hint: str) -> Finding:
    place = Place(origin.place.file, origin.place.line, origin.owner.label)
    return Finding(Severity.WARNING, code, f"task {task.id}: {message}", place, task.id, hint)
