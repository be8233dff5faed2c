"""What Nailgun answers about graphs, one file to each case: pictures, subgraphs, checks, and what it refuses.

`graph` or `tasks` is the environment's own graph; `get` or `post` is a path below the environment. `recorded` is the
recorded vector that a case holds to, `differs` why it does not.
"""

from __future__ import annotations

from typing import Any

from case_files import CASES, all_cases, case_files, read
from executions import Executions
from http_api import Api

from fuelclient.model.document import Document
from fuelclient.model.graph import Level, OwnerRef
from fuelclient.serializers.graph import document_from


@case_files("server")
def test_case(case: dict[str, Any], api: Api, env: Executions) -> None:
    tasks = read(CASES / "server" / "graphs" / f"{case['graph']}.yaml") if "graph" in case else case.get("tasks")
    if tasks is not None:
        env.backend.graphs.upload(OwnerRef(Level.CLUSTER, 1), document_from(Document(tasks, ""), owner_label="cluster"))

    if "get" in case:
        answer = api.raw("GET", f"clusters/1/{case['get']}")
    else:
        answer = api.raw("POST", f"clusters/1/{case['post']}", case["body"])

    assert answer.status_code == case.get("status", 200), answer.text
    if "message" in case:
        assert answer.get_json()["message"] == case["message"]
    if "text" in case:
        assert answer.mimetype == "text/vnd.graphviz"
        assert answer.text == case["text"]
    if "ids" in case:
        assert [task["id"] for task in answer.get_json()] == case["ids"]


def test_there_are_cases_of_every_kind() -> None:
    recorded = {case.get("recorded", "").partition("-")[0] for case in all_cases("server")} - {""}
    assert recorded == {"gv", "subgraph", "check", "validate"}
