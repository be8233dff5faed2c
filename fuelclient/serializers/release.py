"""Releases: Nailgun's fixtures and the fields of single releases to `Release`, and back; their package repositories.

A fixture is a list of records with `model`, `fields` and, for records to be loaded, `pk`. `extend` names (by a YAML
alias) the record that a record is based on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fuelclient.model.document import Document, Marked
from fuelclient.model.release import Release
from fuelclient.serializers.answer import Answer
from fuelclient.serializers.release_metadata import check_part
from fuelclient.serializers.report import Report
from fuelclient.serializers.values import key_text, line_of, plain

_MODEL = "nailgun.release"
_ENVELOPE = ("pk", "model", "fields", "extend")
_ALIASES = {"os": "operating_system", "release_name": "name"}
_TEXTS = ("name", "version", "operating_system", "state", "description")

_ATTRIBUTES = "attributes_metadata"
_PATH = ("editable", "repo_setup", "repos", "value")
"""Where Nailgun's releases have repositories: in the default of a setting."""

_SHOWN: dict[str, Any] = {
    "is_deployable": True, "modes_metadata": {}, "roles_metadata": {}, "attributes_metadata": {},
    "components_metadata": [],
}  # fmt: skip
"""What clients expect of a release, with its defaults."""


def releases_from(document: Document) -> list[Release]:
    """Return the releases of a document, in its order. Records that only serve as a base are left out.

    The document is a Nailgun fixture, the fields of one release (as `release show -f json` prints them), or a list of
    such fields. Raise `InvalidDocument` with all findings: G002 for a missing name or version, G006 for wrong shapes,
    G007 for conflicting spellings.
    """
    report = Report(document.file)
    data = [document.data] if isinstance(document.data, Mapping) else document.data
    releases: list[Release] = []
    numbers: set[int] = set()
    for item, line in report.entries(data, "a release file is a list of releases", "Name another file."):
        release = _record(item, line, report)
        if release is None:
            continue
        if release.id in numbers:
            report.error("G006", line, f"two releases have the id {release.id}", "Number them differently.")
        numbers.update([release.id] if release.id else [])
        releases.append(release)
    if not releases and not report.findings:
        report.error("G006", 0, "the file contains no release", "Records need a pk, or a name and a version.")
    report.raise_errors()
    return releases


def release_to(release: Release) -> dict[str, Any]:
    """Return the fields of a release under Nailgun's names, which `releases_from` reads."""
    return {**{key: getattr(release, key) for key in ("id", *_TEXTS)}, **release.metadata}


def release_record_to(release: Release) -> dict[str, Any]:
    """Return the release as Nailgun's REST API does."""
    return {**plain(_SHOWN), **plain(release_to(release))}


def release_record_from(data: Any) -> Release:
    """Return the release in an answer. Raise `InvalidDocument` if it is not one.

    The metadata is not checked: the master accepted it.
    """
    answer = Answer(data, "release")
    return Release(
        answer.identifier(),
        answer.stated("name"),
        answer.stated("version"),
        answer.text("operating_system"),
        answer.text("state", "available"),
        answer.text("description"),
        answer.rest("id", *_TEXTS),
    )


def _record(item: Any, line: int, report: Report) -> Release | None:
    """Return the release of a record; None for a base, for another model, and after an error."""
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
    """Return the fields of a record over those of the record that it extends, recursively."""
    fields = item.get("fields", {})
    base = item.get("extend", {})
    if not isinstance(fields, Mapping) or not isinstance(base, Mapping):
        word = "extend" if isinstance(fields, Mapping) else "fields"
        report.misshapen(line_of(item, word), f"{word} must be a mapping", item[word], "Correct it.")
        return None
    below = _inherited(base, report) if base else Marked()
    return None if below is None else _over(below, fields)


def _over(base: Marked, fields: Mapping[Any, Any]) -> Marked:
    """Return `base` with `fields` over it, with their lines: mappings merge deeply, everything else replaces."""
    merged = Marked(base, base.line, base.lines)
    for key, value in fields.items():
        old = merged.get(key)
        if isinstance(old, Mapping) and isinstance(value, Mapping):
            merged[key] = _over(old if isinstance(old, Marked) else Marked(old), value)
        else:
            merged[key] = value
        merged.lines[str(key)] = line_of(fields, str(key))
    return merged


def _release(identity: Any, fields: Mapping[Any, Any], line: int, report: Report) -> Release | None:
    before = len(report.findings)
    if isinstance(identity, bool) or not isinstance(identity, int) or identity < 0:
        report.misshapen(line, "the id of a release is a whole number", identity, "Number it.")
    stated: dict[str, Any] = {}
    for stated_key, value in fields.items():
        key = key_text(stated_key)
        key = _ALIASES.get(key, key)
        at = line_of(fields, str(stated_key)) or line
        if key in stated and plain(value) != stated[key]:
            report.error("G007", at, f"{key} is stated in two spellings with different values", "Keep one of them.")
        elif key in _TEXTS and value is not None and not isinstance(value, str):
            report.misshapen(at, f"{key} must be a string", value, "Write it in quotes.")
        else:
            check_part(key, value, at, report)
        stated[key] = plain(value)
    for key in ("name", "version"):
        if not stated.get(key):
            report.error("G002", line, f"the release has no {key}", f"Add `{key}:` to its fields.")
    if len(report.findings) > before:
        return None
    stated.pop("id", None)
    texts = {key: stated.pop(key, None) for key in _TEXTS}
    return Release(identity, metadata=stated, **{key: value for key, value in texts.items() if value})


def repositories_in(metadata: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the repositories of a release; an empty list if its metadata has none, or something else there.

    >>> stated = with_repositories({}, [{"name": "mos"}])
    >>> repositories_in(stated), repositories_in({})
    ([{'name': 'mos'}], [])
    """
    value: Any = metadata.get(_ATTRIBUTES)
    for key in _PATH:
        value = value.get(key) if isinstance(value, Mapping) else None
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list | tuple) else []


def with_repositories(metadata: Mapping[str, Any], repositories: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the changed part of the metadata of a release that gets these repositories."""
    attributes = plain(metadata.get(_ATTRIBUTES) or {})
    place = attributes
    for key in _PATH[:-1]:
        below = place.get(key)
        place[key] = below if isinstance(below, dict) else {}
        place = place[key]
    place[_PATH[-1]] = plain(repositories)
    return {_ATTRIBUTES: attributes}


def repositories_from(document: Document) -> list[dict[str, Any]]:
    """Return the repositories that a document lists.

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
        value = item.get(key)
        if value is not None and not isinstance(value, str):
            report.misshapen(line_of(item, key) or line, f"{key} must be a string", value, "Quote it.")
    priority = item.get("priority")
    if priority is not None and (isinstance(priority, bool) or not isinstance(priority, int)):
        line = line_of(item, "priority") or line
        report.misshapen(line, "priority must be a whole number", priority, "Leave it out for none.")
