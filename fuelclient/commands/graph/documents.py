"""Reading the graph that `--file` or `--dir` names."""

from __future__ import annotations

import argparse
from typing import TextIO

from fuelclient import files
from fuelclient.model.graph import GraphDocument
from fuelclient.serializers.graph import document_from, documents_from


def graph_document(parsed_args: argparse.Namespace, stdin: TextIO, *, owner_label: str) -> GraphDocument:
    """The document that the options of `arguments.add_source` name.

    `owner_label` names tasks of the legacy kind, which have no id of their own. Raises what `files` and
    `serializers.graph` raise for documents that cannot be used.
    """
    if parsed_args.dir is None:
        return document_from(files.load(parsed_args.file, stdin=stdin), owner_label=owner_label)
    metadata = files.metadata_file(str(parsed_args.dir))
    return documents_from(
        [files.load(path) for path in files.task_files(str(parsed_args.dir))],
        files.load(metadata) if metadata else None,
        owner_label=owner_label,
    )
