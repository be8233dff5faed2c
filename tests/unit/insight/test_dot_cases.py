"""Pictures of runs (A18): one file is one case; where Graphviz is installed, it has to accept each of them."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping
from typing import Any

import pytest
from case_files import case_files
from schedule_traces import vertex_of, work_from

from fuelclient.insight.forecast import dot
from fuelclient.model.status import InstanceStatus
from fuelclient.plan.schedule import Change

_TEXT = r'"((?:[^"\\]|\\.)*)"'
_NODE = re.compile(rf'  "Task\[((?:[^"\\]|\\.)*)\]" \[label={_TEXT}, style=filled, fillcolor=(\w+)\];')
_EDGE = re.compile(r'  "Task\[((?:[^"\\]|\\.)*)\]" -> "Task\[((?:[^"\\]|\\.)*)\]";')


def picture(given: Mapping[str, Any]) -> str:
    work = work_from(given["nodes"], given.get("order", ()), skip=given.get("skip"))
    at = vertex_of(work)
    changes = []
    for name, told in given.get("history", {}).items():
        status, _, reason = told.partition(" ")
        changes.append(Change(at[name], InstanceStatus(status), reason))
    return dot(work, changes)


@case_files("dot", keys=("input", "expected"))
def test_case(case: Mapping[str, Any]) -> None:
    first, *lines, last = picture(case["input"]).splitlines()
    nodes = [result for line in lines if (result := _NODE.fullmatch(line))]
    edges = [result for line in lines if (result := _EDGE.fullmatch(line))]

    assert (first, last) == ("digraph {", "}")
    assert len(nodes) + len(edges) == len(lines)
    assert {node[1]: node[3] for node in nodes} == case["expected"]["colours"], case["says"]
    assert all(node[1] == node[2] for node in nodes)
    assert sorted(f"{edge[1]} -> {edge[2]}" for edge in edges) == sorted(case["expected"]["edges"])


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
@case_files("dot", keys=("input", "expected"))
def test_graphviz_reads_it(case: Mapping[str, Any]) -> None:
    done = subprocess.run(
        ["dot", "-Tplain"], input=picture(case["input"]), capture_output=True, text=True, check=False, timeout=60
    )

    assert done.returncode == 0, done.stderr
    assert len(re.findall(r"^node ", done.stdout, re.MULTILINE)) == len(case["expected"]["colours"])
    assert len(re.findall(r"^edge ", done.stdout, re.MULTILINE)) == len(case["expected"]["edges"])
