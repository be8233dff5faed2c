"""Check a package in an environment: with a release, its roles, and the other enabled plugins.

Before an installation, this finds what the package alone cannot show: names that nothing defines, roles that do not
exist, cycles through tasks of the release, and clashes with the release or another plugin.
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

Evaluator = Callable[[Environment, Snapshot], Evaluation | None]
"""Returns the evaluation of expressions for a graph in an environment, or None if there is none."""

_NOT_STORED = -1
"""The id of a plugin that is not in the engine."""


def check_enabled(
    package: Package,
    environment: Environment,
    layers: Layers,
    *,
    as_master: bool = False,
    evaluated: Evaluator = lambda *_: None,
) -> tuple[Finding, ...]:
    """Find the findings that would be new in an environment if the package were enabled in it.

    Roles are placed on assumed nodes, two where a role has a primary. Another version of the plugin is left out. With
    `as_master`, a task that another plugin defines too is an error, as on a Fuel master. `evaluated` evaluates
    computed dependencies on the assumed nodes of a graph.
    """
    if package.releases and not package.records:
        return ()  # it only defines releases, and extends none
    release = environment.release
    if not is_compatible(package, release):
        text = f"the package does not support the release {release.name} ({release.version})"
        hint = "Add a record to releases in metadata.yaml, or check against another release."
        return (Finding(Severity.ERROR, "P071", text, Place(layer=f"plugin {package.name}"), hint=hint),)
    environment = replace(environment, nodes=(), unique_tasks=environment.unique_tasks or as_master)
    enabled, all_layers = with_enabled(package, environment, layers, plugin_id=0)
    plugin = next(member for member in enabled.plugins if member.name == package.name)
    disabled = replace(enabled, plugins=tuple(other for other in enabled.plugins if other is not plugin))
    graphs = select(package, release).contents.graphs
    tasks = {graph_type: [task.id for task in document.tasks] for graph_type, document in graphs.items()}
    findings = dict.fromkeys(_clashes(plugin, enabled, tasks, _other_layers(layers, package)))
    for graph_type in graphs:
        *others, own = all_layers[graph_type]
        before = set(map(_identity, _findings(disabled, others, graph_type, evaluated)))
        # Without its metadata: a node filter only concerns runs, and is no fault of the package.
        after = _findings(enabled, (*others, replace(own, metadata={})), graph_type, evaluated)
        findings.update(dict.fromkeys(finding for finding in after if _identity(finding) not in before))
    return tuple(findings)


def with_enabled(
    package: Package, environment: Environment, layers: Layers, *, plugin_id: int = _NOT_STORED
) -> tuple[Environment, dict[str, tuple[Layer, ...]]]:
    """Enable the package in an environment, and add its graphs to the layers."""
    contents = select(package, environment.release).contents
    plugin = replace(plugin_of(replace(package, contents=contents)), id=plugin_id)
    others = (other for other in environment.plugins if other.name != package.name)
    enabled = replace(environment, plugins=in_merge_order((*others, plugin)))
    all_layers = _other_layers(layers, package)
    for graph_type, document in contents.graphs.items():
        graph = Graph(0, graph_type, plugin_owner(plugin), document.tasks, metadata=document.metadata)
        all_layers[graph_type] = (*all_layers.get(graph_type, ()), layer(enabled, plugin_owner(plugin), graph))
    return enabled, all_layers


def _identity(finding: Finding) -> tuple[str, str, Place]:
    """What identifies a finding. Its text does not: it may change with the package, as it lists fewer unknown roles."""
    return finding.code, finding.task, finding.place


def _other_layers(layers: Layers, package: Package) -> dict[str, tuple[Layer, ...]]:
    """Leave out the layers of other versions of the plugin."""
    return {
        graph_type: tuple(
            each for each in listed if each.owner.level is not Level.PLUGIN or each.owner.name != package.name
        )
        for graph_type, listed in layers.items()
    }


def _findings(
    members: Environment, layers: Sequence[Layer], graph_type: str, evaluated: Evaluator
) -> tuple[Finding, ...]:
    state = snapshot(members, layers, graph_type)
    return Study(state, facts=partial(evaluated, members, state)).findings


def _clashes(plugin: Plugin, members: Environment, tasks: Mapping[str, list[str]], layers: Layers) -> Iterator[Finding]:
    def tasks_of(level: Level, owner_id: int) -> dict[str, list[str]]:
        return {
            graph_type: [task.id for each in listed if each.owner.level is level and each.owner.id == owner_id
                         for task in each.tasks]
            for graph_type, listed in layers.items()
        }  # fmt: skip

    release = members.release
    others = [Contributor(other, tasks_of(Level.PLUGIN, other.id)) for other in members.plugins if other.id]
    yield from clashes(Contributor(plugin, tasks), Contributor(release, tasks_of(Level.RELEASE, release.id)), others)
