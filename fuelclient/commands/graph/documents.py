"""Read the graph that `--file` or `--dir` names."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TextIO

from fuelclient import files
from fuelclient.errors import InvalidDocument, UsageError
from fuelclient.model.document import Document
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.model.graph import GraphDocument
from fuelclient.serializers.graph import document_from, documents_from


def graph_document(
    parsed_args: argparse.Namespace, stdin: TextIO, *, owner_label: str, absolute: bool = False
) -> GraphDocument:
    """Read the document that the options of `arguments.source_options` name.

    `owner_label` becomes part of the ids of legacy tasks, which have none of their own. With `absolute`, tasks keep
    absolute paths, as stored documents need. Raise what `files` and `serializers.graph` raise for unusable documents,
    and `InvalidDocument` if there is not even an empty graph.
    """
    documents = [_load(path, stdin, absolute) for path in _paths(parsed_args)]
    _require_graph(documents, parsed_args)
    if parsed_args.dir is None:
        return document_from(documents[0], owner_label=owner_label)
    path = files.metadata_file(str(parsed_args.dir))
    metadata = _load(path, stdin, absolute) if path else None
    return documents_from(documents, metadata, owner_label=owner_label)


def _paths(parsed_args: argparse.Namespace) -> Sequence[str]:
    if parsed_args.dir is not None:
        return files.task_files(str(parsed_args.dir))
    if parsed_args.file != "-" and os.path.isdir(parsed_args.file):
        raise UsageError(f"{parsed_args.file} is a directory.", hint="Give it with --dir, or name a file in it.")
    return [parsed_args.file]


def _load(path: str, stdin: TextIO, absolute: bool) -> Document:
    """Read a file, or stdin if the path is `-`; with `absolute`, findings have the absolute path."""
    document = files.load(path, stdin=stdin)
    if path == "-" or not absolute:
        return document
    file = os.path.abspath(path)
    findings = tuple(replace(finding, place=replace(finding.place, file=file)) for finding in document.findings)
    return replace(document, file=file, findings=findings)


def _require_graph(documents: Sequence[Document], parsed_args: argparse.Namespace) -> None:
    """Raise `InvalidDocument` if none of `documents` mentions tasks.

    The command before a pipe may have failed, or the file was never written. Taken for an empty graph, such a document
    would wipe the stored one.
    """
    if any(_has_tasks(document.data) for document in documents):
        return
    file = documents[0].file if parsed_args.dir is None else str(parsed_args.dir)
    noun = "document" if parsed_args.dir is None else "directory"
    message = f"this {noun} contains no graph; write [] for an empty one"
    finding = Finding(Severity.ERROR, "G006", message, Place(file))
    raise InvalidDocument(f"{file}: {message}.", findings=[finding])


def _has_tasks(data: object) -> bool:
    """Whether the document has tasks: some, an empty list, or something invalid."""
    if isinstance(data, Mapping) and "tasks" in data:
        return data["tasks"] is not None
    return data is not None
