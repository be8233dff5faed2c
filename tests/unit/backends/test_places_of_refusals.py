"""The file and line of what only a server refuses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from in_process_server import served

from fuelclient import files
from fuelclient.backends import engine_at
from fuelclient.backends.base import Backend
from fuelclient.errors import InvalidDocument
from fuelclient.model.document import Document
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.model.graph import Level, OwnerRef
from fuelclient.model.release import Release
from fuelclient.serializers.graph import document_from

GRAPH = """\
- {id: a, type: noop, roles: [master], version: 2.0.0}
- id: b
  type: noop
  roles: [master]
  parameters: null
"""


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Backend]:
    yield from served(lambda: engine_at(str(tmp_path / "engine.db")))


def test_a_task_that_the_schema_of_a_server_refuses_has_its_place(client: Backend, tmp_path: Path) -> None:
    (tmp_path / "graph.yaml").write_text(GRAPH, encoding="utf-8")
    document = document_from(files.load(tmp_path / "graph.yaml"), owner_label="release")
    release = client.releases.create([Release(0, "R", "r-1", "Ubuntu")])[0]
    with pytest.raises(InvalidDocument) as caught:
        client.graphs.upload(OwnerRef(Level.RELEASE, release.id), document)
    [finding] = caught.value.findings
    assert isinstance(finding, Finding)
    assert (finding.place, finding.task) == (Place(str(tmp_path / "graph.yaml"), 5), "b")


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("editable", "a", "b", "value"), 3),
        (("a", "b"), 2),
        (("a", "c", 1, "d"), 6),
        (("a", "c", 7), 4),
        (("elsewhere",), 1),
        ((), 1),
    ],
)
def test_a_path_leads_to_a_line_of_the_document(tmp_path: Path, path: tuple[str | int, ...], line: int) -> None:
    file = tmp_path / "x.yaml"
    file.write_text("a:\n  b:\n    value: 1\n  c:\n  - 1\n  - d: 2\n", encoding="utf-8")
    document: Document = files.load(file)
    error = InvalidDocument("No.", findings=[Finding(Severity.ERROR, "G006", "no", Place(path=path))])
    document.place_findings(error)
    assert [str(finding.place) for finding in error.findings if isinstance(finding, Finding)] == [f"{file}:{line}"]
