"""Releases with their package repositories, roles and tags: Nailgun's fixtures, answers and documents, and back.

A fixture is a list of records with `model`, `fields` and, for records to be loaded, `pk`. `extend` names (by a YAML
alias) the record that a record is based on. The document of a role or a tag has the shape of Nailgun's API: `name`,
`meta`, and for a role `volumes_roles_mapping`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from fuelclient.errors import UsageError
from fuelclient.model.document import Document, Marked
from fuelclient.model.release import Release, Role, Tag, roles_in
from fuelclient.serializers.answer import Answer
from fuelclient.serializers.release_metadata import check_part
from fuelclient.serializers.report import Report
from fuelclient.serializers.values import items_of, key_text, line_of, mappings, plain

_MODEL = "nailgun.release"
_ENVELOPE = ("pk", "model", "fields", "extend")
_ALIASES = {"os": "operating_system", "release_name": "name"}
_TEXTS = ("name", "version", "operating_system", "state", "description")

_ATTRIBUTES = "attributes_metadata"
_PATH = ("editable", "repo_setup", "repos", "value")
"""The path of the repositories in Nailgun's releases: the default of a setting."""

_DEFAULTS: dict[str, Any] = {
    "is_deployable": True, "modes_metadata": {}, "roles_metadata": {}, "attributes_metadata": {},
    "components_metadata": [],
}  # fmt: skip
"""Keys that clients expect in a release, with their default values."""


def releases_from(document: Document) -> list[Release]:
    """Read the releases of a document, in its order. Records that only serve as a base are left out.

    The document is a Nailgun fixture, the fields of one release (as `release show -f json` prints them), or a list of
    such fields. Raise `InvalidDocument` with all findings: G002 for a missing name or version, G006 for wrong shapes,
    G007 for conflicting spellings.
    """
    report = Report(document.file)
    data = [document.data] if isinstance(document.data, Mapping) else document.data
    releases: list[Release] = []
    ids: set[int] = set()
    for each in mappings(data):
        if "package_version" in each:
            hint = "Install its directory: `fuel2 plugins install DIRECTORY`."
            report.error("G006", line_of(each), "this is the metadata of a plugin, not a release", hint)
        elif {"name", "operating_system"}.isdisjoint(each) and not {"tasks", "type"}.isdisjoint(each):
            hint = "Upload them: `fuel2 graph upload --release ID --type TYPE --file FILE`."
            report.error("G006", line_of(each), "these are tasks of a graph, not releases", hint)
        report.raise_errors()
    for item, line in report.entries(data, "a release file is a list of releases", "Name another file."):
        if (release := _record(item, line, report)) is None:
            continue
        if release.id in ids:
            report.error("G006", line, f"two releases have the id {release.id}", "Number them differently.")
        ids.update([release.id] if release.id else [])
        releases.append(release)
    if not releases and not report.findings:
        report.error("G006", 0, "the file contains no release", "Records need a pk, or a name and a version.")
    report.raise_errors()
    return releases


def release_to(release: Release) -> dict[str, Any]:
    """Write the fields of a release under Nailgun's names, which `releases_from` reads."""
    return {**{key: getattr(release, key) for key in ("id", *_TEXTS)}, **release.metadata}


def release_record_to(release: Release) -> dict[str, Any]:
    """Write a release with all keys that clients expect."""
    return {**plain(_DEFAULTS), **plain(release_to(release))}


def release_record_from(data: Any) -> Release:
    """Read a release, without checking its metadata: the master accepted it. Raise `InvalidDocument`."""
    answer = Answer(data, "release")
    state, metadata = answer.text("state", "available"), answer.rest("id", *_TEXTS)
    return answer.into(Release, "id", "name", "version", optional=_TEXTS, state=state, metadata=metadata)


def _record(item: Any, line: int, report: Report) -> Release | None:
    """The release of a record; None for a base, for another model, and after an error."""
    if not isinstance(item, Mapping):
        report.misshapen(line, "a release is a mapping", item, "Write its name and version.")
        return None
    if not any(key in item for key in _ENVELOPE):
        return _release(item.get("id", 0), item, line, report)
    if item.get("model", _MODEL) != _MODEL or item.get("pk") is None:
        return None
    fields = _inherited(item, report)
    return None if fields is None else _release(item["pk"], fields, line, report)


def _inherited(item: Mapping[str, Any], report: Report) -> Marked | None:
    """The fields of a record, merged over those of the records that it extends."""
    fields = item.get("fields", {})
    base = item.get("extend", {})
    if not isinstance(fields, Mapping) or not isinstance(base, Mapping):
        word = "extend" if isinstance(fields, Mapping) else "fields"
        report.misshapen(line_of(item, word), f"{word} must be a mapping", item[word], "Correct it.")
        return None
    base_fields = _inherited(base, report) if base else Marked()
    return None if base_fields is None else _merged_over(base_fields, fields)


