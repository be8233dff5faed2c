"""Plugins of a master: listed, enabled, synchronised and removed; packages are installed where the master runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fuelclient.backends.nailgun import attributes
from fuelclient.backends.nailgun.clusters import Clusters
from fuelclient.backends.nailgun.environment import plugins_of
from fuelclient.backends.nailgun.errors import About
from fuelclient.backends.nailgun.session import Session
from fuelclient.environment.settings import EDITABLE
from fuelclient.errors import Conflict, NotFound, Unsupported, UsageError
from fuelclient.model.finding import Finding
from fuelclient.model.graph import version_key
from fuelclient.model.package import Selection
from fuelclient.model.plugin import Installed, Plugin, Synced
from fuelclient.serializers.answer import Answer
from fuelclient.serializers.finding import findings_from
from fuelclient.serializers.plugin import plugin_from, synced_from


class Plugins:
    """Plugins; see `base.Plugins`."""

    def __init__(self, session: Session, clusters: Clusters) -> None:
        self._session = session
        self._clusters = clusters

    def list(self) -> Sequence[Plugin]:
        return sorted(plugins_of(self._session), key=lambda one: (one.name, version_key(one.version)))

    def get(self, plugin_id: int) -> Plugin:
        """As `base.Plugins`. A master does not say where a plugin is enabled: its environments are asked."""
        data = self._session.get(f"plugins/{plugin_id}/", About("plugin", plugin_id))
        found = plugin_from(data)
        if "clusters" in data:
            return found
        using = [
            cluster.id
            for cluster in self._clusters.list()
            if plugin_id in attributes.enabled(self._clusters.settings(cluster.id))
        ]
        return replace(found, clusters=tuple(using))

    def named(self, name: str, version: str = "") -> Plugin:
        known = self.list()
        found = [one for one in known if one.name == name and version in ("", one.version)]
        if not found:
            labels = dict.fromkeys(f"{one.name} {one.version}" if version else one.name for one in known)
            hint = "" if known else "There is no plugin yet. Run `fuel2 plugins install PACKAGE` on the master."
            raise NotFound("plugin", f"{name} {version}".strip(), known=list(labels), hint=hint)
        if len(found) > 1:
            versions = ", ".join(f"{one.version} (id {one.id})" for one in found)
            raise UsageError(f"Plugin {name} is installed in several versions: {versions}.", hint="Name one of them.")
        return found[0]

    def install(self, path: str, *, force: bool = False) -> Installed:  # noqa: ARG002 (the boundary's parameters)
        """Raises `Unsupported`: the REST API takes no packages."""
        raise Unsupported(
            "A master takes no packages over its API: it reads them from its own disk.",
            hint=f"Copy {path} to the master and install it there, then run `fuel2 plugins sync`.",
        )

    def remove(self, plugin_id: int) -> None:
        self._session.delete(f"plugins/{plugin_id}/", About("plugin", plugin_id))

    def sync(self, plugin_ids: Sequence[int] = ()) -> Synced:
        """As `base.Plugins`. A Fuel master does not say what it did: its lists before and after are compared."""
        before = {one.id: one for one in self.list()}
        about = About("plugin", ", ".join(map(str, plugin_ids)))
        if plugin_ids:
            data = self._session.post("plugins/sync/", {"ids": list(plugin_ids)}, about)
        else:
            data = self._session.post("plugins/sync/")
        if data:
            return synced_from(data)
        after = {one.id: one for one in self.list()}
        return Synced(
            created=tuple(one for key, one in after.items() if key not in before),
            updated=tuple(one for key, one in after.items() if key in before and one != before[key]),
            removed=tuple(one for key, one in before.items() if key not in after),
        )

    def enable(self, plugin_id: int, cluster_id: int) -> tuple[Finding, ...]:
        """As `base.Plugins`; a Fuel master checks less than the embedded engine, and finds nothing to tell."""
        return self._switch(plugin_id, cluster_id, on=True)

    def disable(self, plugin_id: int, cluster_id: int) -> None:
        self._switch(plugin_id, cluster_id, on=False)

    def selection(self, plugin_id: int, release_id: int) -> Selection:
        """Raises `Unsupported`: a master does not give out packages."""
        raise Unsupported(
            f"A master does not say what of plugin {plugin_id} is meant for release {release_id}, and why.",
            hint="Run `fuel2 plugins check PACKAGE` on the package itself.",
        )

    def _switch(self, plugin_id: int, cluster_id: int, *, on: bool) -> tuple[Finding, ...]:
        plugin = plugin_from(self._session.get(f"plugins/{plugin_id}/", About("plugin", plugin_id)))
        settings = attributes.editable(self._session, cluster_id)
        if (plugin_id in attributes.enabled(settings)) is on:
            return ()
        section = attributes.switched(settings, plugin, on=on)
        if section is None and self._session.capabilities.refusals:
            section = attributes.switch(plugin, on=on)  # it says itself why that cannot be
        if section is None:
            raise Conflict(
                f"Environment {cluster_id} does not offer plugin {plugin.name} {plugin.version}.",
                hint="The plugin does not support its release, or `fuel2 plugins sync` has to be run.",
            )
        body = {EDITABLE: section}
        # PUT would forget every other setting of the environment
        data = self._session.patch(attributes.path_of(cluster_id), body, About("environment", cluster_id))
        return findings_from(Answer(data, "environment's attributes").items("findings")) if data else ()
