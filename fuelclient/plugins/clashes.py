"""Clashes: what a plugin brings that a release or another plugin has already. Pure.

Roles, volumes, components and network roles are errors, in the short texts that Nailgun uses and with a hint in
plain words. A task that two plugins define is a warning: both stay, and only both on one node is an
error, which previews tell. Source: Nailgun's plugin manager, and `policy.merge` for network roles.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fuelclient.model.finding import Finding, Place, Severity

ROLE, VOLUME, COMPONENT, NETWORK_ROLE, TASK, OVERRIDE = "P074", "P075", "P076", "P077", "P078", "P079"
"""The codes of findings, one for each kind of clash; the last one is no clash but worth knowing."""

_APART = "Disable one of the two plugins, or rename it in one of them."
_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Contributor:
    """Who brings something to an environment: a plugin, or the release (id 0, without version).

    `metadata` has the contents under Nailgun's names, `tasks` the ids of the tasks by graph type.
    """

    id: int
    name: str
    version: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    tasks: Mapping[str, Collection[str]] = field(default_factory=dict)

    @property
    def is_release(self) -> bool:
        return not self.version

    @property
    def full_name(self) -> str:
        """As Nailgun's messages name it: `release`, or name and version of a plugin."""
        return "release" if self.is_release else f"{self.name}-{self.version}"

    @property
    def words(self) -> str:
        """As a sentence names it."""
        return "the release" if self.is_release else f"plugin {self.full_name}"

    @property
    def other(self) -> str:
        """As Nailgun's messages name the second party."""
        return "release" if self.is_release else f"plugin {self.full_name}"


def clashes(plugin: Contributor, release: Contributor, others: Sequence[Contributor]) -> tuple[Finding, ...]:
    """Everything in which `plugin` meets the release and the `others`, plugins that are enabled; errors first.

    >>> one = Contributor(2, "a", "1.0.0", {"roles_metadata": {"x": {}}})
    >>> [found.message for found in clashes(one, Contributor(0, "r", metadata={"roles_metadata": {"x": {}}}), [])]
    ['Plugin (ID=2) is unable to register the following node roles: x']
    """
    present = (release, *others)
    found = (
        *_roles(plugin, present),
        *_volumes(plugin, present),
        *_components(plugin, present),
        *_network_roles(plugin, present),
        *_tasks(plugin, others),
        *_overrides(plugin, release),
    )
    return tuple(found)


def _roles(plugin: Contributor, present: Sequence[Contributor]) -> Iterator[Finding]:
    mine = _mapping(plugin, "roles_metadata")
    taken = {name: other for other in reversed(present) for name in _mapping(other, "roles_metadata") if name in mine}
    if not taken:
        return
    names = ", ".join(sorted(taken))
    owners = "; ".join(f"role {name} is {other.words}'s" for name, other in sorted(taken.items()))
    text = f"Plugin (ID={plugin.id}) is unable to register the following node roles: {names}"
    yield _error(plugin, ROLE, text, f"In this environment {owners}. Rename the role, or disable the other plugin.")


def _volumes(plugin: Contributor, present: Sequence[Contributor]) -> Iterator[Finding]:
    mine = _names(_mapping(plugin, "volumes_metadata").get("volumes"), "id")
    for other in present:
        for name in mine:
            if name in _names(_mapping(other, "volumes_metadata").get("volumes"), "id"):
                text = (
                    f"Plugin {plugin.full_name} is overlapping with {other.other} by introducing the same volume"
                    f' with id "{name}"'
                )
                yield _error(plugin, VOLUME, text, f"Two volumes cannot have one id; {other.words} has {name} already.")


def _components(plugin: Contributor, present: Sequence[Contributor]) -> Iterator[Finding]:
    mine = _names(plugin.metadata.get("components_metadata"), "name")
    for other in present:
        theirs = _names(other.metadata.get("components_metadata"), "name")
        for name in mine:
            if name in theirs:
                who = "release" if other.is_release else other.name
                text = (
                    f"Plugin {plugin.name} is overlapping with {who} by introducing the same component"
                    f' with name "{name}"'
                )
                yield _error(plugin, COMPONENT, text, f"The component {name} is {other.words}'s already. {_APART}")