def _merged_over(base: Marked, fields: Mapping[Any, Any]) -> Marked:
    """Put `fields` over `base`, with their lines: mappings merge deeply, everything else replaces."""
    merged = Marked(base, base.line, base.lines)
    for key, value in fields.items():
        old = merged.get(key)
        if isinstance(old, Mapping) and isinstance(value, Mapping):
            merged[key] = _merged_over(old if isinstance(old, Marked) else Marked(old), value)
        else:
            merged[key] = value
        merged.lines[str(key)] = line_of(fields, str(key))
    return merged


def _release(identity: Any, fields: Mapping[Any, Any], line: int, report: Report) -> Release | None:
    before = len(report.findings)
    if isinstance(identity, bool) or not isinstance(identity, int) or identity < 0:
        report.misshapen(line, "the id of a release is a whole number", identity, "Number it.")
    given: dict[str, Any] = {}
    for raw_key, value in fields.items():
        key = key_text(raw_key)
        key = _ALIASES.get(key, key)
        at = line_of(fields, str(raw_key)) or line
        if key in given and plain(value) != given[key]:
            report.error("G007", at, f"{key} is stated in two spellings with different values", "Keep one of them.")
        elif key in _TEXTS and value is not None and not isinstance(value, str):
            report.misshapen(at, f"{key} must be a string", value, "Write it in quotes.")
        else:
            check_part(key, value, at, report)
        given[key] = plain(value)
    for key in ("name", "version"):
        if not given.get(key):
            report.error("G002", line, f"the release has no {key}", f"Add `{key}:` to its fields.")
    if len(report.findings) > before:
        return None
    given.pop("id", None)
    texts = {key: given.pop(key, None) for key in _TEXTS}
    return Release(identity, metadata=given, **{key: value for key, value in texts.items() if value})


