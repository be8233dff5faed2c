"""Enable plugins on environments, disable them, and find the reasons why that is impossible."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fuelclient.engine.reading import environment, generated_settings, lookup, orphaned_records
from fuelclient.environment import rules, settings
from fuelclient.environment.clashes import Contributor, clashes
from fuelclient.environment.settings import with_values
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
from fuelclient.plan.inputs import EnvironmentChange
from fuelclient.plugins.select import is_compatible
from fuelclient.store import graphs
from fuelclient.store.database import Connection
from fuelclient.store.inventory import clusters

_WITHOUT_COMMANDS = frozenset({TaskType.GROUP, TaskType.STAGE, TaskType.SKIPPED})
"""Tasks that need no version, because they run nothing."""


def enable(connection: Connection, plugin_id: int, cluster_id: int) -> tuple[Finding, ...]:
    """Enable a plugin on an environment, and return findings about it. See `backends.base.Plugins`."""
    plugin = lookup.plugin(connection, plugin_id)
    before = environment.read(connection, cluster_id)
    if plugin.id in {enabled.id for enabled in before.plugins}:
        return ()
    other_versions = [other for other in before.plugins if other.name == plugin.name]
    findings = findings_about(connection, before, plugin)
    if is_deployed(before):
        findings += _deployed_errors(connection, before, plugin, other_versions)
    if errors := errors_in(findings):
        reasons = "; ".join(f"{error.message} [{error.code}]" for error in errors)
        hint = " ".join(dict.fromkeys(error.hint for error in errors if error.hint))
        message = f"Plugin {plugin.label} cannot be enabled on environment {cluster_id}: {reasons}."
        raise Conflict(message, findings=errors, hint=hint)
    orphaned = orphaned_records.watch(connection, [cluster_id] if other_versions else ())
    for other in other_versions:
        clusters.disable(connection, cluster_id, other.id)
        findings.append(_finding(Severity.INFO, "P080", plugin, f"it replaces version {other.version}"))
    clusters.enable(connection, cluster_id, plugin_id)
    require_roles(connection, cluster_id, f"which plugin {plugin.label} does not bring")
    generated_settings.generate(connection, cluster_id)
    return (*findings, *orphaned())


def enabling(
    connection: Connection, plugin_ids: Iterable[int], cluster_id: int, values: Mapping[str, Any]
) -> EnvironmentChange:
    """Enable plugins, and return the environment before and after that."""
    before = environment.with_graphs(connection, environment.read(connection, cluster_id))
    findings: list[Finding] = []
    for plugin_id in plugin_ids:
        findings += enable(connection, plugin_id, cluster_id)
        set_values(connection, plugin_id, cluster_id, values)
    after = environment.with_graphs(connection, environment.read(connection, cluster_id))
    return EnvironmentChange(before, after, tuple(dict.fromkeys(findings)))


def set_values(connection: Connection, plugin_id: int, cluster_id: int, values: Mapping[str, Any]) -> None:
    """Set settings of an enabled plugin. Raise what `environment.settings.with_values` raises."""
    if not values:
        return
    plugin = lookup.plugin(connection, plugin_id)
    target = environment.read(connection, cluster_id)
    effective = settings.effective(target)
    section = effective[plugin.name]
    effective[plugin.name] = {**section, **with_values(section, values, plugin.label)}
    environment.put_settings(connection, cluster_id, settings.own_from(effective, target))


def disable(connection: Connection, plugin_id: int, cluster_id: int) -> None:
    """Disable a plugin on an environment. See `backends.base.Plugins`.

    Raise `Conflict` if the environment is deployed, or if a node has a role that only this plugin defines.
    """
    plugin = lookup.plugin(connection, plugin_id)
    before = environment.read(connection, cluster_id)
    if plugin.id not in {enabled.id for enabled in before.plugins}:
        return
    if is_deployed(before):
        hint = f"Environment {cluster_id} is deployed, so its plugins cannot be disabled."
        raise Conflict(f"{_unchangeable_text(plugin)}.", hint=hint)
    clusters.disable(connection, cluster_id, plugin_id)
    require_roles(connection, cluster_id, f"which only plugin {plugin.label} brings")


def findings_about(connection: Connection, members: Environment, plugin: Plugin) -> list[Finding]:
    """Check whether an environment can have `plugin`, beside its other plugins. Errors prevent that.

    `environment.clashes` finds the conflicts of plugins with each other and with the release.
    """
    package = lookup.package(connection, plugin)
    if plugin.releases and not package.records:
        defined = (lookup.release(connection, release_id) for release_id in plugin.releases)
        names = ", ".join(f"the release {release.name} {release.version} (id {release.id})" for release in defined)
        text = f"it only defines {names}, and has nothing to add to an environment"
        hint = f"Create an environment from its release: `fuel2 env create NAME --release {plugin.releases[0]}`."
        return [_finding(Severity.ERROR, "P070", plugin, text, hint)]
    findings = list(_unsupported(members, plugin, package))
    others = tuple(other for other in members.plugins if other.name != plugin.name)
    release = members.release
    release_tasks = {graph.type: graph.tasks for graph in graphs.of_owner(connection, Level.RELEASE, release.id)}
    findings += clashes(
        _contributor(connection, release, plugin),
        Contributor(release, _task_ids(release_tasks)),
        [_contributor(connection, release, other) for other in others],
    )
    findings += _engine_rules(connection, replace(members, plugins=others), plugin)
    return findings


def conflicts_of_linked(connection: Connection, members: Environment) -> Iterator[Finding]:
    """Yield a warning for each reason why a linked plugin could not be enabled with its current package.

    A package is checked when it is installed. A linked directory may change after that.
    """
    for plugin in members.plugins:
        for error in errors_in(findings_about(connection, members, plugin)) if plugin.is_linked else ():
            hint = f"`fuel2 plugins sync` would refuse this edit. {error.hint}".strip()
            yield replace(error, severity=Severity.WARNING, hint=hint)


def is_deployed(members: Environment) -> bool:
    if members.cluster.status == ClusterStatus.OPERATIONAL:
        return True
    return any(node.status == NodeStatus.READY for node in members.nodes)


def require_roles(connection: Connection, cluster_id: int, why: str) -> None:
    """Raise `Conflict`, naming the nodes, if the environment does not have all roles of its nodes."""
    if undefined := rules.undefined_roles(environment.read(connection, cluster_id)):
        ids = ",".join(str(node.id) for node, _ in undefined)
        text = "; ".join(f"node {node.id} has the role {', '.join(roles)}" for node, roles in undefined)
        raise Conflict(
            f"{text[:1].upper()}{text[1:]}, {why}.",
            hint=f"Remove these nodes first: `fuel2 env remove nodes --env {cluster_id} --nodes {ids}`.",
        )


def _unsupported(members: Environment, plugin: Plugin, package: Package) -> Iterator[Finding]:
    """Yield an error if the package does not support the release and mode of the environment."""
    release = members.release
    if is_compatible(package, release, settings.MODE):
        return
    supported = ", ".join(dict.fromkeys(_description(record) for record in package.records)) or "no release"
    text = (
        f"it does not support release {release.id} of the environment"
        f" ({release.operating_system.lower()} {release.version}, mode {settings.MODE}), but {supported}"
    )
    yield _finding(Severity.ERROR, "P071", plugin, text, "Use an environment of one of these releases.")


def _description(record: ReleaseRecord) -> str:
    modes = f" ({', '.join(record.modes)})" if record.modes else ""
    return f"{record.os} {record.version}{modes}".strip()


def _engine_rules(connection: Connection, members: Environment, plugin: Plugin) -> Iterator[Finding]:
    """Yield findings about requirements of Fuel's own deployment engines on a plugin's tasks.

    Source: the specification "plugins-v5" for 8.0, and Nailgun's plugin manager for legacy tasks. Nailgun refuses
    these; this engine only warns, because it runs them in the same order as earlier releases of Fuel do.
    """
    fuel = members.release.version.rpartition("-")[2]
    values = settings.effective(members)
    needs_task_deploy = fuel.startswith("8.") and _major_version(plugin.package_version) >= 5
    if needs_task_deploy and not settings.is_on(values, "common", "task_deploy"):
        text = "packages of version 5 need task-based deployment, which is off in this environment of Fuel 8.0"
        hint = "Set `common: {task_deploy: {value: true}}` in its settings (`fuel2 env settings upload`)."
        yield _finding(Severity.ERROR, "P072", plugin, text, hint)
    if _major_version(plugin.package_version) >= 5 and _major_version(fuel) in (6, 7):
        text = f"packages of version 5 are not supported on Fuel {fuel}"
        yield _finding(Severity.WARNING, "P083", plugin, text, "Use a package of version 4 or earlier there.")
    refuses_legacy = _major_version(fuel) >= 9 and not settings.is_on(values, "common", "propagate_task_deploy")
    if refuses_legacy and any(
        task.legacy or (task.version_tuple < (2, 0, 0) and task.type not in _WITHOUT_COMMANDS and not task.is_partial)
        for tasks in _graphs_of(connection, members.release, plugin).values()
        for task in tasks
    ):
        text = (
            "a Fuel master would refuse this: Cannot enable plugin with legacy tasks unless propagate_task_deploy"
            " attribute is set. Ensure tasks.yaml is empty and all tasks has version >= 2.0.0."
        )
        yield _finding(Severity.WARNING, "P081", plugin, text)


def _major_version(version: str) -> int:
    first = version.partition(".")[0]
    return int(first) if first.isdecimal() else 0


def _deployed_errors(
    connection: Connection, members: Environment, plugin: Plugin, other_versions: Sequence[Plugin]
) -> Iterator[Finding]:
    for other in other_versions:
        hint = f"Environment {members.cluster.id} is deployed."
        yield _finding(Severity.ERROR, "P073", plugin, _unchangeable_text(other), hint)
    if lookup.package(connection, plugin).metadata.get("is_hotpluggable") is not True:
        hint = f"Environment {members.cluster.id} is deployed, and the plugin is not hot-pluggable."
        yield _finding(Severity.ERROR, "P073", plugin, _unchangeable_text(plugin), hint)


def _unchangeable_text(plugin: Plugin) -> str:
    return f"Plugin '{plugin.name}' version '{plugin.version}' couldn't be changed after or during deployment"


def _contributor(connection: Connection, release: Release, plugin: Plugin) -> Contributor:
    tasks = _task_ids(_graphs_of(connection, release, plugin))
    if plugin.by_release:
        plugin = replace(plugin, metadata=environment.metadata_from(environment.selected(connection, plugin, release)))
    return Contributor(plugin, tasks)


def _task_ids(tasks_by_type: Mapping[str, Iterable[Task]]) -> dict[str, list[str]]:
    return {graph_type: [task.id for task in tasks] for graph_type, tasks in tasks_by_type.items()}


def _graphs_of(connection: Connection, release: Release, plugin: Plugin) -> dict[str, Sequence[Task]]:
    """Return the tasks of a plugin for an environment of `release`, by graph type."""
    selected = environment.selected(connection, plugin, release).graphs if plugin.by_release else {}
    tasks: dict[str, Sequence[Task]] = {graph_type: graph.tasks for graph_type, graph in selected.items()}
    for stored in graphs.of_owner(connection, Level.PLUGIN, plugin.id):
        if not (plugin.by_release and graphs.is_derived(connection, stored.id)):
            tasks[stored.type] = stored.tasks
    return tasks


def _finding(severity: Severity, code: str, plugin: Plugin, text: str, hint: str = "") -> Finding:
    return Finding(severity, code, text, Place(layer=f"plugin {plugin.label}"), hint=hint)
