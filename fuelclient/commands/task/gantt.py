"""`task gantt`: what a run did when."""

from __future__ import annotations

import argparse
import os
import textwrap
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from cliff.utils import terminal_width

from fuelclient.commands.arguments import id_of, option
from fuelclient.commands.base import Command
from fuelclient.commands.documents import FORCE, OUTPUT, STDOUT
from fuelclient.commands.formatters import encoding_of
from fuelclient.commands.shell import LOG
from fuelclient.errors import InvalidGraph, NotFound, Unsupported
from fuelclient.insight.progress import duration
from fuelclient.printing import one_line

if TYPE_CHECKING:
    from fuelclient.backends.base import Backend
    from fuelclient.insight.timeline import Bar, Timeline
    from fuelclient.model.run import Run

FORMATS = ("text", "json", "chrome", "junit", "csv")
_ENDINGS = {".json": "json", ".xml": "junit", ".csv": "csv"}
_WIDTH = 100
_SLOWEST = 5
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
        option("-f", "--format", choices=FORMATS, help="default: by the name of the file, else text"),
        OUTPUT,
        FORCE,
    )

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        run = self.backend.runs.get(parsed_args.id)
        seen = timeline_of(self.backend, run)
        content = self._content(run, seen, parsed_args)
        if parsed_args.output == STDOUT:
            self.app.stdout.write(content)
            return
        from fuelclient import files

        path = os.path.abspath(parsed_args.output)
        files.write(path, content, force=parsed_args.force)
        self.say(f"The times of run {run.id} were written to {path}")

    def _content(self, run: Run, seen: Timeline, parsed_args: argparse.Namespace) -> str:
        ending = os.path.splitext(parsed_args.output)[1].lower()
        form = parsed_args.format or _ENDINGS.get(ending, "text")
        if form == "text":
            plain = encoding_of(self.app.stdout).lower().replace("-", "") != "utf8"
            width = terminal_width() or _WIDTH
            return "".join(f"{line}\n" for line in _lines(seen, parsed_args.by, width, _ASCII if plain else _INK))
        from fuelclient.commands.task import timeline_formats

        return timeline_formats.WRITERS[form](run, seen)


def timeline_of(backend: Backend, run: Run) -> Timeline:
    """Return what happened in a run. Who waited for whom is computed from the tasks that the run remembers."""
    from fuelclient.commands.graph.sides import of_run
    from fuelclient.insight.timeline import Instance, predecessors, timeline
    from fuelclient.plan.preview import PreviewOptions

    before: dict[int, dict[Instance, list[Instance]]] = {}
    for child in run.children or (run,):
        try:
            side = of_run(backend, child.id, child.graph_type)
            before[child.id] = predecessors(side.study(PreviewOptions(), backend).expansion)
        except (NotFound, InvalidGraph, Unsupported) as error:
            LOG.info("What tasks of %s waited for is not known: %s", child.graph_type or "the graph", error)
    return timeline(backend.runs.history(run.id), before, datetime.now(UTC))


def _lines(seen: Timeline, by: str, width: int, ink: dict[str, str]) -> Iterator[str]:
    if not seen.bars:
        yield "Nothing ran."
        return
    if by == "task":
        rows = [(bar.name, [bar]) for bar in seen.bars]
    else:
        rows = [("sync points" if node is None else f"node {node}", bars) for node, bars in seen.nodes.items()]
    label = max(len(one_line(name)) for name, _ in rows)
    room = max(20, width - label - 2)
    for name, bars in rows:
        yield f"{one_line(name):<{label}}  {_drawn(bars, seen.seconds, room, ink)}".rstrip()
    yield f"{'':<{label}}  0{_time(seen.seconds):>{room - 1}}"
    words = {"critical": "critical path", "running": "other tasks", "error": "failed"}
    words |= {"slot": "waits for a free slot", "predecessors": "waits for predecessors"}
    yield "  ".join(f"{ink[key]} {text}" for key, text in words.items())
    critical = sum(bar.seconds for bar in seen.critical)
    slowest = sorted(seen.bars, key=lambda bar: -bar.seconds)[:_SLOWEST]
    for text in (
        f"critical path  {_time(critical)} of {_time(seen.seconds)}: {_listed(seen.critical, ' -> ')}",
        f"slowest        {_listed(slowest, ', ')}",
    ):
        yield from textwrap.wrap(text, width, subsequent_indent=" " * 15, break_on_hyphens=False)
    total = sum(seen.waits.values()) or 1.0
    running, before, slot = (f"{100 * seen.waits[key] / total:.0f} %" for key in ("running", "predecessors", "slot"))
    yield f"nodes          ran tasks {running}, waited for predecessors {before}, for a free slot {slot}"


def _listed(bars: Iterable[Bar], between: str) -> str:
    return between.join(f"{one_line(bar.name)} {_time(bar.seconds)}" for bar in bars)


def _time(seconds: float) -> str:
    return duration(seconds) if seconds >= _MINUTE else f"{seconds:.1f}s"


def _drawn(bars: list[Bar], total: float, room: int, ink: dict[str, str]) -> str:
    """Return one line: waits first, so that no bar is hidden by them, and each bar at least one character."""
    line = [" "] * room

    def fill(begin: float, end: float, letter: str, least: int = 0) -> None:
        first = min(room - 1, int(begin / total * room)) if total else 0
        last = max(first + least, int(end / total * room)) if total else first + least
        line[first : min(last, room)] = letter * (min(last, room) - first)

    for bar in bars:
        fill(bar.idle, bar.ready, ink["predecessors"])
        fill(max(bar.idle, bar.ready), bar.begin, ink["slot"])
    for bar in sorted(bars, key=lambda bar: (bar.word in ("error", "interrupted"), bar.critical)):
        kind = "error" if bar.word in ("error", "interrupted") else "critical" if bar.critical else "running"
        fill(bar.begin, bar.end, ink[kind], least=1)
    return "".join(line)
