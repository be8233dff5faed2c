"""Read the graph that `--file` or `--dir` names."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, TextIO

from fuelclient import files
from fuelclient.errors import InvalidDocument, NotFound, UsageError
from fuelclient.model.document import Document
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.model.graph import GraphDocument, Level
from fuelclient.serializers.graph import document_from, documents_from

if TYPE_CHECKING:
    from fuelclient.backends.base import Backend
    from fuelclient.model.graph import Layer, OwnerRef


def graph_document(
    parsed_args: argparse.Namespace, stdin: TextIO, *, owner_label: str, absolute: bool = False
) -> GraphDocument:
    """Read the document that the options of `arguments.source_options` name.

    `owner_label` becomes part of the ids of legacy tasks, which have none of their own. With `absolute`, tasks keep
    absolute paths, as stored documents need. Raise what `files` and `serializers.graph` raise for unusable documents,
    and `InvalidDocument` if the document has no graph, not even an empty one.
    """
    if parsed_args.dir is None:
        file = parsed_args.file
        if file != "-" and os.path.isdir(file):
            raise UsageError(f"{file} is a directory.", hint="Give it with --dir, or name a file in it.")
        document = _load(file, stdin, absolute)
        _require_graph([document], "document", document.file)
        return document_from(document, owner_label=owner_label)
    directory = str(parsed_args.dir)
    documents = [_load(path, stdin, absolute) for path in files.task_files(directory)]
    _require_graph(documents, "directory", directory)
    path = files.metadata_file(directory)
    return documents_from(documents, _load(path, stdin, absolute) if path else None, owner_label=owner_label)


def judged(backend: Backend, document: GraphDocument, owner: OwnerRef, graph_type: str) -> tuple[Finding, ...]:
    """The findings about a document that is to become the graph of an owner, before it is uploaded."""
    from fuelclient.graph.validate import check_document

    below: Sequence[Layer] | None = None if owner.level is Level.PLUGIN else ()
    with suppress(NotFound):  # no layer has this type yet
        layers = backend.graphs.snapshot(owner.id, graph_type).layers if owner.level is Level.CLUSTER else ()
        below = [layer for layer in layers if layer.owner.level is not Level.CLUSTER] or below
    return check_document(document, backend.graphs.owner(owner), below)


def _load(path: str, stdin: TextIO, absolute: bool) -> Document:
    document = files.load(path, stdin=stdin)
    if path == "-" or not absolute:
        return document
    file = os.path.abspath(path)
    findings = tuple(replace(finding, place=replace(finding.place, file=file)) for finding in document.findings)
    return replace(document, file=file, findings=findings)


def _require_graph(documents: Sequence[Document], noun: str, path: str) -> None:
    """Raise `InvalidDocument` if every document is null or has null tasks. An empty list is a graph.

    A document without a graph comes from a failed command before a pipe, or from a file that was never written. Taken
    as an empty graph, it would wipe the stored one.
    """
    tasks = [data.get("tasks", data) if isinstance(data := each.data, Mapping) else data for each in documents]
    if all(each is None for each in tasks):
        message = f"this {noun} contains no graph; write [] for an empty one"
        raise InvalidDocument(f"{path}: {message}.", findings=[Finding(Severity.ERROR, "G006", message, Place(path))])