def repositories_in(metadata: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The repositories of a release; an empty list if its metadata has none, or not a list.

    >>> metadata = with_repositories({}, [{"name": "mos"}])
    >>> repositories_in(metadata), repositories_in({})
    ([{'name': 'mos'}], [])
    """
    value: Any = metadata.get(_ATTRIBUTES)
    for key in _PATH:
        value = value.get(key) if isinstance(value, Mapping) else None
    return mappings(value)


def with_repositories(metadata: Mapping[str, Any], repositories: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The section of metadata that gives a release these repositories."""
    attributes = plain(metadata.get(_ATTRIBUTES) or {})
    section = attributes
    for key in _PATH[:-1]:
        child = section.get(key)
        section[key] = child if isinstance(child, dict) else {}
        section = section[key]
    section[_PATH[-1]] = plain(repositories)
    return {_ATTRIBUTES: attributes}


def repositories_from(document: Document) -> list[dict[str, Any]]:
    """Read a document with repositories.

    Raise `InvalidDocument` with all findings: G002 for a missing name or address, G006 for wrong shapes.
    """
    report, rule, hint = Report(document.file), "repositories are a list", "Begin each repository with `- name:`."
    if document.data is None:
        report.misshapen(1, rule, None, hint)
    for item, line in report.entries(document.data, rule, hint):
        _check_repository(item, line, report)
    report.raise_errors()
    repositories: list[dict[str, Any]] = plain(document.data)
    return repositories


def _check_repository(item: Any, line: int, report: Report) -> None:
    if not isinstance(item, Mapping):
        report.misshapen(line, "a repository is a mapping", item, "Write {name: mos, uri: ...}.")
        return
    for key in ("name", "uri"):
        if item.get(key) is None:
            report.error("G002", line, f"the repository has no {key}", f"Add `{key}:`.")
    for key in ("name", "type", "uri", "suite", "section"):
        if (value := item.get(key)) is not None and not isinstance(value, str):
            report.misshapen(line_of(item, key) or line, f"{key} must be a string", value, "Quote it.")
    if (priority := item.get("priority")) is not None and (isinstance(priority, bool) or not isinstance(priority, int)):
        line = line_of(item, "priority") or line
        report.misshapen(line, "priority must be a whole number", priority, "Leave it out for none.")


_NAME = re.compile(r"[A-Za-z0-9_-]+")
_MAPPING = "volumes_roles_mapping"
DESCRIBED = ("name", "meta", _MAPPING)
"""The keys with which Nailgun's API describes a role; a tag has the first two."""
_VOLUME_KEYS = ("id", "allocate_size")
"""The keys that Nailgun returns of a role's volume; the volumes themselves are metadata of the release."""
SIZES = ("all", "min", "full-disk")
"""The values of `allocate_size`: how much of the disks a volume of a role gets."""


def require_name(noun: str, name: str) -> None:
    """Raise `UsageError` if Nailgun does not allow `name` for a role or a tag."""
    if not _NAME.fullmatch(name):
        odd = next((character for character in name if not _NAME.fullmatch(character)), "")
        but = f", not {odd!r}" if odd else ""
        raise UsageError(f"{name!r} cannot be the name of a {noun}.", hint=f"Use letters, digits, - and _ only{but}.")


def role_to(role: Role) -> dict[str, Any]:
    """Write a role as Nailgun does, with its tags, its whole volumes and its owner added."""
    return {**role_document_to(role), "tags": list(role.tags), "volumes": plain(role.volumes), "owner": role.owner}


def role_from(data: Any) -> Role:
    """Read a role. Raise `InvalidDocument` if it is not one.

    From Fuel 10 on, the tags of a role are in its metadata. A role without tags has one tag, with its own name.
    """
    answer = Answer(data, "role")
    name, metadata = answer.required("name"), answer.mapping("meta")
    if "tags" in answer.data:
        tags = answer.texts("tags")
    else:
        tags = Answer(metadata, "role").texts("tags") if metadata.get("tags") is not None else (name,)
    volumes = answer.items("volumes" if "volumes" in answer.data else _MAPPING)
    return Role(name, tags, metadata, tuple(plain(volumes)), answer.text("owner", "release"))


def tag_to(tag: Tag) -> dict[str, Any]:
    return {**tag_document_to(tag), "owner": tag.owner}


def tag_from(data: Any) -> Tag:
    answer = Answer(data, "tag")
    return answer.into(Tag, "name", metadata=answer.mapping("meta"), owner=answer.text("owner", "release"))


def role_from_document(document: Document, name: str) -> Role:
    """Read the role called `name` of a document.

    Raise `InvalidDocument` with all findings: G005 if the document has another name, G006 for wrong shapes, G010 for
    unknown keys.
    """
    report = Report(document.file)
    data = _checked_description(document.data, "role", name, DESCRIBED, report)
    meta = data.get("meta") or {}
    check_part("roles_metadata", {name: meta}, line_of(data, "meta") or 1, report)
    volumes = data.get(_MAPPING)
    _check_volumes(volumes, line_of(data, _MAPPING) or 1, report)
    report.raise_errors()
    role = roles_in({"roles_metadata": {name: plain(meta)}})[name]
    return Role(name, role.tags, role.metadata, tuple(plain(volumes or ())))


def tag_from_document(document: Document, name: str) -> Tag:
    """Read the tag called `name` of a document. Raise the errors of `role_from_document`."""
    report = Report(document.file)
    data = _checked_description(document.data, "tag", name, DESCRIBED[:2], report)
    meta = data.get("meta") or {}
    has_primary = meta.get("has_primary") if isinstance(meta, Mapping) else None
    if has_primary is not None and not isinstance(has_primary, bool):
        line = line_of(meta, "has_primary") or 1
        report.misshapen(line, "has_primary must be true or false", has_primary, "Leave it out for no.")
    report.raise_errors()
    return Tag(name, plain(meta))


def role_document_to(role: Role) -> dict[str, Any]:
    """Write the document that `role_from_document` reads. Its volumes have only their ids and sizes."""
    volumes = [{key: plain(volume[key]) for key in _VOLUME_KEYS if key in volume} for volume in mappings(role.volumes)]
    return {"name": role.name, "meta": plain(role.metadata), _MAPPING: volumes}


def tag_document_to(tag: Tag) -> dict[str, Any]:
    return {"name": tag.name, "meta": plain(tag.metadata)}


def _checked_description(data: Any, noun: str, name: str, keys: tuple[str, ...], report: Report) -> Mapping[str, Any]:
    """Check the parts of a description that roles and tags have in common, and return it."""
    if not isinstance(data, Mapping):
        report.misshapen(1, f"the description of a {noun} is a mapping", data, f"Start from 'fuel2 {noun} download'.")
        report.raise_errors()
    report.check_keys(data, keys, f"the description of a {noun}", 1)
    if data.get("name", name) != name:
        message = f"this describes the {noun} {data['name']}, not {name}"
        report.error("G005", line_of(data, "name") or 1, message, "Change one of the two names.")
    if (meta := data.get("meta")) is not None and not isinstance(meta, Mapping):
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
