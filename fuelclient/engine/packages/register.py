"""Store a package as a plugin with its graphs and releases, or remove a plugin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TypeVar

from fuelclient.engine.packages import enable
from fuelclient.engine.reading import environment, lookup, orphaned_records, unpacked_packages
from fuelclient.environment.checks import deletion, require_name
from fuelclient.environment.release_change import is_another_version
from fuelclient.environment.roles import plugin_owner, release_owner
from fuelclient.errors import Conflict
from fuelclient.graph.validate import check_document, require_type
from fuelclient.model.cluster import Cluster
from fuelclient.model.finding import Finding, Place, Severity, errors_in, require_no_errors
from fuelclient.model.graph import DEFAULT_TYPE, GraphDocument, Level, Owner, version_key
from fuelclient.model.package import Contents, Package
from fuelclient.model.plugin import InstallAction, Installed, Plugin
from fuelclient.model.release import Release
from fuelclient.model.task import Source
from fuelclient.plugins.select import for_any_release
from fuelclient.store import graphs, plugins
from fuelclient.store.database import Connection
from fuelclient.store.inventory import clusters, releases

_Place = TypeVar("_Place", Place, Source)

_ALLOWED_CODES = frozenset({"G011", "G020"})
"""Errors of graphs that do not prevent installation: a stage that the release may define, and a record without a type
that may override one of the release. If the release does not, merging reports them."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A package that is ready to be registered, as the plugin that it will become (with the id 0).

    Findings name its directory `shown_as`; in the store, the plugin's name and version replace this path, because users
    know an installed package by them. `scripts` are the scripts of an archive, which are not run.
    """

    package: Package
    plugin: Plugin
    shown_as: str
    findings: tuple[Finding, ...] = ()
    scripts: tuple[str, ...] = ()

    def stored_graph(self, graph: GraphDocument) -> GraphDocument:
        """Replace `shown_as` in the paths of a graph and of its findings."""

        def stored(place: _Place) -> _Place:
            return replace(place, file=moved(place.file, self.shown_as, self.plugin.label))

        findings = tuple(replace(finding, place=stored(finding.place)) for finding in graph.findings)
        tasks = tuple(replace(task, source=stored(task.source)) for task in graph.tasks)
        return replace(graph, tasks=tasks, findings=findings)

    def stored_package(self) -> Package:
        """Replace `shown_as` in the paths of the package, except in the releases that it defines."""
        records = (
            record if record.contents is None else replace(record, contents=self._stored(record.contents))
            for record in self.package.records
        )
        return replace(self.package, contents=self._stored(self.package.contents), records=tuple(records))

    def _stored(self, contents: Contents) -> Contents:
        graphs = {graph_type: self.stored_graph(graph) for graph_type, graph in contents.graphs.items()}
        return replace(contents, graphs=graphs)


def moved(path: str, before: str, after: str) -> str:
    """Replace the directory `before` of a path by `after`. Paths outside of `before` stay the same.

    >>> moved("/tmp/new-1/deployment_tasks.yaml", "/tmp/new-1/", "lma-0.10.2")
    'lma-0.10.2/deployment_tasks.yaml'
    """
    start = f"{before.rstrip('/')}/"
    return f"{after}/{path.removeprefix(start)}" if path.startswith(start) else path


def register(connection: Connection, wanted: Candidate, *, force: bool, target: Plugin | None = None) -> Installed:
    """Register a package: replace `target` or the plugin that it updates, or add a plugin.

    Raise `Conflict` or `InvalidGraph`; the caller's transaction is then rolled back.
    """
    known = plugins.every(connection)
    if target is not None:
        _require_other_version(wanted.plugin, target, known)
    previous = target or _previous(wanted.plugin, known, force=force)
    orphaned = orphaned_records.watch(connection, _user_ids(connection, previous) if previous else ())
    if previous is None:
        action = InstallAction.CREATED
        plugin = replace(wanted.plugin, id=plugins.insert(connection, wanted.plugin))
    else:
        action = InstallAction.UNCHANGED if _is_same(previous, wanted.plugin) else InstallAction.UPDATED
        plugin = replace(wanted.plugin, id=previous.id)
        plugins.update(connection, plugin)
    plugins.put_package(connection, plugin.id, wanted.stored_package())
    findings = [*wanted.findings, *_store_graphs(connection, plugin_owner(plugin), _graphs_of(wanted.package), wanted)]
    findings += _store_releases(connection, plugin, wanted)
    registered = lookup.plugin(connection, plugin.id)
    if previous is not None:
        _require_compatible(connection, registered)
    findings += orphaned()
    defined, before = releases.every(connection, plugin_id=plugin.id), previous.version if previous else ""
    return Installed(registered, action, before, tuple(defined), wanted.scripts, tuple(dict.fromkeys(findings)))


def _graphs_of(package: Package) -> dict[str, GraphDocument]:
    """Return the graphs of a plugin by type.

    As in Nailgun, a plugin always has a graph of the default type, unless its package only defines releases, which have
    their own graphs.
    """
    own = for_any_release(package).graphs
    if package.releases and not package.records:
        return {graph_type: graph for graph_type, graph in own.items() if graph.tasks}
    return {DEFAULT_TYPE: GraphDocument(()), **own}


def _is_same(previous: Plugin, wanted: Plugin) -> bool:
    """Whether two plugins have the same version and content. A linked plugin is never the same: it may change."""
    if previous.is_linked or wanted.is_linked:
        return False
    content = unpacked_packages.digest_in(wanted.unpacked)
    return previous.version == wanted.version and unpacked_packages.digest_in(previous.unpacked) == content


def _previous(wanted: Plugin, known: Sequence[Plugin], *, force: bool) -> Plugin | None:
    """Find the plugin that `wanted` replaces: one with the same name and version, or else with the same x.y, or else
    one with another name that was installed from the same directory. Raise `Conflict` if that needs `force`.

    Source: Nailgun's client, which updates in place within one x.y, but never packages of version 1.
    """
    named = [plugin for plugin in known if plugin.name == wanted.name]
    for plugin in named:
        if plugin.version == wanted.version:
            if force or (wanted.is_linked and plugin.unpacked == wanted.unpacked):
                return plugin
            raise _conflict_with(plugin, wanted)
    if series := [plugin for plugin in named if plugin.directory == wanted.directory]:
        newest = max(series, key=lambda plugin: version_key(plugin.version))
        if version_key(newest.version) > version_key(wanted.version) and not force:
            raise Conflict(
                f"Plugin {wanted.name} {newest.version} is installed, and {wanted.version} is older.",
                hint="Use --force to downgrade it.",
            )
        return newest
    for plugin in () if named else known:
        if plugin.origin and plugin.origin == wanted.origin and _series(plugin) == _series(wanted):
            if force:
                return plugin
            raise Conflict(
                f"Plugin can't be renamed. Trying to change name of the plugin {plugin.name} to {wanted.name}.",
                hint="Use --force to rename it, or install the package from another directory.",
            )
    return None


def _require_other_version(wanted: Plugin, target: Plugin, known: Sequence[Plugin]) -> None:
    """Raise `Conflict` if a plugin other than `target` has the name and version of `wanted`."""
    for plugin in known:
        if plugin.id != target.id and (plugin.name, plugin.version) == (wanted.name, wanted.version):
            raise Conflict(
                f"Plugin {wanted.name} {wanted.version} is installed already, as plugin {plugin.id}.",
                hint=f"Change the version in metadata.yaml, or remove plugin {plugin.id}.",
            )


def _series(plugin: Plugin) -> str:
    return plugin.directory.removeprefix(plugin.name)


def _conflict_with(previous: Plugin, wanted: Plugin) -> Conflict:
    this = f"Plugin {wanted.name} {wanted.version}"
    if _is_same(previous, wanted):
        return Conflict(
            f"Nothing to do: {wanted.title}, version {wanted.version}, does not update installed plugin.",
            hint=f"{this} is installed with exactly this content (id {previous.id}). --force installs it again.",
        )
    kind = f"from {previous.unpacked}" if previous.is_linked else "as a copy" if wanted.is_linked else ""
    return Conflict(
        f"{this} is already installed (id {previous.id}), {kind or 'with other content'}.",
        hint=f"{'U' if kind else 'Raise the version in metadata.yaml, or u'}se --force to replace it.",
    )


def _store_graphs(
    connection: Connection, owner: Owner, documents: Mapping[str, GraphDocument], wanted: Candidate
) -> list[Finding]:
    """Store the graphs of the owner's package, and delete graphs that the package no longer has.

    Uploaded graphs are kept. Raise `InvalidGraph` with all findings if one of the graphs cannot be stored.
    """
    lower_layers = () if owner.level is Level.RELEASE else None
    findings: list[Finding] = []
    checked: dict[str, GraphDocument] = {}
    for graph_type, document in documents.items():
        require_type(graph_type)
        graph_findings = [
            replace(finding, severity=Severity.WARNING) if finding.code in _ALLOWED_CODES else finding
            for finding in check_document(document, owner, lower_layers)
        ]
        checked[graph_type] = replace(document, findings=tuple(graph_findings))
        findings += graph_findings
    require_no_errors(findings, f"The graphs of {owner.label} cannot be stored")
    for graph_type in graphs.types(connection, owner.level, owner.id):
        graph_id = graphs.find_id(connection, owner.level, owner.id, graph_type)
        if graph_type not in documents and graph_id is not None and graphs.is_derived(connection, graph_id):
            findings.append(_lost_graph(connection, owner, graph_type, graph_id))
            graphs.delete(connection, graph_id)
    for graph_type, document in checked.items():
        put_derived(connection, owner, graph_type, wanted.stored_graph(document))
    return findings


def _lost_graph(connection: Connection, owner: Owner, graph_type: str, graph_id: int) -> Finding:
    """Warn of a graph of an owner's earlier package that the new package lacks."""
    count = len(graphs.task_ids(connection, graph_id))
    text = f"the package no longer has the {graph_type} graph of {owner.label}, so its tasks are removed ({count})"
    hint = "Install the earlier package with --force to have them back."
    return Finding(Severity.WARNING, "P084", text, Place(layer=owner.label), hint=hint)


