"""The times of a run for other programs: JSON, traces of Chrome, JUnit, CSV."""

from __future__ import annotations

import csv
import io
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Mapping
from typing import Any

from fuelclient import files
from fuelclient.commands.formatters import no_formula
from fuelclient.commands.task.history import node
from fuelclient.insight.progress import explanation
from fuelclient.insight.timeline import Bar, Timeline
from fuelclient.model.run import Run
from fuelclient.printing import printable

FORMAT_VERSION = 1
_DIGITS = 3


def _record(bar: Bar) -> dict[str, Any]:
    return {
        "graph_type": bar.row.graph_type, "task": bar.row.task, "node": str(node(bar.row.node)), "type": bar.row.type,
        "status": str(bar.row.status), "word": bar.word, "ready": round(bar.ready, _DIGITS),
        "begin": round(bar.begin, _DIGITS), "end": round(bar.end, _DIGITS), "critical": bar.critical,
        "return_code": bar.row.return_code, "attempts": bar.row.attempts, "message": _why(bar),
    }  # fmt: skip


def _why(bar: Bar) -> str:
    return explanation(bar.row.reason, bar.row.message, bar.row.because)


def _json(run: Run, seen: Timeline) -> str:
    document = {
        "format_version": FORMAT_VERSION, "run": run.id, "env": run.cluster_id, "status": str(run.status),
        "seconds": round(seen.seconds, _DIGITS), "critical_path": [bar.name for bar in seen.critical],
        "waits": {key: round(seconds, _DIGITS) for key, seconds in seen.waits.items()},
        "instances": [_record(bar) for bar in seen.bars],
    }  # fmt: skip
    return files.dumps(document, "json")


def _chrome(run: Run, seen: Timeline) -> str:
    """Return events as chrome://tracing and Perfetto read them: a process for the run, a thread for each node."""
    events: list[dict[str, Any]] = []
    for number, (key, bars) in enumerate(seen.nodes.items(), start=1):
        name = {"name": f"node {node(key)}"}
        events.append({"name": "thread_name", "ph": "M", "pid": run.id, "tid": number, "args": name})
        events += [
            {
                "name": bar.row.task, "cat": bar.row.graph_type, "ph": "X", "pid": run.id, "tid": number,
                "ts": round(bar.begin * 1e6), "dur": round(bar.seconds * 1e6), "args": _record(bar),
            }
            for bar in bars
        ]  # fmt: skip
    return files.dumps({"traceEvents": events, "displayTimeUnit": "ms"}, "json")


def _junit(run: Run, seen: Timeline) -> str:
    """Return a suite for each graph, with a test case for each instance that ran."""
    root = ElementTree.Element("testsuites", name=f"run {run.id}")
    suites: dict[str, ElementTree.Element] = {}
    for bar in seen.bars:
        graph = bar.row.graph_type
        if graph not in suites:
            bars = [other for other in seen.bars if other.row.graph_type == graph]
            failures = sum(other.row.status == "error" for other in bars)
            suites[graph] = ElementTree.SubElement(
                root, "testsuite", name=printable(graph), tests=str(len(bars)), failures=str(failures)
            )
        place = f"{graph}.node-{node(bar.row.node)}"
        case = ElementTree.SubElement(
            suites[graph], "testcase", name=printable(bar.row.task), classname=printable(place),
            time=f"{bar.seconds:.{_DIGITS}f}",
        )  # fmt: skip
        if bar.row.status == "error":
            ElementTree.SubElement(case, "failure", message=printable(_why(bar)))
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _csv(run: Run, seen: Timeline) -> str:  # noqa: ARG001 (all writers are called alike)
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    records = [_record(bar) for bar in seen.bars]
    writer.writerow(records[0] if records else ())
    writer.writerows([no_formula(cell) for cell in record.values()] for record in records)
    return stream.getvalue()


WRITERS: Mapping[str, Callable[[Run, Timeline], str]] = {
    "json": _json, "chrome": _chrome, "junit": _junit, "csv": _csv,
}  # fmt: skip
"""The writer of each format."""
