"""Sequences as files state them, with what is wrong and where."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuelclient.model.document import Document
from fuelclient.serializers.values import Report, did_you_mean, items_of, key_text, kind, line_of

_KEYS = ("id", "name", "graphs", "release_id", "release")
"""What a file may state; ids and releases are those of where it was downloaded, and mean nothing here."""


def sequence_document_from(document: Document) -> tuple[str, list[str]]:
    """The name and the graph types of the sequence that a document describes.

    A graph is a mapping with its `type`, or just the type. Raises `InvalidDocument` with all that is wrong: G006
    wrong shapes, G010 unknown keys, G002 no name.
    """
    report = Report(document.file)
    data = document.data
    if not isinstance(data, Mapping):
        report.error("G006", 1, f"a sequence is a mapping, not {kind(data)}", "Write `name:` and `graphs:`.")
        report.raise_errors()
    for key in data:
        if key not in _KEYS:
            report.error(
                "G010", line_of(data, key), f"a sequence has no {key_text(key)}", did_you_mean(str(key), _KEYS)
            )
    name = data.get("name")
    if not isinstance(name, str) or not name.strip():
        report.error("G002", line_of(data, "name"), "a sequence needs a name", "Write `name:` with a text.")
    types = _types(data, report)
    report.raise_errors()
    return str(name), types


def _types(data: Mapping[str, Any], report: Report) -> list[str]:
    stated = data.get("graphs")
    line = line_of(data, "graphs")
    hint = "Write `graphs: [{type: default}]`, in the order of their runs."
    if not isinstance(stated, list | tuple) or not stated:
        report.error("G006", line, f"graphs are a list of graph types, not {kind(stated)}", hint)
        return []
    types = []
    for item, at in items_of(stated, line):
        where = line_of(item) or at
        found = item.get("type") if isinstance(item, Mapping) else item
        if not isinstance(found, str) or not found.strip():
            report.error("G006", where, f"a graph of a sequence has a type, not {kind(found)}", hint)
            continue
        more = [key_text(key) for key in item if key != "type"] if isinstance(item, Mapping) else []
        if more:
            report.error(
                "G010", where, f"graph {found} of the sequence has {', '.join(more)}, and nothing but its type counts",
                "Leave it out: a sequence runs on all nodes of an environment.",
            )  # fmt: skip
        types.append(found)
    return types
