"""`task gantt`: the times of a run, as text and for other programs: JSON, traces of Chrome, JUnit, CSV."""

from __future__ import annotations

import argparse
import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from fuelclient.commands.arguments import id_of, option
from fuelclient.commands.base import Command
from fuelclient.commands.documents import FORCE, OUTPUT, STDOUT, put_output
from fuelclient.commands.fitting import terminal_width, wrapped
from fuelclient.commands.formatters import encoding_of, no_formula
from fuelclient.commands.shell import LOG
from fuelclient.commands.task.history import node
from fuelclient.errors import InvalidGraph, NotFound, Unsupported
from fuelclient.insight.progress import duration, explanation
from fuelclient.printing import one_line, printable

if TYPE_CHECKING:
    from fuelclient.backends.base import Backend
    from fuelclient.insight.timeline import Bar, Timeline
    from fuelclient.model.run import Run

FORMATS = ("text", "json", "chrome", "junit", "csv")
_EXTENSIONS = {".json": "json", ".xml": "junit", ".csv": "csv"}
_WIDTH = 100
_SLOWEST_COUNT = 5
_MINUTE = 60
_INK = {"critical": "█", "running": "▒", "slot": "░", "predecessors": "·", "error": "!"}
_ASCII = {"critical": "#", "running": "=", "slot": "-", "predecessors": ".", "error": "x"}


class TaskGantt(Command):
    """Show when a run did what: bars for each node, what they waited for, and the critical path

    A node waits either for predecessors of its next task instance, or for a free slot: the instance was ready, but the
    maximum number of instances was running already. The critical path is the chain of instances that determined how
    long the run took. --by task has a line for each task instance.

    The other formats list every instance with its times: json; chrome for chrome://tracing and Perfetto; junit, in
    which each instance is a test case; csv. With --output the file name decides the format: .json, .xml (junit) or
    .csv.

      fuel2 task gantt 12
      fuel2 task gantt 12 --by task
      fuel2 task gantt 12 --format chrome --output trace.json
    """

    arguments = (
        id_of("run"),
        option("--by", choices=("node", "task"), default="node", help="what has a line (default: node)"),
        option("-f", "--format", choices=FORMATS, help="default: as the file name implies, or text"),
        OUTPUT,
        FORCE,
    )

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        run = self.backend.runs.get(parsed_args.id)
        timeline = timeline_of(self.backend, run)
        done = f"The times of run {run.id} were written to {{}}"
        put_output(self, parsed_args, self._content(run, timeline, parsed_args), done)

    def _content(self, run: Run, timeline: Timeline, parsed_args: argparse.Namespace) -> str:
        extension = os.path.splitext(parsed_args.output)[1].lower()
        form = parsed_args.format or _EXTENSIONS.get(extension, "text")
        if form == "text":
            plain = encoding_of(self.app.stdout).lower().replace("-", "") != "utf8"
            width = terminal_width(self.app.stdout) or _WIDTH
            named = self.named if parsed_args.output == STDOUT else str
            return "\n".join([*_lines(timeline, parsed_args.by, width, _ASCII if plain else _INK, named), ""])
        return _WRITERS[form](run, timeline)


def timeline_of(backend: Backend, run: Run) -> Timeline:
    """Read the timeline of a run. Which instance waited for which is computed from the tasks stored with the run."""
    from fuelclient.commands.graph.sides import run_side
    from fuelclient.insight.timeline import Instance, predecessors, timeline
    from fuelclient.plan.preview import PreviewOptions

    before: dict[int, dict[Instance, list[Instance]]] = {}
    for child in run.children or (run,):
        try:
            side = run_side(backend, child.id, child.graph_type)
            before[child.id] = predecessors(side.study(PreviewOptions(), backend).expansion)
        except (NotFound, InvalidGraph, Unsupported) as error:
            LOG.info("What tasks of %s waited for is not known: %s", child.graph_type or "the graph", error)
    return timeline(backend.runs.history(run.id), before, datetime.now(UTC))


