"""What the loader and the checks of graphs have to say about a package.

The rules of the package versions say much about its files, but what cannot be loaded would be refused by an
installation all the same: so a check ends by loading the package, and looks at the tasks as an upload does.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fuelclient.errors import InvalidDocument
from fuelclient.graph.validate import check_document
from fuelclient.model.finding import Finding
from fuelclient.plugins.checks.subject import Subject
from fuelclient.plugins.tree import load_package
from fuelclient.serializers.graph import documents_from

_TOLD_OTHERWISE = frozenset({"G005", "G012", "G020"})
"""Repeated ids, which may be meant for different versions (P060), broken priorities (P003), records without a type."""


def check(subject: Subject, directory: Path, shown_as: str) -> Iterator[Finding]:
    """The findings of reading the tasks of the package as graphs, and of loading it."""
    kinds = ("deployment_tasks", "release_tasks", *(("tasks",) if subject.major < 5 else ()))
    for data in subject.of(*kinds):
        graph = documents_from(data.documents, owner_label=subject.name)
        for finding in check_document(graph, None, None):
            if finding.code not in _TOLD_OTHERWISE:
                yield finding
    try:
        yield from load_package(directory, shown_as=shown_as).findings
    except InvalidDocument as error:
        yield from (one for one in error.findings if isinstance(one, Finding))
