"""`graph render`: draw a graph."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
from collections.abc import Mapping
from typing import TYPE_CHECKING, TextIO

from fuelclient.commands.arguments import flag, identifier, option
from fuelclient.commands.documents import FORCE, OUTPUT, STDOUT
from fuelclient.commands.formatters import encoding_of
from fuelclient.commands.graph.question import OF_GRAPH, ON_NODES, OrderQuestion, selected
from fuelclient.commands.shell import LOG, count
from fuelclient.errors import InvalidDocument, Unavailable, UsageError
from fuelclient.printing import printable

if TYPE_CHECKING:
    from fuelclient.insight.picture import Picture
    from fuelclient.insight.timeline import Timeline

_FORMATS: Mapping[str, str] = {
    "txt": "txt", "dot": "dot", "gv": "dot", "svg": "svg", "png": "png", "mmd": "mmd", "html": "html",
}  # fmt: skip
"""The format of each ending of a file's name."""

_SECONDS = 120


class GraphRender(OrderQuestion):
    """Draw a graph as text, as a picture or as a web page

    The format is that of the file's name: .txt (lanes, as in the terminal UI), .dot for Graphviz, in Fuel's colours,
    .svg and .png (drawn by Graphviz, which must be installed), .mmd for Mermaid, or .html: one
    self-contained page on which you can pan, zoom, search and filter, and see which layer set each attribute.

    QUERY draws only some tasks; see 'graph query'. Edges that others imply are not drawn, unless you use --all-edges.
    Dashed edges lead to tasks that stand earlier in the list: they wait for instances on other nodes. Mermaid draws at
    most 500 edges; if there are more, the least important tasks are left out, and the order through them is kept.

    If tasks wait for one another, a shortest cycle of them is drawn in red; in text, it is named below the lanes.

    --run adds a run to an .html page: bars that show what each node did when, and a slider to step through the run.

      fuel2 graph render --env 1 --output graph.html
      fuel2 graph render '3+keystone+1' --env 1 --output keystone.mmd
      fuel2 graph render 'role:compute' --env 1 --group role -f dot
      fuel2 graph render --env 1 --run 12 --output run.html
    """

    arguments = (
        option("query", metavar="QUERY", nargs="?", help="which tasks, in quotes"),
        *OF_GRAPH,
        option(
            "-f", "--format", choices=sorted(set(_FORMATS.values())), help="default: by the name of the file, else txt"
        ),
        *ON_NODES,
        OUTPUT,
        FORCE,
        option(
            "--group", choices=("stage", "role", "none"), default="stage", help="what forms a group (default: stage)"
        ),
        option("--run", type=identifier, metavar="RUN", help="show this run in an .html page"),
        flag("--all-edges", help="also draw edges that others imply"),
    )

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        form = _format_of(parsed_args.output, parsed_args.format)
        drawn = self._picture(parsed_args)
        seen = self._run(drawn, form, parsed_args.run) if parsed_args.run is not None else None
        title = f"{drawn.study.snapshot.cluster.name}: {parsed_args.graph_type}"
        content = _content(drawn, form, title, self.app.stdout, seen)
        if parsed_args.output != STDOUT:
            from fuelclient import files

            path = os.path.abspath(parsed_args.output)
            files.write(path, content, force=parsed_args.force)
            self.say(f"The picture was written to {path}")
        elif isinstance(content, str):
            self.app.stdout.write(content)
        else:
            _write_bytes(self.app.stdout, content)

    def _picture(self, parsed_args: argparse.Namespace) -> Picture:
        from fuelclient.insight.picture import Grouping, picture

        study = self.study(parsed_args, despite_cycles=True)
        kept = selected(study, parsed_args.query, self.app.stderr) if parsed_args.query else None
        drawn = picture(study, kept, grouping=Grouping(parsed_args.group), reduced=not parsed_args.all_edges)
        implied = f"; {drawn.implied} more are implied by them" if drawn.implied else ""
        LOG.info("%s, %s%s.", count(len(drawn.vertices), "task"), count(len(drawn.edges), "edge"), implied)
        return drawn

    def _run(self, drawn: Picture, form: str, run_id: int) -> Timeline:
        from fuelclient.commands.task.gantt import timeline_of

        if form != "html":
            raise UsageError("--run needs the format html.", hint="End the name of the file with .html.")
        run = self.backend.runs.get(run_id)
        env = drawn.study.snapshot.cluster.id
        if run.cluster_id != env:
            raise UsageError(f"Run {run_id} was on environment {run.cluster_id}.", hint=f"Use --env {run.cluster_id}.")
        seen = timeline_of(self.backend, run)
        missing = {bar.row.task for bar in seen.bars} - {vertex.row.task for vertex in drawn.vertices}
        if missing:
            LOG.info("%s of the run are not in the picture.", count(len(missing), "task"))
        return seen