def _lines(timeline: Timeline, by: str, width: int, ink: dict[str, str], named: Callable[[str], str]) -> Iterator[str]:
    if not timeline.bars:
        yield "Nothing ran."
        return
    if by == "task":
        rows = [(bar.name, [bar]) for bar in timeline.bars]
    else:
        rows = [("sync points" if node is None else f"node {node}", bars) for node, bars in timeline.nodes.items()]
    rows = [(one_line(named(name)), bars) for name, bars in rows]
    label = max(len(name) for name, _ in rows)
    room = max(20, width - label - 2)
    for name, bars in rows:
        yield f"{name:<{label}}  {_line_of(bars, timeline.seconds, room, ink)}".rstrip()
    yield f"{'':<{label}}  0{_time(timeline.seconds):>{room - 1}}"
    words = {"critical": "critical path", "running": "other tasks", "error": "failed"}
    words |= {"slot": "waits for a free slot", "predecessors": "waits for predecessors"}
    yield from wrapped("  ".join(f"{ink[key]} {text}" for key, text in words.items()), width, "")
    critical = sum(bar.seconds for bar in timeline.critical)
    slowest = sorted(timeline.bars, key=lambda bar: -bar.seconds)[:_SLOWEST_COUNT]
    waits, total = timeline.waits, sum(timeline.waits.values()) or 1.0
    running, before, slot = (f"{100 * waits[key] / total:.0f} %" for key in ("running", "predecessors", "slot"))
    for text in (
        f"critical path  {_time(critical)} of {_time(timeline.seconds)}: {_bars_text(timeline.critical, ' -> ')}",
        f"slowest        {_bars_text(slowest, ', ')}",
        f"nodes          ran tasks {running}, waited for predecessors {before}, for a free slot {slot}",
    ):
        yield from wrapped(named(text), width, " " * 15)


def _bars_text(bars: Iterable[Bar], separator: str) -> str:
    return separator.join(f"{one_line(bar.name)} {_time(bar.seconds)}" for bar in bars)


def _time(seconds: float) -> str:
    return duration(seconds) if seconds >= _MINUTE else f"{seconds:.1f}s"


def _line_of(bars: list[Bar], total: float, room: int, ink: dict[str, str]) -> str:
    """Draw one line: waits first, so that they hide no bar. Each bar has at least one character."""
    line = [" "] * room

    def fill(begin: float, end: float, character: str, min_length: int = 0) -> None:
        first = min(room - 1, int(begin / total * room)) if total else 0
        last = max(first + min_length, int(end / total * room)) if total else first + min_length
        line[first : min(last, room)] = character * (min(last, room) - first)

    for bar in bars:
        fill(bar.idle, bar.ready, ink["predecessors"])
        fill(max(bar.idle, bar.ready), bar.begin, ink["slot"])
    for bar in sorted(bars, key=lambda bar: (bar.word in ("error", "interrupted"), bar.critical)):
        kind = "error" if bar.word in ("error", "interrupted") else "critical" if bar.critical else "running"
        fill(bar.begin, bar.end, ink[kind], min_length=1)
    return "".join(line)


_FORMAT_VERSION = 1
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


def _json(run: Run, timeline: Timeline) -> str:
    from fuelclient import files

    document = {
        "format_version": _FORMAT_VERSION, "run": run.id, "env": run.cluster_id, "status": str(run.status),
        "seconds": round(timeline.seconds, _DIGITS), "critical_path": [bar.name for bar in timeline.critical],
        "waits": {key: round(seconds, _DIGITS) for key, seconds in timeline.waits.items()},
        "instances": [_record(bar) for bar in timeline.bars],
    }  # fmt: skip
    return files.dumps(document, "json")


def _chrome(run: Run, timeline: Timeline) -> str:
    """Write events for chrome://tracing and Perfetto: a process for the run, a thread for each node."""
    from fuelclient import files

    events: list[dict[str, Any]] = []
    for number, (key, bars) in enumerate(timeline.nodes.items(), start=1):
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


def _junit(run: Run, timeline: Timeline) -> str:
    """Write a suite for each graph, with a test case for each instance that ran."""
    from xml.etree import ElementTree

    root = ElementTree.Element("testsuites", name=f"run {run.id}")
    suites: dict[str, ElementTree.Element] = {}
    for bar in timeline.bars:
        graph = bar.row.graph_type
        if graph not in suites:
            bars = [other for other in timeline.bars if other.row.graph_type == graph]
            failures = sum(other.row.status == "error" for other in bars)
            suites[graph] = ElementTree.SubElement(
                root, "testsuite", name=printable(graph), tests=str(len(bars)), failures=str(failures)
            )
        class_name = f"{graph}.node-{node(bar.row.node)}"
        case = ElementTree.SubElement(
            suites[graph], "testcase", name=printable(bar.row.task), classname=printable(class_name),
            time=f"{bar.seconds:.{_DIGITS}f}",
        )  # fmt: skip
        if bar.row.status == "error":
            ElementTree.SubElement(case, "failure", message=printable(_why(bar)))
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _csv(run: Run, timeline: Timeline) -> str:  # noqa: ARG001 (all writers are called alike)
    import csv

    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    records = [_record(bar) for bar in timeline.bars]
    writer.writerow(records[0] if records else ())
    writer.writerows([no_formula(cell) for cell in record.values()] for record in records)
    return stream.getvalue()


_WRITERS: Mapping[str, Callable[[Run, Timeline], str]] = {
    "json": _json, "chrome": _chrome, "junit": _junit, "csv": _csv,
}  # fmt: skip
"""The writer of each format but text."""
