"""Descriptions of roles and tags: the documents in which people write them, to values and back.

The shape is that of Nailgun's API: `name`, `meta`, and for a role `volumes_roles_mapping`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuelclient.model.document import Document
from fuelclient.model.release import Role, Tag, roles_in
from fuelclient.serializers.release_parts import check_part
from fuelclient.serializers.values import Report, did_you_mean, items_of, key_text, kind, line_of, plain

_MAPPING = "volumes_roles_mapping"
_ROLE_KEYS = ("name", "meta", _MAPPING)
_TAG_KEYS = ("name", "meta")


def role_from_document(document: Document, name: str) -> Role:
    """The role called `name` that a document describes.

    Raises `InvalidDocument` with all that is wrong: G006 for wrong shapes and for another name than `name`, G010 for
    unknown keys.
    """
    report = Report(document.file)
    data = _described(document.data, "role", name, _ROLE_KEYS, report)
    meta = data.get("meta") or {}
    check_part("roles_metadata", {name: meta}, line_of(data, "meta") or 1, report)
    volumes = data.get(_MAPPING)
    _check_volumes(volumes, line_of(data, _MAPPING) or 1, report)
    report.raise_errors()
    role = roles_in({"roles_metadata": {name: plain(meta)}})[name]
    return Role(name, role.tags, role.metadata, tuple(plain(volumes or ())))


def tag_from_document(document: Document, name: str) -> Tag:
    """The tag called `name` that a document describes. Raises what `role_from_document` raises."""
    report = Report(document.file)
    data = _described(document.data, "tag", name, _TAG_KEYS, report)
    meta = data.get("meta") or {}
    has_primary = meta.get("has_primary") if isinstance(meta, Mapping) else None
    if has_primary is not None and not isinstance(has_primary, bool):
        at = line_of(meta, "has_primary") or 1
        report.error("G006", at, f"has_primary must be true or false, not {kind(has_primary)}", "Leave it out for no.")
    report.raise_errors()
    return Tag(name, plain(meta))


def role_document_to(role: Role) -> dict[str, Any]:
    """The role as `role_from_document` takes it; of its volumes only how much of each it takes."""
    volumes = [
        {key: plain(one[key]) for key in ("id", "allocate_size") if key in one}
        for one in role.volumes
        if isinstance(one, Mapping)
    ]
    return {"name": role.name, "meta": plain(role.metadata), _MAPPING: volumes}


def tag_document_to(tag: Tag) -> dict[str, Any]:
    """The tag as `tag_from_document` takes it."""
    return {"name": tag.name, "meta": plain(tag.metadata)}


def _described(data: Any, noun: str, name: str, keys: tuple[str, ...], report: Report) -> Mapping[str, Any]:
    """The record of a document, checked as far as roles and tags have it in common."""
    if not isinstance(data, Mapping):
        hint = f"Start from 'fuel2 {noun} download'."
        report.error("G006", 1, f"the description of a {noun} is a mapping, not {kind(data)}", hint)
        report.raise_errors()
    for stated in data:
        key = key_text(stated)
        if key not in keys:
            at = line_of(data, str(stated)) or 1
            report.error("G010", at, f"the description of a {noun} has no key {key!r}", did_you_mean(key, keys))
    if data.get("name", name) != name:
        at = line_of(data, "name") or 1
        report.error(
            "G005", at, f"this describes the {noun} {data['name']}, not {name}", "Change one of the two names."
        )
    meta = data.get("meta")
    if meta is not None and not isinstance(meta, Mapping):
        at = line_of(data, "meta") or 1
        report.error("G006", at, f"meta must be a mapping, not {kind(meta)}", "Write its keys below it.")
        report.raise_errors()
    found: Mapping[str, Any] = data
    return found


def _check_volumes(volumes: Any, line: int, report: Report) -> None:
    if volumes is None:
        return
    if not isinstance(volumes, list | tuple):
        report.error("G006", line, f"{_MAPPING} must be a list, not {kind(volumes)}", "Write [] for no volumes.")
        return
    for item, at in items_of(volumes, line):
        if not isinstance(item, Mapping) or not isinstance(item.get("id"), str):
            message = f"a volume of a role is a mapping with an id, not {kind(item)}"
            report.error("G006", line_of(item) or at, message, "Write {id: os, allocate_size: min}.")
