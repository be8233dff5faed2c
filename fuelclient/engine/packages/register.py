"""The one write of an installation: a package becomes a plugin with its graphs and its releases."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from fuelclient.engine.packages import enable
from fuelclient.engine.reading import environment, lookup, orphaned_records, unpacked
from fuelclient.engine.reading.graphs import put_derived
from fuelclient.environment.owners import plugin_owner, release_owner
from fuelclient.errors import Conflict, InvalidGraph
from fuelclient.graph.validate import check_document, require_type
from fuelclient.model.finding import Finding, Severity, errors_in
from fuelclient.model.graph import DEFAULT_TYPE, GraphDocument, Level, Owner
from fuelclient.model.package import Package, PackagedRelease
from fuelclient.model.plugin import InstallAction, Plugin
from fuelclient.model.release import Release
from fuelclient.plugins.load import Relabel, plugin_of
from fuelclient.plugins.select import for_any_release
from fuelclient.store import clusters, graphs, plugins, releases
from fuelclient.store.database import Connection

_STORABLE = frozenset({"G011", "G020"})
"""Errors of graphs that do not keep a package from being installed: a stage that its release may have, and a
partial record that something may lie below. Merges tell of them."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A package that is ready to be registered: what it holds, as the plugin that it will be (id 0), and what its
    findings call its directory. What is stored calls that by the name and the version of the plugin."""

    package: Package
    plugin: Plugin
    shown_as: str = ""

    @property
    def relabel(self) -> Relabel:
        return Relabel(self.shown_as, self.plugin.label)


@dataclass(frozen=True, slots=True)
class Registered:
    """What a registration did."""

    plugin: Plugin
    action: InstallAction
    previous: Plugin | None
    findings: tuple[Finding, ...]


def candidate(package: Package, unpacked: str, origin: str, *, by_release: bool, shown_as: str = "") -> Candidate:
    """A package as the plugin that it will be, with its files in the directory `unpacked`."""
    plugin = replace(plugin_of(package), unpacked=unpacked, by_release=by_release, origin=origin)
    return Candidate(package, plugin, shown_as)


def register(connection: Connection, wanted: Candidate, *, force: bool, target: Plugin | None = None) -> Registered:
    """The package is registered, in place of `target` or of the plugin that it updates, or beside the others.

    Raises `Conflict` and `InvalidGraph`; the caller's transaction undoes everything then.
    """
    previous = target or _previous(wanted.plugin, plugins.every(connection), force=force)
    users = _users(connection, previous) if previous else ()
    before = orphaned_records.of(connection, users)
    action = InstallAction.UPDATED
    if previous is None:
        action = InstallAction.CREATED
        plugin = replace(wanted.plugin, id=plugins.insert(connection, wanted.plugin))
    else:
        if _is_same(previous, wanted.plugin):
            action = InstallAction.UNCHANGED
        plugin = replace(wanted.plugin, id=previous.id)
        plugins.update(connection, plugin)
    plugins.put_package(connection, plugin.id, wanted.relabel.package(wanted.package))
    findings = list(_derive(connection, plugin_owner(plugin), _graphs(wanted.package), wanted.relabel))
    findings += _define(connection, plugin, wanted.package.releases, wanted.relabel)
    registered = lookup.plugin(connection, plugin.id)
    if previous is not None:
        _require_users(connection, registered)
    findings += orphaned_records.left(before, orphaned_records.of(connection, users))
    return Registered(registered, action, previous, tuple(dict.fromkeys(findings)))


def version_key(version: str) -> tuple[tuple[int, int, str], ...]:
    """What versions are ordered by: numbers by value, and words (`rc1`) before the version without them.

    >>> version_key("1.10.0") > version_key("1.9.3") > version_key("1.9.3-rc1")
    True
    """
    parts = [(1, int(part), "") if part.isdigit() else (0, 0, part) for part in re.findall(r"\d+|[A-Za-z]+", version)]
    return (*parts, (1, -1, ""))


def _graphs(package: Package) -> dict[str, GraphDocument]:
    """The graphs that a plugin has from its package: one of the default type in any case, as in Nailgun, unless the
    package only defines releases, which have graphs of their own."""
    own = for_any_release(package).graphs
    if package.releases and not package.records:
        return {kind: graph for kind, graph in own.items() if graph.tasks}
    return {DEFAULT_TYPE: GraphDocument(()), **own}


def _is_same(previous: Plugin, wanted: Plugin) -> bool:
    """Whether two plugins have one version and one content."""
    content = unpacked.content_of(wanted.unpacked)
    return previous.version == wanted.version and unpacked.content_of(previous.unpacked) == content


def _previous(wanted: Plugin, known: Sequence[Plugin], *, force: bool) -> Plugin | None:
    """The plugin that `wanted` takes the place of: of the same name and version, else of the same x.y, else one of
    another name that was installed from the same directory. Raises `Conflict` for what only `force` may do.

    Source: Nailgun's client, which updates in place inside one x.y; packages of version 1 never.
    """
    named = [one for one in known if one.name == wanted.name]
    for one in named:
        if one.version == wanted.version:
            return one if force else _refuse_again(one, wanted)
    series = [one for one in named if one.directory == wanted.directory]
    if series:
        newest = max(series, key=lambda one: version_key(one.version))
        if version_key(newest.version) > version_key(wanted.version) and not force:
            raise Conflict(
                f"Plugin {wanted.name} {newest.version} is installed, and {wanted.version} is older.",
                hint="Use --force to downgrade it.",
            )
        return newest
    for one in () if named else known:
        if one.origin and one.origin == wanted.origin and _series(one) == _series(wanted):
            if force:
                return one
            raise Conflict(
                f"Plugin can't be renamed. Trying to change name of the plugin {one.name} to {wanted.name}.",
                hint="Use --force to rename it, or install the package from a directory of its own.",
            )
    return None


def _series(plugin: Plugin) -> str:
    return plugin.directory.removeprefix(plugin.name)


def _refuse_again(previous: Plugin, wanted: Plugin) -> Plugin | None:
    if _is_same(previous, wanted):
        raise Conflict(
            f"Nothing to do: {wanted.title}, version {wanted.package_version}, does not update installed plugin.",
            hint=f"Plugin {wanted.name} {wanted.version} is installed with exactly this content (id {previous.id}).",
        )
    raise Conflict(
        f"Plugin {wanted.name} {wanted.version} is installed already (id {previous.id}), with another content.",
        hint="Raise the version in metadata.yaml, or use --force to replace it.",
    )


def _derive(
    connection: Connection, owner: Owner, documents: Mapping[str, GraphDocument], relabel: Relabel
) -> list[Finding]:
    """The owner has these graphs, but where one was uploaded; derived ones of other types are gone.

    Raises `InvalidGraph` with all findings when one of them cannot be stored.
    """
    found: list[Finding] = []
    for kind, document in documents.items():
        require_type(kind)
        found += _checked(document, owner)
    errors = errors_in(found)
    if errors:
        count = "1 error" if len(errors) == 1 else f"{len(errors)} errors"
        raise InvalidGraph(f"The graphs of {owner.label} cannot be stored: {count}.", findings=found)
    for kind in graphs.types(connection, owner.level, owner.id):
        graph_id = graphs.find_id(connection, owner.level, owner.id, kind)
        if kind not in documents and graph_id is not None and graphs.is_derived(connection, graph_id):
            graphs.delete(connection, graph_id)
    for kind, document in documents.items():
        put_derived(connection, owner, kind, relabel.graph(document))
    return found


def _checked(document: GraphDocument, owner: Owner) -> Iterable[Finding]:
    below = () if owner.level is Level.RELEASE else None
    for finding in check_document(document, owner, below):
        lenient = finding.is_error and finding.code in _STORABLE
        yield replace(finding, severity=Severity.WARNING) if lenient else finding


def _define(
    connection: Connection, plugin: Plugin, wanted: Sequence[PackagedRelease], relabel: Relabel
) -> list[Finding]:
    """The plugin owns exactly the releases `wanted`; those that were there keep their ids.

    `Conflict` when one exists that is not the plugin's, is stated twice, or would go while it is in use.
    """
    left = releases.of_plugin(connection, plugin.id)
    kept: dict[int, Release] = {}
    for key in (lambda one: (one.name, one.version), lambda one: one.name, lambda one: one.version):
        for index, packaged in enumerate(wanted):
            same = next((one for one in left if key(one) == key(packaged.release)), None)
            if index not in kept and same is not None:
                kept[index] = same
                left.remove(same)
    for release in left:
        _require_unused(connection, release, f"version {plugin.version} of plugin {plugin.name} does not define it")
        releases.delete(connection, release.id)
    found: list[Finding] = []
    for index, packaged in enumerate(wanted):
        before = kept.get(index)
        release = replace(packaged.release, id=before.id if before else 0, plugin_id=plugin.id)
        _require_free(connection, release)
        if before is None:
            release = replace(release, id=releases.insert(connection, release))
        else:
            releases.update(connection, release)
        found += _derive(connection, release_owner(release), packaged.graphs, relabel)
    return found


def _require_free(connection: Connection, release: Release) -> None:
    existing = releases.named(connection, release.name, release.version)
    if existing is None or existing == release.id:
        return
    owner = lookup.release(connection, existing).plugin_id
    if owner is not None and owner == release.plugin_id:
        hint = "The package defines it twice: keep one of the two, or give it another version."
    elif owner is None:
        hint = f"Delete it first (`fuel2 release delete {existing}`), or give the plugin's release another version."
    else:
        hint = f"It belongs to plugin {owner}; remove that first (`fuel2 plugins remove {owner}`)."
    raise Conflict(f"Release {release.name} {release.version} exists already, as release {existing}.", hint=hint)


def _require_unused(connection: Connection, release: Release, why: str) -> None:
    users = clusters.of_release(connection, release.id)
    if users:
        names = ", ".join(f"{user.id} ({user.name})" for user in users)
        raise Conflict(
            f"Release {release.id} ({release.name} {release.version}) is used by environment {names}, and {why}.",
            hint=f"Delete it first: `fuel2 env delete {users[0].id}`.",
        )


def _users(connection: Connection, plugin: Plugin) -> tuple[int, ...]:
    """The environments that use the plugin, or a release of it, each once."""
    users = [cluster.id for one in plugin.releases for cluster in clusters.of_release(connection, one)]
    return tuple(dict.fromkeys((*plugin.clusters, *users)))


def _require_users(connection: Connection, plugin: Plugin) -> None:
    """Nothing happens when all environments that use the plugin, or a release of it, can go on with it."""
    for cluster_id in plugin.clusters:
        found = errors_in(enable.findings_about(connection, environment.read(connection, cluster_id), plugin))
        if found:
            texts = "; ".join(finding.message for finding in found)
            raise Conflict(
                f"Plugin {plugin.label} is enabled on environment {cluster_id}, and this version cannot be: {texts}.",
                findings=found,
                hint=f"Disable it there first: `fuel2 plugins disable {plugin.id} --env {cluster_id}`.",
            )
    for cluster_id in _users(connection, plugin):
        why = f"which version {plugin.version} of plugin {plugin.name} takes away from environment {cluster_id}"
        enable.require_roles(connection, cluster_id, why)


def remove(connection: Connection, plugin: Plugin) -> None:
    """The plugin is gone with its graphs and releases; `Conflict` while it, or one of them, is in use."""
    if plugin.clusters:
        users = ", ".join(map(str, plugin.clusters))
        raise Conflict(
            f"Can't delete plugin which is enabled for some environment: {plugin.name} {plugin.version} is enabled on"
            f" environment {users}.",
            hint=f"Disable it there first: `fuel2 plugins disable {plugin.id} --env {plugin.clusters[0]}`.",
        )
    for release in releases.of_plugin(connection, plugin.id):
        _require_unused(connection, release, f"it goes with plugin {plugin.label}")
        releases.delete(connection, release.id)
    plugins.delete(connection, plugin.id)
