"""The recorded vectors of whole runs (A23), executed by a real runner on this machine.

Each task of a case notes its name when it runs, and then ends with the exit code that the case gives.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

from case_files import case_files
from executions import executions, shell


@case_files("runs", keys=("input", "expected"))
def test_case(case: dict[str, Any], tmp_path: Path) -> None:
    given, expected = case["input"], case["expected"]
    env = executions(tmp_path, nodes=given["nodes"])
    with closing(env.backend):
        env.graph(*(shell(name, f"{env.note(name)}; exit {code}") for name, code in given["tasks"].items()))
        before = env.statuses()

        found = env.run(**given["request"])

        answer = {
            "status": str(found.status),
            "ran": sorted(env.noted()),
            "instances": {name: " ".join(told).strip() for name, told in env.outcomes(found.id).items()},
            "nodes_changed": env.statuses() != before,
            "dry_run": found.dry_run,
        }
    assert {"status", "ran"} <= set(expected) <= set(answer)
    assert {key: answer[key] for key in expected} == expected, case["says"]
