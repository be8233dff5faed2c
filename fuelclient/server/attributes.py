"""Settings of environments, among which Nailgun has the plugins: `editable.<plugin>.metadata` says which version of
one is enabled, and setting it enables or disables the plugin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fuelclient.backends.base import Backend
from fuelclient.errors import FuelError, NotFound, UsageError
from fuelclient.model.finding import Finding
from fuelclient.model.plugin import Plugin
from fuelclient.model.release import Release
from fuelclient.serializers.finding import finding_to
from fuelclient.serializers.values import plain
from fuelclient.server.routes import Call, Kind, Query, Route
from fuelclient.server.schemas import MAPPING, NUMBER, TRUTH, closed, opened

_EDITABLE = "editable"


def show(call: Call) -> Any:
    """The settings, with what can be enabled where the client does not ask for them only."""
    if call.truth("settings_only"):
        return {_EDITABLE: plain(call.backend.clusters.settings(call.id("cluster_id"))), "generated": {}}
    return attributes(call.backend, call.id("cluster_id"))


def defaults(call: Call) -> Any:
    """The settings that the environment's release has by itself."""
    release = call.backend.releases.get(call.backend.clusters.get(call.id("cluster_id")).release_id)
    stated = release.metadata.get("attributes_metadata")
    return {_EDITABLE: plain((stated or {}).get(_EDITABLE) or {}), "generated": {}}


def replace(call: Call) -> Any:
    """The settings are those of the body, and nothing that was set before."""
    return _store(call, call.body[_EDITABLE])


def update(call: Call) -> Any:
    """The settings are what they were, with the body over them."""
    with call.connections.alone() as backend:
        known = attributes(backend, call.id("cluster_id"))[_EDITABLE]
        return _store(call, _over(known, call.body[_EDITABLE]))


def attributes(backend: Backend, cluster_id: int) -> dict[str, Any]:
    """The settings of an environment with a section for each plugin that is, or could be, enabled there."""
    cluster = backend.clusters.get(cluster_id)
    release = backend.releases.get(cluster.release_id)
    sections = plain(backend.clusters.settings(cluster_id))
    for name, versions in _by_name(backend, cluster_id, release).items():
        enabled = next((one for one in versions if cluster_id in one.clusters), None)
        section = sections.setdefault(name, {})
        known = section.get("metadata")
        section["metadata"] = {**(known if isinstance(known, dict) else {}), **_about(versions, enabled)}
    return {_EDITABLE: sections, "generated": {}}


def _by_name(backend: Backend, cluster_id: int, release: Release) -> dict[str, list[Plugin]]:
    """The plugins of an environment by name: those that are enabled there, and those that are made for its release."""
    found: dict[str, list[Plugin]] = {}
    for one in backend.plugins.list():
        if cluster_id in one.clusters or _is_for(one, release):
            found.setdefault(one.name, []).append(one)
    return found


def _is_for(plugin: Plugin, release: Release) -> bool:
    records = plugin.metadata.get("releases") or ()
    return any(
        isinstance(record, Mapping)
        and str(record.get("os", "")).lower() == release.operating_system.lower()
        and release.version.startswith(str(record.get("version", "")))
        for record in records
    )


def _about(versions: Sequence[Plugin], enabled: Plugin | None) -> dict[str, Any]:
    """What Nailgun says of a plugin in the metadata of its section."""
    chosen = enabled or versions[-1]
    return {
        "class": "plugin",
        "enabled": enabled is not None,
        "toggleable": True,
        "label": chosen.title or chosen.name,
        "weight": 70,
        "chosen_id": chosen.id,
        "versions": [
            {"metadata": {"plugin_id": one.id, "plugin_version": one.version, "always_editable": False}}
            for one in versions
        ],
    }


