"""Change the version of an environment's release: which versions it can have, and what it loses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fuelclient.environment import settings
from fuelclient.environment.networks import NETWORKS, default_configuration
from fuelclient.errors import Conflict
from fuelclient.model.environment import Environment
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.model.release import Release


def is_another_version(release: Release, other: Release) -> bool:
    """Whether two releases are versions of one: they have the same name and operating system.

    >>> is_another_version(Release(1, "Cloud", "1", "Ubuntu"), Release(2, "Cloud", "2", "ubuntu"))
    True
    """
    return (release.name, release.operating_system.lower()) == (other.name, other.operating_system.lower())


def require_another_version(now: Release, wanted: Release, known: Iterable[Release]) -> None:
    """Raise `Conflict` unless `wanted` is another version of `now`. Its hint lists such releases in `known`."""
    if wanted.id != now.id and is_another_version(now, wanted):
        return
    others = [f"{each.id} ({each.version})" for each in known if each.id != now.id and is_another_version(now, each)]
    hint = f"Its other versions: {', '.join(others)}." if others else "No other version of it is here yet."
    if wanted.id == now.id:
        raise Conflict(f"The environment has release {now.id} ({now.name} {now.version}) already.", hint=hint)
    raise Conflict(
        f"Release {wanted.id} ({wanted.name} {wanted.version}, {wanted.operating_system}) is not another version of "
        f"{now.name} ({now.operating_system}), the release of the environment.",
        hint=hint,
    )


def kept_settings(before: Environment, after: Environment) -> tuple[dict[str, Any], tuple[Finding, ...]]:
    """Drop own settings that only the old release has, with a finding for each."""
    lost: list[str] = []
    own = _kept(before.own_settings, settings.defaults(before), settings.defaults(after), "", lost)
    return own, tuple(_dropped(after, f"its own value of the setting {path}") for path in lost)


def kept_networks(before: Environment, after: Environment) -> tuple[dict[str, Any], tuple[Finding, ...]]:
    """Drop own networks that only the old release has, with a finding for each."""
    old, new = ({network["name"] for network in default_configuration(each)[NETWORKS]} for each in (before, after))
    removed = old - new
    own = before.own_networks.get(NETWORKS) or {}
    kept = {name: network for name, network in own.items() if name not in removed}
    lost = tuple(_dropped(after, f"its own values of the network {name}") for name in own if name in removed)
    return ({**before.own_networks, NETWORKS: kept} if lost else dict(before.own_networks)), lost


def _kept(
    own: Mapping[str, Any], before: Mapping[str, Any], after: Mapping[str, Any], prefix: str, lost: list[str]
) -> dict[str, Any]:
    """Keep the values that the new defaults have or the old ones lacked. Add the paths of others to `lost`."""
    kept: dict[str, Any] = {}
    for name, value in own.items():
        path = f"{prefix}{name}"
        if name not in after and name in before:
            lost.append(path)
        elif not prefix and isinstance(value, Mapping):
            old, new = before.get(name), after.get(name)
            if (inner := _kept(value, old if old else {}, new if new else {}, f"{path}.", lost)) or not value:
                kept[name] = inner
        else:
            kept[name] = value
    return kept


def _dropped(after: Environment, what: str) -> Finding:
    release = after.release
    text = f"{what} is dropped: release {release.name} {release.version} does not have it"
    return Finding(Severity.WARNING, "P090", text, Place(layer=after.label))
