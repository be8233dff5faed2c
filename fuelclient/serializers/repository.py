"""Package repositories of a release: where they stand in its metadata, and from a document.

Source: Nailgun's releases, which have them as the default of a setting (`editable.repo_setup.repos.value`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fuelclient.model.document import Document
from fuelclient.serializers.values import Report, items_of, kind, line_of, plain

_ATTRIBUTES = "attributes_metadata"
_PATH = ("editable", "repo_setup", "repos", "value")
_TEXTS = ("name", "type", "uri", "suite", "section")
_NEEDED = ("name", "uri")


def repositories_in(metadata: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The repositories of a release; none where its metadata has none, or something else in their place.

    >>> stated = with_repositories({}, [{"name": "mos"}])
    >>> repositories_in(stated), repositories_in({})
    ([{'name': 'mos'}], [])
    """
    found: Any = metadata.get(_ATTRIBUTES)
    for key in _PATH:
        found = found.get(key) if isinstance(found, Mapping) else None
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list | tuple) else []


def with_repositories(metadata: Mapping[str, Any], repositories: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The attributes of a release with these repositories, everything else as it was: what of the metadata changes."""
    attributes = plain(metadata.get(_ATTRIBUTES) or {})
    place = attributes
    for key in _PATH[:-1]:
        below = place.get(key)
        place[key] = below if isinstance(below, dict) else {}
        place = place[key]
    place[_PATH[-1]] = plain(repositories)
    return {_ATTRIBUTES: attributes}


def repositories_from(document: Document) -> list[dict[str, Any]]:
    """The repositories that a document lists.

    Raises `InvalidDocument` with all that is wrong: G006 for wrong shapes, G002 for one without a name or an address.
    """
    report = Report(document.file)
    if not isinstance(document.data, list | tuple):
        message = f"repositories are a list, not {kind(document.data)}"
        report.error("G006", 1, message, "Begin each repository with `- name:`.")
        report.raise_errors()
        return []
    for item, line in items_of(document.data, 1):
        _check(item, line_of(item) or line, report)
    report.raise_errors()
    found: list[dict[str, Any]] = plain(document.data)
    return found


def _check(item: Any, line: int, report: Report) -> None:
    if not isinstance(item, Mapping):
        report.error("G006", line, f"a repository is a mapping, not {kind(item)}", "Write {name: mos, uri: ...}.")
        return
    for key in _NEEDED:
        if item.get(key) is None:
            report.error("G002", line, f"the repository has no {key}", f"Add `{key}:`.")
    for key in _TEXTS:
        value = item.get(key)
        if value is not None and not isinstance(value, str):
            report.error("G006", line_of(item, key) or line, f"{key} must be a text, not {kind(value)}", "Quote it.")
    priority = item.get("priority")
    if priority is not None and (isinstance(priority, bool) or not isinstance(priority, int)):
        at = line_of(item, "priority") or line
        report.error("G006", at, f"priority must be a whole number, not {kind(priority)}", "Leave it out for none.")
