"""Whether a plugin can take part in an environment, or stop taking part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fuelclient.engine.reading import environment, generators, lookup, orphaned_records
from fuelclient.environment import settings
from fuelclient.environment.roles import roles as roles_of
from fuelclient.errors import Conflict
from fuelclient.model.cluster import ClusterStatus
from fuelclient.model.environment import Environment
from fuelclient.model.finding import Finding, Place, Severity, errors_in
from fuelclient.model.graph import Level
from fuelclient.model.node import NodeStatus
from fuelclient.model.package import Package, ReleaseRecord
from fuelclient.model.plugin import Plugin
from fuelclient.model.release import Release
from fuelclient.model.task import Task, TaskType
from fuelclient.plugins.clashes import Contributor, clashes
from fuelclient.plugins.select import is_compatible
from fuelclient.store import clusters, graphs, nodes
from fuelclient.store.database import Connection

_INTERNAL = frozenset({TaskType.GROUP, TaskType.STAGE, TaskType.SKIPPED})
"""Tasks that need no version: they run nowhere."""


def enable(connection: Connection, plugin_id: int, cluster_id: int) -> tuple[Finding, ...]:
    """The plugin is enabled in the environment; what there is to know about that. See `backends.base.Plugins`."""
    plugin = lookup.plugin(connection, plugin_id)
    before = environment.read(connection, cluster_id)
    if plugin.id in {one.id for one in before.plugins}:
        return ()
    replaced = [one for one in before.plugins if one.name == plugin.name]
    found = findings_about(connection, before, plugin)
    if is_deployed(connection, before):
        found += _cannot_change(connection, before, plugin, replaced)
    _refuse(errors_in(found), f"Plugin {plugin.label} cannot be enabled on environment {cluster_id}")
    orphaned = orphaned_records.of(connection, [cluster_id]) if replaced else frozenset()
    for other in replaced:
        clusters.disable(connection, cluster_id, other.id)
        found.append(_finding(Severity.INFO, "P080", plugin, f"it takes the place of version {other.version}"))
    clusters.enable(connection, cluster_id, plugin_id)
    require_roles(connection, cluster_id, f"that plugin {plugin.label} does not bring")
    generators.evaluate(connection, cluster_id)
    if replaced:
        found += orphaned_records.left(orphaned, orphaned_records.of(connection, [cluster_id]))
    return tuple(found)


def disable(connection: Connection, plugin_id: int, cluster_id: int) -> None:
    """The plugin is not enabled in the environment. `Conflict` when that is deployed, or while a node has a role which
    only this plugin brings. See `backends.base.Plugins`."""
    plugin = lookup.plugin(connection, plugin_id)
    before = environment.read(connection, cluster_id)
    if plugin.id not in {one.id for one in before.plugins}:
        return
    if is_deployed(connection, before):
        raise Conflict(
            f"Plugin '{plugin.name}' version '{plugin.version}' couldn't be changed after or during deployment.",
            hint=f"Environment {cluster_id} is deployed: its plugins stay.",
        )
    clusters.disable(connection, cluster_id, plugin_id)
    require_roles(connection, cluster_id, f"which only plugin {plugin.label} brings")


def findings_about(connection: Connection, members: Environment, plugin: Plugin) -> list[Finding]:
    """What there is to say about `plugin` among the other plugins of an environment; errors forbid it."""
    package = lookup.package(connection, plugin)
    if plugin.releases and not package.records:
        text = f"it only defines {_names_of(connection, plugin)}, and has nothing to add to an environment"
        hint = f"Create an environment from its release: `fuel2 env create NAME --release {plugin.releases[0]}`."
        return [_finding(Severity.ERROR, "P070", plugin, text, hint)]
    found = list(_unsupported(members, plugin, package))
    others = tuple(one for one in members.plugins if one.name != plugin.name)
    alone = replace(members, plugins=others)
    found += clashes(
        _contributor(connection, members.release, plugin),
        _release_contributor(connection, members.release),
        [_contributor(connection, members.release, other) for other in others],
    )
    found += _engine_rules(connection, alone, plugin)
    return found


def is_deployed(connection: Connection, members: Environment) -> bool:
    """Whether the environment, or any node of it, was deployed."""
    if members.cluster.status == ClusterStatus.OPERATIONAL:
        return True
    return any(node.status == NodeStatus.READY for node in nodes.of_cluster(connection, members.cluster.id))


def require_roles(connection: Connection, cluster_id: int, why: str) -> None:
    """Nothing happens when the environment knows the roles of all its nodes; `Conflict` that names the others."""
    known = roles_of(environment.read(connection, cluster_id))
    lacking = {
        node.id: [role for role in node.all_roles if role not in known]
        for node in nodes.of_cluster(connection, cluster_id)
    }
    told = [f"node {node_id} has the role {', '.join(roles)}" for node_id, roles in lacking.items() if roles]
    if told:
        ids = ",".join(str(node_id) for node_id, roles in lacking.items() if roles)
        text = "; ".join(told)
        raise Conflict(
            f"{text[:1].upper()}{text[1:]}, {why}.",
            hint=f"Take the role away first: `fuel2 env remove nodes --env {cluster_id} --nodes {ids}`.",
        )


def _refuse(errors: Sequence[Finding], what: str) -> None:
    """One `Conflict` with all of `errors`, when there are any, each with its code, and what to do about them."""
    if errors:
        told = "; ".join(f"{error.message} [{error.code}]" for error in errors)
        hint = " ".join(dict.fromkeys(error.hint for error in errors if error.hint))
        raise Conflict(f"{what}: {told}.", findings=errors, hint=hint)


def _unsupported(members: Environment, plugin: Plugin, package: Package) -> Iterator[Finding]:
    """That no release record of the package is for the environment's release and mode."""
    release = members.release
    if is_compatible(package, release, settings.MODE):
        return
    supported = ", ".join(dict.fromkeys(_words(record) for record in package.records)) or "no release"
    text = (
        f"it does not support release {release.id} of the environment"
        f" ({release.operating_system.lower()} {release.version}, mode {settings.MODE}), but {supported}"
    )
    yield _finding(Severity.ERROR, "P071", plugin, text, "Use an environment of one of these releases.")


