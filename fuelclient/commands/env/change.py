"""Describe for people how a change, such as another release or an additional plugin, affects an environment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from fuelclient.backends.assumed_nodes import evaluation_on_assumed_nodes
from fuelclient.backends.base import Backend
from fuelclient.commands.base import report
from fuelclient.commands.fitting import align, indented
from fuelclient.commands.graph.diff import comparison_lines
from fuelclient.commands.graph.question import value_text
from fuelclient.commands.shell import count
from fuelclient.environment.differences import EnvironmentDifference, settings_differences
from fuelclient.environment.layers import snapshot
from fuelclient.environment.roles import roles
from fuelclient.insight.blame import OVERRIDES
from fuelclient.insight.comparison import Comparison, compare
from fuelclient.model.environment import Environment
from fuelclient.model.finding import Finding, Severity
from fuelclient.model.snapshot import Snapshot
from fuelclient.plan.expand import Expansion
from fuelclient.plan.inputs import EnvironmentChange, Inputs
from fuelclient.plan.study import Study


def lines(change: EnvironmentChange, backend: Backend) -> Iterator[str]:
    """Yield what changes: roles, settings, and the tasks and the order of each graph that differs."""
    before, after = change.before, change.after
    old, new = before.environment.release, after.environment.release
    if old.id != new.id:
        yield f"Release: {old.id} ({old.name} {old.version}) -> {new.id} ({new.name} {new.version})."
    plugins = [[plugin.label for plugin in side.environment.plugins] for side in (before, after)]
    yield from _names("Plugins", *plugins)
    yield from _role_lines(before.environment, after.environment)
    if settings := list(settings_differences(before.environment, after.environment)):
        yield from value_lines("Settings", "{0.place}.{0.path}", settings)
    for graph_type in sorted({*before.layers, *after.layers}):
        studies = [_study(side, graph_type, backend) for side in (before, after)]
        comparison = compare(*studies)
        if comparison.is_different or comparison.findings:
            yield f"Graph {graph_type}:"
            yield from graph_lines(comparison, studies[1].expansion)


def value_lines(title: str, name: str, differences: Sequence[EnvironmentDifference]) -> Iterator[str]:
    """Yield a title with the number of differences, and a line for each, named by the format `name`."""
    yield f"{title}: {count(len(differences), 'difference')}."
    rows = []
    for each in differences:
        sides = ["(none)" if side is None else value_text(side) for side in each.masked]
        rows.append((f"  {name.format(each)}", " -> ".join(sides)))
    yield from align(rows)


def graph_lines(comparison: Comparison, expansion: Expansion) -> Iterator[str]:
    """Yield the differences between two graphs, indented, and report the findings about them."""
    yield from map(indented, comparison_lines(comparison, expansion))
    report(comparison.findings)


def snapshots_of(backend: Backend, env: int) -> dict[str, Snapshot]:
    types = sorted({summary.type for summary in backend.graphs.list(env)})
    return {graph_type: backend.graphs.snapshot(env, graph_type) for graph_type in types}


def change_warnings(
    backend: Backend, before: Mapping[str, Snapshot], after: Mapping[str, Snapshot]
) -> Iterator[Finding]:
    """Yield warnings about a change of an environment, graph by graph: about overrides, and about errors for which a
    run would be refused. Expressions are evaluated on the facts after the change."""
    from fuelclient.backends.studies import study_of

    for graph_type, new in after.items():
        old = before.get(graph_type, replace(new, layers=()))
        for finding in compare(*(study_of(backend, side, conditions=True) for side in (old, new))).findings:
            if finding.severity is Severity.ERROR:
                yield replace(finding, severity=Severity.WARNING)
            elif finding.code in OVERRIDES:
                yield finding


def _role_lines(before: Environment, after: Environment) -> Iterator[str]:
    old, new = roles(before), roles(after)
    changed = [name for name in old if name in new and replace(old[name], owner="") != replace(new[name], owner="")]
    yield from _names("Roles", list(old), list(new), changed)


def _names(noun: str, before: Sequence[str], after: Sequence[str], changed: Sequence[str] = ()) -> Iterator[str]:
    """Yield a line about names that were added, removed or changed, unless all stay."""
    words = {
        "added": [name for name in after if name not in before],
        "removed": [name for name in before if name not in after],
        "changed": changed,
    }
    if changes := "; ".join(f"{word} {', '.join(names)}" for word, names in words.items() if names):
        yield f"{noun}: {changes}."


def _study(inputs: Inputs, graph_type: str, backend: Backend) -> Study:
    graph = snapshot(inputs.environment, inputs.layers.get(graph_type, ()), graph_type)
    return Study(graph, facts=partial(evaluation_on_assumed_nodes, backend, inputs.environment, graph))