def _network_roles(plugin: Contributor, present: Sequence[Contributor]) -> Iterator[Finding]:
    """Network roles of one id merge, unless they say different things of one property or VIP."""
    for role in _records(plugin.metadata.get("network_roles_metadata")):
        causes: list[str] = []
        names = [plugin.name]
        for other in present:
            for theirs in _records(other.metadata.get("network_roles_metadata")):
                if theirs.get("id") == role.get("id"):
                    reasons = list(differences(theirs, role))
                    causes += [f"{other.words}: {reason}" for reason in reasons]
                    names += [other.name] if reasons and not other.is_release else []
        if causes:
            text = f"Cannot override existing network roles: '{role.get('id')}' in plugins: '{', '.join(names)}'"
            yield _error(plugin, NETWORK_ROLE, text, f"{'; '.join(dict.fromkeys(causes))}.")


def differences(target: Mapping[str, Any], patch: Mapping[str, Any]) -> Iterator[str]:
    """Why two network roles of one id cannot be one, in Nailgun's words.

    Only properties that both state are compared; lists of VIPs merge by name, and an empty one takes none away
    (in Nailgun it does).

    >>> list(differences({"properties": {"subnet": True}}, {"properties": {"subnet": False, "gateway": True}}))
    ['Cannot apply patch for attribute subnet: conflict']
    """
    ours, theirs = _properties(target), _properties(patch)
    for name, value in theirs.items():
        if name not in ours or _same(ours[name], value):
            continue
        if name != "vip":
            yield f"Cannot apply patch for attribute {name}: conflict"
            continue
        known = {vip.get("name"): vip for vip in _records(ours[name])}
        for vip in _records(value):
            if vip.get("name") in known and not _same(known[vip.get("name")], vip):
                yield f"Cannot apply patch for attribute vip: VIP '{vip.get('name')}' conflicts with existing one"


def _tasks(plugin: Contributor, others: Sequence[Contributor]) -> Iterator[Finding]:
    for other in others:
        for kind, task_ids in sorted(plugin.tasks.items()):
            theirs = frozenset(other.tasks.get(kind, ()))
            for task_id in task_ids:
                if task_id in theirs:
                    text = (
                        f"Plugin {plugin.full_name} is overlapping with plugin {other.full_name} by introducing the"
                        f" same deployment task with id {task_id}"
                    )
                    hint = "Both stay; roles that bring both to one node are an error before a run."
                    place = Place(layer=f"plugin {plugin.full_name}")
                    yield Finding(Severity.WARNING, TASK, text, place, task_id, hint)


def _overrides(plugin: Contributor, release: Contributor) -> Iterator[Finding]:
    for kind, task_ids in sorted(plugin.tasks.items()):
        known = frozenset(release.tasks.get(kind, ()))
        names = [task_id for task_id in task_ids if task_id in known]
        if names:
            shown = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
            count = f"{len(names)} task{'' if len(names) == 1 else 's'}"
            text = f"plugin {plugin.full_name} overrides {count} of the release in the {kind} graph: {shown}"
            yield Finding(Severity.INFO, OVERRIDE, text, Place(layer=f"plugin {plugin.full_name}"))


def _error(plugin: Contributor, code: str, text: str, hint: str) -> Finding:
    return Finding(Severity.ERROR, code, text, Place(layer=f"plugin {plugin.full_name}"), hint=hint)


def _mapping(party: Contributor, key: str) -> Mapping[str, Any]:
    found = party.metadata.get(key)
    return found if isinstance(found, Mapping) else {}


def _records(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list | tuple) else []


def _names(value: Any, key: str) -> list[str]:
    return list(dict.fromkeys(str(item[key]) for item in _records(value) if key in item))


def _properties(role: Mapping[str, Any]) -> Mapping[str, Any]:
    found = role.get("properties")
    return found if isinstance(found, Mapping) else {}


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)