def put_derived(connection: Connection, owner: Owner, graph_type: str, document: GraphDocument) -> None:
    """Store a graph of the owner's package, unless the owner has an uploaded graph of this type."""
    graph_id = graphs.find_id(connection, owner.level, owner.id, graph_type)
    if graph_id is None:
        graph_id = graphs.create(connection, owner.level, owner.id, graph_type)
    elif not graphs.is_derived(connection, graph_id):
        return
    graphs.mark_derived(connection, graph_id, True)
    graphs.reset(connection, graph_id)
    graphs.describe(connection, graph_id, document.name, document.metadata)
    graphs.put_tasks(connection, graph_id, document.tasks, document.findings)


def _store_releases(connection: Connection, plugin: Plugin, wanted: Candidate) -> list[Finding]:
    """Store the releases that a package defines. Releases that the plugin already has keep their ids.

    Raise `Conflict` if a release has another owner, is defined twice, or is to be deleted and still in use.
    """
    obsolete = releases.every(connection, plugin_id=plugin.id)
    kept: dict[int, Release] = {}
    # A release with the same name and version comes first, then one that was renamed or has a new version.
    for key in (attrgetter("name", "version"), attrgetter("name"), attrgetter("version")):
        for index, packaged in enumerate(wanted.package.releases):
            same = next((release for release in obsolete if key(release) == key(packaged.release)), None)
            if index not in kept and same is not None:
                kept[index] = same
                obsolete.remove(same)
    for release in obsolete:
        _require_unused(connection, release, f"version {plugin.version} of plugin {plugin.name} does not define it")
        releases.delete(connection, release.id)
    findings: list[Finding] = []
    for index, packaged in enumerate(wanted.package.releases):
        before = kept.get(index)
        release = replace(packaged.release, id=before.id if before else 0, plugin_id=plugin.id)
        _require_free(connection, release)
        if before is None or before.name != release.name:
            require_name("release", release.name)
        if before is None:
            release = replace(release, id=releases.insert(connection, release))
        else:
            releases.update(connection, release)
        findings += _store_graphs(connection, release_owner(release), packaged.graphs, wanted)
    return findings


