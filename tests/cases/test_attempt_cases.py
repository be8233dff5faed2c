"""The recorded vectors of retries and timeouts (A22), with commands that really run.

The command ends with the exit codes that the case gives, one for each try, or `lasts` so many seconds. With the type
puppet, a script of that name stands in for puppet. A case that is `recovered` ran before with plenty of time; another
executor, with the limits of the case, finds out how that ended.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from case_files import case_files
from executor_bench import Bench, job_of

from fuelclient.executors.job import Job

_COUNTED = 'echo run >> runs; exit $(sed -n "$(wc -l < runs)p" codes)'


def command(given: Mapping[str, Any], bench: Bench, patch: pytest.MonkeyPatch) -> Job:
    (bench.root / "codes").write_text("".join(f"{code}\n" for code in given.get("exits", ())))
    cmd = f"echo run >> runs; exec sleep {given['lasts']}" if "lasts" in given else _COUNTED
    limits = {"cwd": str(bench.root), "interval": 0, **given["limits"]}
    if given.get("type") != "puppet":
        return job_of("shell", cmd=cmd, **limits)
    tools = bench.root / "tools"
    tools.mkdir()
    (tools / "puppet").write_text(f"#!/bin/sh\n{cmd}\n")
    (tools / "puppet").chmod(0o755)
    patch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    return job_of("puppet", puppet_manifest="site.pp", **limits)


@case_files("attempts", keys=("input", "expected"))
def test_case(case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given, expected = case["input"], case["expected"]
    assert set(given) <= {"type", "exits", "lasts", "limits", "recovered"}
    bench = Bench(tmp_path)
    job = command(given, bench, monkeypatch)

    if given.get("recovered"):
        patient = replace(job, parameters={**job.parameters, "timeout": 60})
        assert bench.run(patient).status == "ready"
        outcome = bench.recover(job)
        assert outcome is not None
    else:
        outcome = bench.run(job)

    runs = tmp_path / "runs"
    found = {
        "status": str(outcome.status),
        "runs": len(runs.read_text().splitlines()) if runs.exists() else 0,
        "rc": outcome.rc,
        "message": outcome.message,
    }
    assert {"status", "runs"} <= set(expected) <= set(found)
    assert {key: found[key] for key in expected} == expected, case["says"]
