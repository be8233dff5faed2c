"""Read the entries of a `tasks.yaml`: tasks that only their stage orders, most of them without an id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from fuelclient.graph.validate import IGNORED, IGNORED_HINT
from fuelclient.model.document import Document, MarkedList
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.model.graph import GraphDocument
from fuelclient.model.task import NOT_OF_LEGACY, Task
from fuelclient.plugins import constraints
from fuelclient.plugins.parts import without
from fuelclient.serializers.task import task_from
from fuelclient.serializers.values import in_words, items_of, key_text, line_of

_ID_HINT = "Remove it, or write a name that no other task of the package has."


def as_legacy(graph: GraphDocument) -> GraphDocument:
    """Return the graph of a `tasks.yaml`, whose entries are legacy ones even if they have ids."""
    return replace(graph, tasks=tuple(replace(task, legacy=True) for task in graph.tasks))


def readable(documents: Iterable[Document], tasks: Iterable[Document] = ()) -> Iterator[Document]:
    """Yield the documents of a `tasks.yaml` without what a Fuel master ignores in an entry and what cannot be read.

    Each dependency and id that is left out is a warning (G029) among the findings of its document. Ids are also left
    out if an entry before or one of the package's `tasks` has the same.
    """
    seen = {entry["id"] for document in tasks for entry in _mappings(document) if isinstance(entry.get("id"), str)}
    for document in documents:
        if not isinstance(document.data, list):
            yield document
            continue
        entries, lines, findings = [], [], list(document.findings)
        for entry, line in items_of(document.data):
            left_out = dict(_left_out(entry, seen)) if _follows_stage(entry) else {}
            for key, reason in left_out.items():
                place = Place(document.file, line_of(entry, key) or line)
                hint = _ID_HINT if key == "id" else IGNORED_HINT
                findings.append(Finding(Severity.WARNING, "G029", reason, place, hint=hint))
            entries.append(without(entry, *left_out) if left_out else entry)
            lines.append(line)
        yield Document(MarkedList(entries, lines), document.file, tuple(findings))


def _mappings(document: Document) -> list[Mapping[Any, Any]]:
    return [entry for entry in document.data if isinstance(entry, Mapping)] if isinstance(document.data, list) else []


def _follows_stage(entry: Any) -> bool:
    if not isinstance(entry, Mapping) or not isinstance(entry.get("stage"), str):
        return False
    return Task("", {key: entry[key] for key in ("stage", "version") if key in entry}, legacy=True).follows_stage


def _left_out(entry: Mapping[Any, Any], seen: set[str]) -> Iterator[tuple[Any, str]]:
    """Yield each key of an entry that cannot be used, with the reason. Ids are added to those `seen`."""
    stated = set[str]()
    for key, value in entry.items():
        attribute = key_text(key).replace("-", "_")
        if attribute == "id":
            if not isinstance(value, str) or not value.strip():
                yield key, f"the id of an entry of tasks.yaml is ignored: it is {in_words(value)}, not a name"
            elif value in seen and not constraints.is_constrained(entry):
                yield key, f"the id {value} of an entry of tasks.yaml is ignored: another task has the same"
            else:
                seen.add(value)
        elif attribute in NOT_OF_LEGACY:
            task, _ = task_from({"id": "entry", key: value}, file="", owner_label="", position=0)
            if task is None or attribute in stated:
                yield key, IGNORED.format(key)
            stated.add(attribute)