def _require_free(connection: Connection, release: Release) -> None:
    existing = releases.named(connection, release.name, release.version)
    if existing is None or existing == release.id:
        return
    if (owner := lookup.release(connection, existing).plugin_id) is not None and owner == release.plugin_id:
        hint = "The package defines it twice. Keep one of the two, or give it another version."
    elif owner is None:
        hint = f"Delete it first (`fuel2 release delete {existing}`), or give the plugin's release another version."
    else:
        hint = _hint_for_taken_release(connection, lookup.plugin(connection, owner), existing)
    raise Conflict(f"Release {release.name} {release.version} already exists, as release {existing}.", hint=hint)


def _hint_for_taken_release(connection: Connection, owner: Plugin, existing: int) -> str:
    """Give a hint how to install a package that defines a release of another plugin."""
    if not (users := clusters.every(connection, release_id=existing)):
        return f"It belongs to plugin {owner.label}. Remove that first (`fuel2 plugins remove {owner.id}`)."
    env = users[0]
    series = ".".join(owner.version.split(".")[:2])
    return (
        f"Environment {env.id} ({env.name}) uses it, from plugin {owner.label}. Give the release another version in "
        f"metadata.yaml, install the package beside that one, and move the environment: `fuel2 env update {env.id} "
        f"--release NEW_VERSION`. Or give the package a version {series}.x, which updates the release in place."
    )


