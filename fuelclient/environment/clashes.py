"""Find clashes of a plugin with the release or another plugin. Pure.

Equal roles, volumes, components and network roles are errors, worded as in Nailgun. A task
that two plugins define is a warning: both are kept, and previews report an error only if both run on one node.
Source: Nailgun's plugin manager, and `policy.merge` for network roles.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fuelclient.environment.roles import VIP
from fuelclient.model.finding import Finding, Place, Severity, listed
from fuelclient.model.plugin import Plugin
from fuelclient.model.release import Release
from fuelclient.serializers.values import mapping, mappings

ROLE, VOLUME, COMPONENT, NETWORK_ROLE, TASK, OVERRIDE = "P074", "P075", "P076", "P077", "P078", "P079"
"""The codes of findings, one for each type of clash. `OVERRIDE` is not a clash, but worth knowing."""

_COMPONENT_HINT = "Disable one of the two plugins, or rename the component in one of them."


@dataclass(frozen=True, slots=True)
class Contributor:
    """A plugin or the release of an environment, with the ids of the tasks that it defines, by graph type."""

    source: Plugin | Release
    tasks: Mapping[str, Collection[str]] = field(default_factory=dict)

    @property
    def is_release(self) -> bool:
        return isinstance(self.source, Release)

    @property
    def full_name(self) -> str:
        return f"{self.source.name}-{self.source.version}"

    @property
    def in_sentence(self) -> str:
        return "the release" if self.is_release else f"plugin {self.full_name}"


def clashes(plugin: Contributor, release: Contributor, others: Sequence[Contributor]) -> tuple[Finding, ...]:
    """Find the clashes of `plugin` with the release and with `others`, the enabled plugins; errors come first.

    >>> roles = {"roles_metadata": {"x": {}}}
    >>> plugin, release = Plugin(2, "a", "1.0.0", metadata=roles), Release(1, "r", "newton-10.0", metadata=roles)
    >>> [finding.message for finding in clashes(Contributor(plugin), Contributor(release), [])]
    ['Plugin (ID=2) is unable to register the following node roles: x']
    """
    present = (release, *others)
    return (
        *_roles(plugin, present),
        *_volumes_and_components(plugin, present),
        *_network_roles(plugin, present),
        *_tasks(plugin, others),
        *_overrides(plugin, release),
    )


def _roles(plugin: Contributor, present: Sequence[Contributor]) -> Iterator[Finding]:
    own = mapping(plugin.source.metadata.get("roles_metadata"))
    taken = {
        name: other
        for other in reversed(present)
        for name in mapping(other.source.metadata.get("roles_metadata"))
        if name in own
    }
    if not taken:
        return
    names = ", ".join(sorted(taken))
    owners = "; ".join(f"role {name} is {other.in_sentence}'s" for name, other in sorted(taken.items()))
    text = f"Plugin (ID={plugin.source.id}) is unable to register the following node roles: {names}"
    yield _error(plugin, ROLE, text, f"In this environment {owners}. Rename the role, or disable the other plugin.")


def _volumes_and_components(plugin: Contributor, present: Sequence[Contributor]) -> Iterator[Finding]:
    """Yield an error for each volume or component whose name the release or another plugin uses too."""
    volumes = [mapping(party.source.metadata.get("volumes_metadata")).get("volumes") for party in (plugin, *present)]
    for other, name in _shared(present, volumes, "id"):
        shared = f'{other.in_sentence.removeprefix("the ")} by introducing the same volume with id "{name}"'
        hint = f"Two volumes cannot have one id; {other.in_sentence} already has {name}."
        yield _error(plugin, VOLUME, f"Plugin {plugin.full_name} is overlapping with {shared}", hint)
    components = [party.source.metadata.get("components_metadata") for party in (plugin, *present)]
    for other, name in _shared(present, components, "name"):
        owner = "release" if other.is_release else other.source.name
        shared = f'{owner} by introducing the same component with name "{name}"'
        hint = f"The component {name} already belongs to {other.in_sentence}. {_COMPONENT_HINT}"
        yield _error(plugin, COMPONENT, f"Plugin {plugin.source.name} is overlapping with {shared}", hint)


def _shared(present: Sequence[Contributor], records: Sequence[Any], key: str) -> Iterator[tuple[Contributor, str]]:
    """Yield (owner, name) for each name (at `key`) in the first of `records` that another one has too."""
    own, *theirs = (dict.fromkeys(str(item[key]) for item in mappings(each) if key in item) for each in records)
    return ((other, name) for other, names in zip(present, theirs, strict=True) for name in own if name in names)


def _network_roles(plugin: Contributor, present: Sequence[Contributor]) -> Iterator[Finding]:
    """Yield an error for each network role that has the id of another one, but a different property or VIP."""
    for role in mappings(plugin.source.metadata.get("network_roles_metadata")):
        causes: list[str] = []
        names = [plugin.source.name]
        for other in present:
            for theirs in mappings(other.source.metadata.get("network_roles_metadata")):
                if theirs.get("id") == role.get("id"):
                    reasons = list(differences(theirs, role))
                    causes += [f"{other.in_sentence}: {reason}" for reason in reasons]
                    names += [other.source.name] if reasons and not other.is_release else []
        if causes:
            text = f"Cannot override existing network roles: '{role.get('id')}' in plugins: '{', '.join(names)}'"
            yield _error(plugin, NETWORK_ROLE, text, f"{'; '.join(dict.fromkeys(causes))}.")


def differences(target: Mapping[str, Any], patch: Mapping[str, Any]) -> Iterator[str]:
    """Yield the reasons why two network roles with one id cannot be merged, worded as in Nailgun.

    Only properties that both have are compared; `roles.merged_network_roles` merges lists of VIPs.

    >>> list(differences({"properties": {"subnet": True}}, {"properties": {"subnet": False, "gateway": True}}))
    ['Cannot apply patch for attribute subnet: conflict']
    """
    ours, theirs = mapping(target.get("properties")), mapping(patch.get("properties"))
    for name, value in theirs.items():
        if name not in ours or _same(ours[name], value):
            continue
        if name != VIP:
            yield f"Cannot apply patch for attribute {name}: conflict"
            continue
        known = {vip.get("name"): vip for vip in mappings(ours[name])}
        for vip in mappings(value):
            if vip.get("name") in known and not _same(known[vip.get("name")], vip):
                yield f"Cannot apply patch for attribute vip: VIP '{vip.get('name')}' conflicts with existing one"


def _tasks(plugin: Contributor, others: Sequence[Contributor]) -> Iterator[Finding]:
    for other in others:
        for graph_type, task_ids in sorted(plugin.tasks.items()):
            theirs = frozenset(other.tasks.get(graph_type, ()))
            for task_id in task_ids:
                if task_id in theirs:
                    text = (
                        f"Plugin {plugin.full_name} is overlapping with plugin {other.full_name} by introducing the"
                        f" same deployment task with id {task_id}"
                    )
                    hint = "Both are kept. A run is only refused if roles bring both to one node."
                    place = Place(layer=f"plugin {plugin.full_name}")
                    yield Finding(Severity.WARNING, TASK, text, place, task_id, hint)


def _overrides(plugin: Contributor, release: Contributor) -> Iterator[Finding]:
    for graph_type, task_ids in sorted(plugin.tasks.items()):
        known = frozenset(release.tasks.get(graph_type, ()))
        if names := [task_id for task_id in task_ids if task_id in known]:
            count = f"{len(names)} task{'' if len(names) == 1 else 's'}"
            text = (
                f"plugin {plugin.full_name} overrides {count} of the release in the {graph_type} graph: {listed(names)}"
            )
            yield Finding(Severity.INFO, OVERRIDE, text, Place(layer=f"plugin {plugin.full_name}"))


def _error(plugin: Contributor, code: str, text: str, hint: str) -> Finding:
    return Finding(Severity.ERROR, code, text, Place(layer=f"plugin {plugin.full_name}"), hint=hint)


def _same(ours: Any, theirs: Any) -> bool:
    return type(ours) is type(theirs) and bool(ours == theirs)
