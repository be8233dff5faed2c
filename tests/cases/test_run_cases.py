"""The recorded vectors of whole runs (A23), executed by a real runner on this machine.

Each task of a case notes its name when it runs, and then ends with the exit code that the case gives.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
import yaml
from executions import executions, shell

FILES = sorted((Path(__file__).parent / "runs").glob("*.yaml"))


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_case(path: Path, tmp_path: Path) -> None:
    case = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert (
        {"says", "recorded", "input", "expected"} <= set(case) <= {"says", "recorded", "decision", "input", "expected"}
    )
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
