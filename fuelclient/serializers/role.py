"""Roles and tags in Nailgun's shape, and the documents that describe them, to values and back.

A document has the shape of Nailgun's API: `name`, `meta`, and for a role `volumes_roles_mapping`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from fuelclient.errors import UsageError
from fuelclient.model.document import Document
from fuelclient.model.release import Role, Tag, roles_in
from fuelclient.serializers.answer import Answer
from fuelclient.serializers.release_metadata import check_part
from fuelclient.serializers.report import Report
from fuelclient.serializers.values import items_of, line_of, plain

_NAME = re.compile(r"[A-Za-z0-9_-]+")
_MAPPING = "volumes_roles_mapping"
_ROLE_KEYS = ("name", "meta", _MAPPING)
_TAG_KEYS = ("name", "meta")
DESCRIBED = _ROLE_KEYS
"""The keys with which Nailgun's API describes a role; a tag has the first two."""
_MAPPED = ("id", "allocate_size")
"""All that Nailgun returns of a volume of a role; the volumes themselves are metadata of the release."""
SIZES = ("all", "min", "full-disk")
"""The values of `allocate_size`: how much of the disks a volume of a role gets."""


def require_name(noun: str, name: str) -> None:
    """Raise `UsageError` if Nailgun does not allow `name` for a role or a tag."""
    if not _NAME.fullmatch(name):
        odd = next((letter for letter in name if not _NAME.fullmatch(letter)), "")
        but = f", not {odd!r}" if odd else ""
        raise UsageError(f"{name!r} cannot be the name of a {noun}.", hint=f"Use letters, digits, - and _ only{but}.")


def role_to(role: Role) -> dict[str, Any]:
    """Return the role as Nailgun's REST API does, and also its tags, its volumes as a whole and its owner."""
    return {
        **role_document_to(role),
        "tags": list(role.tags),
        "volumes": plain(role.volumes),
        "owner": role.owner,
    }


def role_from(data: Any) -> Role:
    """Return the role in an answer. Raise `InvalidDocument` if it is not one.

    From Fuel 10 on, Nailgun has the tags of a role in its metadata. A role without any carries one of its own name.
    """
    answer = Answer(data, "role")
    name, metadata = answer.stated("name"), answer.mapping("meta")
    if "tags" in answer.data:
        tags = answer.texts("tags")
    else:
        tags = Answer(metadata, "role").texts("tags") if metadata.get("tags") is not None else (name,)
    volumes = answer.items("volumes" if "volumes" in answer.data else _MAPPING)
    return Role(name, tags, metadata, tuple(plain(volumes)), answer.text("owner", "release"))


def tag_to(tag: Tag) -> dict[str, Any]:
    """Return a tag of a release or of an environment, as Nailgun's REST API returns it, and its owner."""
    return {**tag_document_to(tag), "owner": tag.owner}


def tag_from(data: Any) -> Tag:
    """Return the tag in an answer. Raise `InvalidDocument` if it is not one."""
    answer = Answer(data, "tag")
    return Tag(answer.stated("name"), answer.mapping("meta"), answer.text("owner", "release"))


def role_from_document(document: Document, name: str) -> Role:
    """Return the role called `name` that a document describes.

    Raise `InvalidDocument` with all findings: G005 if the document has another name, G006 for wrong shapes, G010 for
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
    """Return the tag called `name` that a document describes. Raise what `role_from_document` does."""
    report = Report(document.file)
    data = _described(document.data, "tag", name, _TAG_KEYS, report)
    meta = data.get("meta") or {}
    has_primary = meta.get("has_primary") if isinstance(meta, Mapping) else None
    if has_primary is not None and not isinstance(has_primary, bool):
        line = line_of(meta, "has_primary") or 1
        report.misshapen(line, "has_primary must be true or false", has_primary, "Leave it out for no.")
    report.raise_errors()
    return Tag(name, plain(meta))


def role_document_to(role: Role) -> dict[str, Any]:
    """Return the role as `role_from_document` reads it. Of its volumes only the sizes are included."""
    volumes = [
        {key: plain(volume[key]) for key in _MAPPED if key in volume}
        for volume in role.volumes
        if isinstance(volume, Mapping)
    ]
    return {"name": role.name, "meta": plain(role.metadata), _MAPPING: volumes}


def tag_document_to(tag: Tag) -> dict[str, Any]:
    """Return the tag as `tag_from_document` reads it."""
    return {"name": tag.name, "meta": plain(tag.metadata)}


def _described(data: Any, noun: str, name: str, keys: tuple[str, ...], report: Report) -> Mapping[str, Any]:
    """Return the record in a document, with the checks that roles and tags have in common."""
    if not isinstance(data, Mapping):
        report.misshapen(1, f"the description of a {noun} is a mapping", data, f"Start from 'fuel2 {noun} download'.")
        report.raise_errors()
    report.check_keys(data, keys, f"the description of a {noun}", 1)
    if data.get("name", name) != name:
        message = f"this describes the {noun} {data['name']}, not {name}"
        report.error("G005", line_of(data, "name") or 1, message, "Change one of the two names.")
    meta = data.get("meta")
    if meta is not None and not isinstance(meta, Mapping):
        report.misshapen(line_of(data, "meta") or 1, "meta must be a mapping", meta, "Write its keys below it.")
        report.raise_errors()
    record: Mapping[str, Any] = data
    return record


def _check_volumes(volumes: Any, line: int, report: Report) -> None:
    if volumes is None:
        return
    if not isinstance(volumes, list | tuple):
        report.misshapen(line, f"{_MAPPING} must be a list", volumes, "Write [] for no volumes.")
        return
    for item, at in items_of(volumes, line):
        if not isinstance(item, Mapping) or not isinstance(item.get("id"), str):
            hint = "Write {id: os, allocate_size: min}."
            report.misshapen(line_of(item) or at, "a volume of a role is a mapping with an id", item, hint)
        elif item.get("allocate_size", "min") not in SIZES:
            line, size = line_of(item, "allocate_size") or at, item["allocate_size"]
            report.misshapen(line, "allocate_size must be all, min or full-disk", size, "Write for example min.")
