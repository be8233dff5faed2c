"""The case files of `store` and `validate`.

Those with `recorded` were answered by a real Nailgun; `differs` names the decision where our answer is another.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from case_files import case_files

from fuelclient import files
from fuelclient.graph.validate import check_document
from fuelclient.model.task import Task
from fuelclient.serializers.graph import document_from
from fuelclient.serializers.task import task_from, task_to


def _read(record: Any) -> Task:
    task, findings = task_from(record, file="", owner_label="release", position=1)
    assert task is not None, findings
    assert findings == []
    return task


@case_files("store")
def test_store(case: dict[str, Any]) -> None:
    task = _read(case["record"])
    assert (task.id, task.attributes) == ("alpha", case["attributes"])
    assert list(task.attributes) == list(case["attributes"])
    again = _read(task_to(task))
    assert (again.id, list(again.attributes.items())) == (task.id, list(task.attributes.items()))
    if "master" in case:
        answered = dict(_read(case["master"]).attributes)
        assert answered.pop("version") == "1.0.0"
        assert answered == case["attributes"]


@case_files("validate")
def test_validate(case: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "tasks.yaml"
    path.write_text(case["text"])
    graph = document_from(files.load(path), owner_label="release")
    assert [task.id for task in graph.tasks] == case["ids"]
    assert [f"{finding.code} at {finding.place.line}" for finding in graph.findings] == case["findings"]
    assert {finding.place.file for finding in graph.findings} <= {str(path)}
    assert all(finding.is_error and finding.hint for finding in graph.findings)
    if "checked" in case:
        checked = check_document(graph, None, None)
        duplicates = [finding for finding in checked if finding.code == "G005"]
        assert [f"G005 {finding.task} at {finding.place.line}" for finding in duplicates] == case["checked"]