def _require_unused(connection: Connection, release: Release, why: str) -> None:
    if users := clusters.every(connection, release_id=release.id):
        names = ", ".join(f"{user.id} ({user.name})" for user in users)
        raise Conflict(
            f"Release {release.id} ({release.name} {release.version}) is used by environment {names}, and {why}.",
            hint=_hint_to_leave_release(connection, release, users[0]),
        )


def _hint_to_leave_release(connection: Connection, release: Release, user: Cluster) -> str:
    """Give a hint how an environment can stop using a release."""
    others = [
        each for each in releases.every(connection) if each.id != release.id and is_another_version(each, release)
    ]
    if not others:
        return f"Delete that first: {deletion(user)}. Or install another version of the release, and move it there."
    return f"Move it to another version first: `fuel2 env update {user.id} --release {others[-1].id}`."


def _user_ids(connection: Connection, plugin: Plugin) -> tuple[int, ...]:
    users = [cluster.id for cluster in clusters.every(connection, release_id=plugin.releases)]
    return tuple(dict.fromkeys((*plugin.clusters, *users)))


def _require_compatible(connection: Connection, plugin: Plugin) -> None:
    """Raise `Conflict` if an environment that uses the plugin or one of its releases cannot use this version."""
    for cluster_id in plugin.clusters:
        if errors := errors_in(enable.findings_about(connection, environment.read(connection, cluster_id), plugin)):
            texts = "; ".join(error.message for error in errors)
            raise Conflict(
                f"Plugin {plugin.label} is enabled on environment {cluster_id}, but this version cannot be: {texts}.",
                findings=errors,
                hint=_hint_to_leave_plugin(connection, plugin, cluster_id),
            )
    for cluster_id in _user_ids(connection, plugin):
        why = f"which version {plugin.version} of plugin {plugin.name} would remove from environment {cluster_id}"
        enable.require_roles(connection, cluster_id, why)


def _hint_to_leave_plugin(connection: Connection, plugin: Plugin, cluster_id: int) -> str:
    """Give a hint how an environment can stop using a plugin. A deployed environment has to be deleted."""
    members = environment.read(connection, cluster_id)
    if enable.is_deployed(members):
        return f"That environment is deployed and keeps its plugins; delete it first: {deletion(members.cluster)}."
    return f"Disable it there first: `fuel2 plugins disable {plugin.id} --env {members.cluster.id}`."


def remove(connection: Connection, plugin: Plugin) -> None:
    """Remove a plugin with its graphs and releases. Raise `Conflict` if it or one of its releases is in use."""
    if plugin.clusters:
        users = ", ".join(map(str, plugin.clusters))
        raise Conflict(
            f"Can't delete plugin which is enabled for some environment: {plugin.name} {plugin.version} is enabled on"
            f" environment {users}.",
            hint=_hint_to_leave_plugin(connection, plugin, plugin.clusters[0]),
        )
    for release in releases.every(connection, plugin_id=plugin.id):
        _require_unused(connection, release, f"it would be removed with plugin {plugin.label}")
        releases.delete(connection, release.id)
    plugins.delete(connection, plugin.id)