def _store(call: Call, sections: Mapping[str, Any]) -> Any:
    """The environment has these settings and these plugins; on an error it has what it had."""
    cluster_id = call.id("cluster_id")
    with call.connections.alone() as backend:
        known = {one.id: one for one in backend.plugins.list()}
        wanted, values = _split(sections, {one.name for one in known.values()})
        before = {one.name: one for one in known.values() if cluster_id in one.clusters}
        backend.clusters.get(cluster_id)
        undo: list[tuple[bool, int]] = []
        findings: list[Finding] = []
        settings = plain(backend.clusters.settings(cluster_id))
        chosen = {name: _named(known, name, plugin_id) for name, plugin_id in wanted.items()}
        try:
            for name, plugin in chosen.items():
                if plugin is not None:
                    findings += _switch(backend, cluster_id, before.get(name), plugin, undo)
            # what is set for a plugin is compared with its defaults, which are known while it is enabled
            backend.clusters.set_settings(cluster_id, values)
            for name, plugin in chosen.items():
                if plugin is None:
                    _switch(backend, cluster_id, before.get(name), None, undo)
        except FuelError:
            for enable, plugin_id in reversed(undo):
                (backend.plugins.enable if enable else backend.plugins.disable)(plugin_id, cluster_id)
            backend.clusters.set_settings(cluster_id, settings)
            raise
        return {**attributes(backend, cluster_id), "findings": [finding_to(one) for one in findings]}


def _switch(
    backend: Backend, cluster_id: int, before: Plugin | None, after: Plugin | None, undo: list[tuple[bool, int]]
) -> tuple[Finding, ...]:
    """One plugin is the version that is wanted, or none; how to undo that is appended to `undo`. What there is to know
    about it is returned."""
    findings: tuple[Finding, ...] = ()
    if before == after:
        return findings
    if after is None and before is not None:
        backend.plugins.disable(before.id, cluster_id)
        undo.append((True, before.id))
    elif after is not None:
        findings = backend.plugins.enable(after.id, cluster_id)
        undo.append((True, before.id) if before else (False, after.id))
    return findings


def _split(sections: Mapping[str, Any], names: set[str]) -> tuple[dict[str, int | None], dict[str, Any]]:
    """The plugins that are asked for, by name the id or None for a disabled one, and the settings without what says
    that. A section of a plugin that says nothing of being enabled leaves it as it is."""
    wanted: dict[str, int | None] = {}
    values: dict[str, Any] = {}
    for name, section in sections.items():
        metadata = section.get("metadata") if isinstance(section, Mapping) else None
        if name not in names or not isinstance(metadata, Mapping) or not isinstance(metadata.get("enabled"), bool):
            values[name] = section
            continue
        chosen = metadata.get("chosen_id", metadata.get("plugin_id"))
        wanted[name] = None if not metadata["enabled"] else chosen if isinstance(chosen, int) else 0
        own = {key: value for key, value in section.items() if key != "metadata"}
        if metadata["enabled"] or own:  # what was set for a plugin waits until it is enabled again
            values[name] = own
    return wanted, values


def _named(known: Mapping[int, Plugin], name: str, plugin_id: int | None) -> Plugin | None:
    """The plugin of the section `name` that is asked for; an id of 0 means the only one of the name."""
    if plugin_id is None:
        return None
    versions = [one for one in known.values() if one.name == name]
    if plugin_id == 0:
        if len(versions) > 1:
            raise UsageError(
                f"Plugin {name} is installed in several versions.", hint="Name the id of one in metadata.chosen_id."
            )
        return versions[0]
    if plugin_id not in known or known[plugin_id].name != name:
        raise NotFound("plugin", plugin_id, known=[str(one.id) for one in versions])
    return known[plugin_id]


def _over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """`below` with `above` over it: mappings merge, everything else is replaced."""
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        merged[key] = _over(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return merged


_METADATA = opened(enabled=TRUTH, chosen_id=NUMBER)
_SECTIONS = {"type": "object", "additionalProperties": opened(metadata=_METADATA)}
_BODY = closed((_EDITABLE,), editable=_SECTIONS, generated=MAPPING)
_ANSWER = opened((_EDITABLE, "generated"), editable=MAPPING, generated=MAPPING)
_PATH = "clusters/{cluster_id}/attributes"
_ONLY = (Query("settings_only", Kind.TRUTH, "nothing of plugins that are not enabled, nor of other versions"),)
_FORCE = (Query("force", Kind.TRUTH, "read by Nailgun only"),)

ROUTES = (
    Route("GET", _PATH, show, "The settings of an environment", {200: _ANSWER}, _ONLY),
    Route("PUT", _PATH, replace, "Set the settings of an environment", {200: _ANSWER}, _FORCE, _BODY),
    Route("PATCH", _PATH, update, "Change settings of an environment", {200: _ANSWER}, _FORCE, _BODY),
    Route("GET", f"{_PATH}/defaults", defaults, "The settings that a release has by itself", {200: _ANSWER}),
)
