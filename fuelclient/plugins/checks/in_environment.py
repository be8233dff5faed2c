"""Check a package in an environment: with a release, its roles, and the plugins enabled beside it.

What a package alone cannot show appears here before it is installed: names that nothing defines, roles that do not
exist, cycles through tasks of the release, and what clashes with the release or another plugin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from fuelclient.environment.clashes import Contributor, clashes
from fuelclient.environment.layers import layer, snapshot
from fuelclient.environment.roles import in_merge_order, plugin_owner
from fuelclient.model.environment import Environment
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.model.graph import Graph, Layer, Level
from fuelclient.model.package import Package
from fuelclient.model.plugin import Plugin
from fuelclient.model.snapshot import Snapshot
from fuelclient.plan.evaluate import Evaluation
from fuelclient.plan.study import Study
from fuelclient.plugins.load import plugin_of
from fuelclient.plugins.select import is_compatible, select

Layers = Mapping[str, Sequence[Layer]]
"""The layers of an environment, or of a release alone, by graph type."""

Evaluated = Callable[[Environment, Snapshot], Evaluation | None]
"""Returns the evaluation of expressions for a graph in an environment, if there is one."""

_NOT_STORED = -1
"""The id of a plugin that is only assumed."""


def check_enabled(
    package: Package,
    beside: Environment,
    layers: Layers,
    *,
    as_master: bool = False,
    evaluated: Evaluated = lambda *_: None,
) -> tuple[Finding, ...]:
    """Find what the package would add to the findings of an environment if it were enabled there.

    Roles are placed on assumed nodes, two where a role has a primary. Another version of the plugin is left out. With
    `as_master`, a task that another plugin defines too is an error, as a Fuel master has it. `evaluated` evaluates
    computed dependencies on the assumed nodes of a graph.
    """
    if package.releases and not package.records:
        return ()  # it defines releases, which nothing is beside
    release = beside.release
    if not is_compatible(package, release):
        text = f"the package does not support the release {release.name} ({release.version})"
        hint = "Add a record to releases in metadata.yaml, or check against another release."
        return (Finding(Severity.ERROR, "P071", text, Place(layer=f"plugin {package.name}"), hint=hint),)
    beside = replace(beside, nodes=(), unique_tasks=beside.unique_tasks or as_master)
    members, together = with_enabled(package, beside, layers, plugin_id=0)
    plugin = next(member for member in members.plugins if member.name == package.name)
    without = replace(members, plugins=tuple(other for other in members.plugins if other is not plugin))
    graphs = select(package, release).contents.graphs
    tasks = {graph_type: [task.id for task in document.tasks] for graph_type, document in graphs.items()}
    findings = dict.fromkeys(_clashes(plugin, members, tasks, _others(layers, package)))
    for graph_type in graphs:
        *below, own = together[graph_type]
        before = set(map(_subject, _findings(without, below, graph_type, evaluated)))
        # Without its metadata: a node filter is for runs, and no fault of the package.
        after = _findings(members, (*below, replace(own, metadata={})), graph_type, evaluated)
        findings.update(dict.fromkeys(finding for finding in after if _subject(finding) not in before))
    return tuple(findings)


def with_enabled(
    package: Package, beside: Environment, layers: Layers, *, plugin_id: int = _NOT_STORED
) -> tuple[Environment, dict[str, tuple[Layer, ...]]]:
    """Enable the package in an environment, and add its graphs to the layers."""
    contents = select(package, beside.release).contents
    plugin = replace(plugin_of(replace(package, contents=contents)), id=plugin_id)
    others = (other for other in beside.plugins if other.name != package.name)
    members = replace(beside, plugins=in_merge_order((*others, plugin)))
    together = _others(layers, package)
    for graph_type, document in contents.graphs.items():
        graph = Graph(0, graph_type, plugin_owner(plugin), document.tasks, metadata=document.metadata)
        together[graph_type] = (*together.get(graph_type, ()), layer(members, plugin_owner(plugin), graph))
    return members, together


def _subject(finding: Finding) -> tuple[str, str, Place]:
    """What a finding is about. Its text may change with the package, as it lists fewer unknown roles."""
    return finding.code, finding.task, finding.place


def _others(layers: Layers, package: Package) -> dict[str, tuple[Layer, ...]]:
    """Leave out the layers of another version of the plugin."""
    return {
        graph_type: tuple(
            each for each in listed if each.owner.level is not Level.PLUGIN or each.owner.name != package.name
        )
        for graph_type, listed in layers.items()
    }


def _findings(
    members: Environment, layers: Sequence[Layer], graph_type: str, evaluated: Evaluated
) -> tuple[Finding, ...]:
    known = snapshot(members, layers, graph_type)
    return Study(known, facts=partial(evaluated, members, known)).findings


def _clashes(plugin: Plugin, members: Environment, tasks: Mapping[str, list[str]], layers: Layers) -> Iterator[Finding]:
    def tasks_of(level: Level, owner_id: int) -> dict[str, list[str]]:
        return {
            graph_type: [task.id for each in listed if each.owner.level is level and each.owner.id == owner_id
                         for task in each.tasks]
            for graph_type, listed in layers.items()
        }  # fmt: skip

    release = members.release
    others = [Contributor(other, tasks_of(Level.PLUGIN, other.id)) for other in members.plugins if other.id]
    of_release = Contributor(release, tasks_of(Level.RELEASE, release.id))
    yield from clashes(Contributor(plugin, tasks), of_release, others)
