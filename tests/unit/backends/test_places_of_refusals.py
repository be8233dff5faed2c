"""The file and line of what a backend refuses by the path in a document."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuelclient import files
from fuelclient.errors import InvalidDocument
from fuelclient.model.document import Document
from fuelclient.model.finding import Finding, Place, Severity


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
