"""Convert the roles, tags and volumes of a package to the shapes that Nailgun uses.

The specification "role-as-a-plugin" puts a role under `metadata`, with `volumes_mapping` next to it, and calls the
logical volumes of a group `items`. Nailgun has flat roles, the mapping in `volumes.yaml`, and logical volumes under
`volumes`. Both are read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuelclient.model.document import Marked, MarkedList
from fuelclient.plan.fleet import PRIMARY
from fuelclient.plugins.package_files import PackageFiles
from fuelclient.plugins.parts import without
from fuelclient.serializers.values import key_text, line_of

MAPPING = "volumes_roles_mapping"
_VOLUMES = "volumes"
_NESTED = "metadata"
_OWN_VOLUMES = "volumes_mapping"


def normal_roles(files: PackageFiles, stated: Mapping[str, Any], file: str) -> tuple[dict[str, Marked], dict[str, Any]]:
    """Return the roles of `file` in the flat shape, and the volumes of roles that list their own.

    Roles that are not mappings, and volumes and tags that are not lists, are left out as `misshapen`.
    """
    roles: dict[str, Marked] = {}
    volumes: dict[str, Any] = {}
    for key, value in stated.items():
        name = key_text(key)
        if not isinstance(value, Mapping):
            files.misshapen[files.place(stated, key, file=file)] = None
            continue
        role = flat(value)
        if _OWN_VOLUMES in role:
            volumes[name] = files.shaped(role, _OWN_VOLUMES, list, file=file) or []
            role = without(role, _OWN_VOLUMES)
        if isinstance(role.get("tags"), str):
            role["tags"] = [role["tags"]]
        elif role.get("tags") is not None:
            role["tags"] = files.shaped(role, "tags", list, file=file) or []
        roles[name] = role
    return roles, volumes


def normal_volumes(
    files: PackageFiles, stated: Mapping[str, Any], own: Mapping[str, Any], file: str
) -> Mapping[str, Any]:
    """Return the volumes of `file`, with the mapping of roles to volumes. `own` are the volumes that roles list.

    Empty if both are. A role with different volumes in both places is an error in the findings of `files`.
    """
    if not stated and not own:
        return {}
    mapping = files.shaped(stated, MAPPING, dict, file=file) or {}
    for name in own:
        if name in mapping and mapping[name] != own[name]:
            message = f"the volumes of the role {name} are listed here and, differently, with the role"
            files.reject("P003", message, files.place(mapping, name, file=file), "Keep one of the two.")
    listed = files.shaped(stated, _VOLUMES, list, file=file) or []
    volumes = MarkedList(
        (_normal_volume(files, volume, file) for volume in listed),
        listed.lines if isinstance(listed, MarkedList) else (),
    )
    if not all(isinstance(volume, Mapping) for volume in listed):
        files.misshapen[files.place(stated, _VOLUMES, file=file)] = None
    normal = without(stated, MAPPING, _VOLUMES)
    normal.lines.update({key: line_of(stated, key) for key in (MAPPING, _VOLUMES) if key in stated})
    normal[MAPPING] = {**mapping, **own}
    normal[_VOLUMES] = volumes
    return normal


def tagged(
    roles: Mapping[str, Marked], stated: Mapping[str, Any] | None
) -> tuple[dict[str, Marked], Mapping[str, Any]]:
    """Return the roles with their tags, and all tags of the package.

    In a package without tags of its own (`stated` is None: before version 6), a role that lists none gets the tag of
    its own name, which has a primary node if the role does. An empty list stays empty.

    Source: Nailgun, `objects/plugin.py`.

    >>> tagged({"db": Marked({"has_primary": True}), "log": Marked({"tags": []})}, None)
    ({'db': {'has_primary': True, 'tags': ['db']}, 'log': {'tags': []}}, {'db': {'has_primary': True}})
    """
    if stated is not None:
        return dict(roles), stated
    tags: dict[str, Any] = {}
    all_roles: dict[str, Marked] = {}
    for name, role in roles.items():
        all_roles[name] = without(role)
        if role.get("tags") is None:
            all_roles[name]["tags"] = [name]
            tags[name] = {"has_primary": bool(role.get("has_primary", False))}
    return all_roles, tags


def placing_words(name: str, role: Mapping[str, Any], tags: Mapping[str, Any]) -> list[str]:
    """Return the words by which a group finds every node with a role: its tag, and that of the primary node.

    The primary node carries `primary-NAME` instead of the tag, so a group for NAME alone would leave it out. A role
    that lists other tags than its own name is found by those. `tags` are those that the package defines.

    >>> placing_words("db", {"has_primary": True}, {}), placing_words("log", {}, {})
    (['primary-db', 'db'], ['log'])
    >>> placing_words("db", {"tags": ["sql", "disk"]}, {"sql": {"has_primary": True}})
    ['primary-sql', 'sql', 'disk']
    """
    stated = role.get("tags")
    own = [str(tag) for tag in stated] if isinstance(stated, list) and name not in stated else [name]
    words: list[str] = []
    for tag in own:
        described = tags.get(tag)
        tag_has_primary = isinstance(described, Mapping) and bool(described.get("has_primary"))
        words += [f"{PRIMARY}{tag}", tag] if role.get("has_primary") or tag_has_primary else [tag]
    return words


def flat(role: Mapping[str, Any]) -> Marked:
    """Dissolve the `metadata` level of a role. Keys next to `metadata` win over those in it."""
    nested = role.get(_NESTED)
    if not isinstance(nested, Mapping):
        return without(role)
    flat, beside = without(nested), without(role, _NESTED)
    flat.update(beside)
    flat.lines.update(beside.lines)
    flat.line = beside.line
    return flat


def _normal_volume(files: PackageFiles, volume: Any, file: str) -> Any:
    """Rename `items` of a volume to `volumes`, as Nailgun has it."""
    if not isinstance(volume, Mapping) or "items" not in volume:
        return volume
    if volume.get(_VOLUMES) not in (None, volume["items"]):
        message = f"the volume {volume.get('id')} has items and, differently, volumes"
        files.reject("P003", message, files.place(volume, "items", file=file), "Keep one of the two.")
    normal = without(volume, "items", _VOLUMES)
    normal[_VOLUMES] = volume["items"]
    normal.lines[_VOLUMES] = line_of(volume, "items")
    return normal