def _format_of(path: str, asked: str | None) -> str:
    if asked or path == STDOUT:
        return asked or "txt"
    ending = os.path.splitext(path)[1].lower().removeprefix(".")
    if ending not in _FORMATS:
        hint = "End it with .html, or use -f html."
        raise UsageError(f"The name {path} does not say which kind of picture it is.", hint=hint)
    return _FORMATS[ending]


def _content(drawn: Picture, form: str, title: str, stdout: TextIO, seen: Timeline | None) -> str | bytes:
    from fuelclient.insight.picture import dot, text

    if form == "txt":
        from fuelclient.insight.lanes import ASCII, Ink

        plain = encoding_of(stdout).lower().replace("-", "") != "utf8"
        return "".join(f"{printable(line)}\n" for line in text(drawn, ASCII if plain else Ink()))
    if form == "html":
        from fuelclient.commands.graph.page import page

        return page(drawn, title, seen)
    if form == "mmd":
        return _mermaid(drawn)
    described = dot(drawn)
    if form == "dot":
        return described
    made = _graphviz(described, form)
    return made.decode("utf-8") if form == "svg" else made


def _mermaid(whole: Picture) -> str:
    """Leave out the least important tasks if the picture is too large for Mermaid."""
    from fuelclient.insight.picture import MERMAID_CHARS, MERMAID_EDGES, fewer, mermaid

    drawn = whole
    text, note, most = mermaid(drawn), "", MERMAID_EDGES
    while len(drawn.edges) + len(drawn.back) > MERMAID_EDGES or len(text) > MERMAID_CHARS:
        total = len(whole.vertices)
        drawn = fewer(whole, most)
        left_out = "the edges that others imply"
        if len(drawn.vertices) < total:
            left_out += f", and {total - len(drawn.vertices)} of {count(total, 'task')}"
        note = f"Mermaid draws at most {MERMAID_EDGES} edges. Left out: {left_out}"
        text, most = mermaid(drawn, note), most * 9 // 10
    if note:
        LOG.warning("%s. A QUERY selects what you want to see.", note)
    return text


def _graphviz(described: str, form: str) -> bytes:
    """Raise `Unavailable` if Graphviz is not installed, or is too slow."""
    program = shutil.which("dot")
    if program is None:
        hint = "Install the package graphviz, or write .html or .dot instead."
        raise Unavailable(f"{form} is drawn by Graphviz, whose program 'dot' is not installed.", hint=hint)
    try:
        done = subprocess.run(  # noqa: S603 (a fixed command; the picture goes to its standard input)
            [program, f"-T{form}"], input=described.encode(), capture_output=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        hint = "Select fewer tasks with a QUERY, or write .html."
        raise Unavailable(f"Graphviz did not finish in {_SECONDS} seconds.", hint=hint) from None
    if done.returncode:
        raise InvalidDocument(f"Graphviz failed: {done.stderr.decode(errors='replace').strip()}.")
    return done.stdout


def _write_bytes(stdout: TextIO, content: bytes) -> None:
    stream = getattr(stdout, "buffer", None)
    if stream is None or stdout.isatty():
        raise UsageError("A PNG picture cannot be shown here.", hint="Write it to a file: --output graph.png.")
    stream.write(content)
    stream.flush()