def _words(record: ReleaseRecord) -> str:
    """A release record as a sentence names it."""
    modes = f" ({', '.join(record.modes)})" if record.modes else ""
    return f"{record.os} {record.version}{modes}".strip()


def _engine_rules(connection: Connection, members: Environment, plugin: Plugin) -> Iterator[Finding]:
    """What Fuel's own deployment engines demand of a plugin's tasks.

    Source: the specification "plugins-v5" for 8.0; Nailgun's plugin manager for legacy tasks, where they are an
    error: here they are ordered as in earlier releases, so that they are worth a warning only.
    """
    fuel = members.release.version.rpartition("-")[2]
    values = settings.effective(members)
    major = plugin.package_version.partition(".")[0]
    if (
        fuel.startswith("8.")
        and major.isdigit()
        and int(major) >= 5
        and not settings.is_on(values, "common", "task_deploy")
    ):
        text = "packages of version 5 need task-based deployment, which is off in this environment of Fuel 8.0"
        hint = "Set `common: {task_deploy: {value: true}}` in its settings (`fuel2 env settings upload`)."
        yield _finding(Severity.ERROR, "P072", plugin, text, hint)
    modern = fuel.partition(".")[0].isdigit() and int(fuel.partition(".")[0]) >= 9
    if (
        modern
        and not settings.is_on(values, "common", "propagate_task_deploy")
        and _has_legacy(connection, members, plugin)
    ):
        text = (
            "a Fuel master would say: Cannot enable plugin with legacy tasks unless propagate_task_deploy attribute is"
            " set. Ensure tasks.yaml is empty and all tasks has version >= 2.0.0."
        )
        yield _finding(Severity.WARNING, "P081", plugin, text)


def _number(version: str) -> int:
    """The first number of a version, or 0."""
    first = version.partition(".")[0]
    return int(first) if first.isdecimal() else 0


def _has_legacy(connection: Connection, members: Environment, plugin: Plugin) -> bool:
    return any(
        task.legacy or (task.version_tuple < (2, 0, 0) and task.type not in _INTERNAL)
        for tasks in _graphs_of(connection, members.release, plugin).values()
        for task in tasks
    )


def _cannot_change(
    connection: Connection, members: Environment, plugin: Plugin, replaced: Sequence[Plugin]
) -> Iterator[Finding]:
    """Why the plugins of a deployed environment stay as they are."""
    for other in replaced:
        text = f"Plugin '{other.name}' version '{other.version}' couldn't be changed after or during deployment"
        yield _finding(Severity.ERROR, "P073", plugin, text, f"Environment {members.cluster.id} is deployed.")
    if lookup.package(connection, plugin).metadata.get("is_hotpluggable") is not True:
        text = f"Plugin '{plugin.name}' version '{plugin.version}' couldn't be changed after or during deployment"
        hint = f"Environment {members.cluster.id} is deployed, and the plugin is not hot-pluggable."
        yield _finding(Severity.ERROR, "P073", plugin, text, hint)


def _contributor(connection: Connection, release: Release, plugin: Plugin) -> Contributor:
    metadata: Mapping[str, Any] = plugin.metadata
    if plugin.by_release:
        metadata = environment.metadata_from(environment.selected(connection, plugin, release))
    tasks = _graphs_of(connection, release, plugin)
    return Contributor(plugin.id, plugin.name, plugin.version, metadata, _ids(tasks))


def _release_contributor(connection: Connection, release: Release) -> Contributor:
    tasks = {
        kind: graph.tasks
        for kind in graphs.types(connection, Level.RELEASE, release.id)
        if (graph := graphs.find(connection, Level.RELEASE, release.id, kind)) is not None
    }
    return Contributor(0, release.name, metadata=release.metadata, tasks=_ids(tasks))


def _ids(tasks: Mapping[str, Iterable[Task]]) -> dict[str, list[str]]:
    return {kind: [task.id for task in found] for kind, found in tasks.items()}


def _graphs_of(connection: Connection, release: Release, plugin: Plugin) -> dict[str, Sequence[Task]]:
    """The tasks that a plugin would bring to an environment of `release`, by graph type."""
    chosen = environment.selected(connection, plugin, release).graphs if plugin.by_release else {}
    found: dict[str, Sequence[Task]] = {kind: graph.tasks for kind, graph in chosen.items()}
    for kind in graphs.types(connection, Level.PLUGIN, plugin.id):
        graph = graphs.find(connection, Level.PLUGIN, plugin.id, kind)
        if graph is not None and not (plugin.by_release and graphs.is_derived(connection, graph.id)):
            found[kind] = graph.tasks
    return found


def _names_of(connection: Connection, plugin: Plugin) -> str:
    found = [lookup.release(connection, release_id) for release_id in plugin.releases]
    return ", ".join(f"the release {release.name} {release.version} (id {release.id})" for release in found)


def _finding(severity: Severity, code: str, plugin: Plugin, text: str, hint: str = "") -> Finding:
    return Finding(severity, code, text, Place(layer=f"plugin {plugin.label}"), hint=hint)
