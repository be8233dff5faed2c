"""What another version of its release changes in an environment, in lines for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fuelclient.commands.graph.diff import comparison_lines
from fuelclient.commands.graph.question import aligned, value_text
from fuelclient.environment.differences import settings_differences
from fuelclient.environment.layers import snapshot
from fuelclient.environment.roles import roles
from fuelclient.insight.comparison import compare
from fuelclient.plan.inputs import Inputs, ReleaseChange
from fuelclient.plan.preview import Draft, PreviewOptions, draft

if TYPE_CHECKING:
    from fuelclient.model.environment import Environment


def lines(change: ReleaseChange) -> Iterator[str]:
    """Yield what changes: roles, settings, and the tasks and the order of each graph that differs."""
    before, after = change.before, change.after
    old, new = before.environment.release, after.environment.release
    yield f"Release: {old.id} ({old.name} {old.version}) -> {new.id} ({new.name} {new.version})."
    yield from _role_lines(before.environment, after.environment)
    settings = [
        (
            f"  {each.place}.{each.path}",
            " -> ".join("(none)" if side is None else value_text(side) for side in each.masked),
        )
        for each in settings_differences(before.environment, after.environment)
    ]
    yield f"Settings: {len(settings) or 'no'} difference{'' if len(settings) == 1 else 's'}."
    yield from aligned(settings)
    for graph_type in sorted({*before.layers, *after.layers}):
        yield f"Graph {graph_type}:"
        drafts = [_draft(side, graph_type) for side in (before, after)]
        yield from (f"  {line}" for line in comparison_lines(compare(*drafts), drafts[1].expansion))


def _role_lines(before: Environment, after: Environment) -> Iterator[str]:
    old, new = roles(before), roles(after)
    words = {
        "added": [name for name in new if name not in old],
        "removed": [name for name in old if name not in new],
        "changed": [name for name in old if name in new and old[name] != new[name]],
    }
    changes = "; ".join(f"{word} {', '.join(names)}" for word, names in words.items() if names)
    yield f"Roles: {changes or 'no difference'}."


def _draft(inputs: Inputs, graph_type: str) -> Draft:
    known = snapshot(inputs.environment, inputs.layers.get(graph_type, ()), graph_type)
    return draft(known, PreviewOptions())
