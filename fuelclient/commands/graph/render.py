"""`graph render`: draw a graph."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
from collections.abc import Mapping
from typing import TYPE_CHECKING, TextIO

from fuelclient.commands.arguments import flag, identifier, option
from fuelclient.commands.documents import FORCE, OUTPUT, STDOUT, put_output
from fuelclient.commands.formatters import encoding_of
from fuelclient.commands.graph.question import OF_GRAPH, ON_NODES, OrderQuestion, run_query
from fuelclient.commands.shell import LOG, count
from fuelclient.errors import InvalidDocument, Unavailable, UsageError
from fuelclient.printing import printable

if TYPE_CHECKING:
    from fuelclient.insight.picture import Picture
    from fuelclient.insight.timeline import Timeline

_FORMATS: Mapping[str, str] = {
    "txt": "txt", "dot": "dot", "gv": "dot", "svg": "svg", "png": "png", "mmd": "mmd", "html": "html",
}  # fmt: skip
"""The format for each file extension."""

_GRAPHVIZ_TIMEOUT = 120


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
            "-f", "--format", choices=sorted(set(_FORMATS.values())), help="default: as the file name implies, or txt"
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
        picture = self._picture(parsed_args)
        timeline = self._run(picture, form, parsed_args.run) if parsed_args.run is not None else None
        title = f"{picture.study.snapshot.cluster.name}: {parsed_args.graph_type}"
        content = _content(picture, form, title, self.app.stdout, timeline)
        put_output(self, parsed_args, content, "The picture was written to {}")

    def _picture(self, parsed_args: argparse.Namespace) -> Picture:
        from fuelclient.insight.picture import Grouping, picture

        study = self.study(parsed_args, despite_cycles=True)
        kept = run_query(study, parsed_args.query, self.app.stderr) if parsed_args.query else None
        result = picture(study, kept, grouping=Grouping(parsed_args.group), reduced=not parsed_args.all_edges)
        implied = f", which imply {count(result.implied, 'more edge')}" if result.implied else ""
        LOG.info("%s, %s%s.", count(len(result.vertices), "task"), count(len(result.edges), "edge"), implied)
        return result

    def _run(self, picture: Picture, form: str, run_id: int) -> Timeline:
        from fuelclient.commands.task.gantt import timeline_of

        if form != "html":
            raise UsageError("--run needs the format html.", hint="End the name of the file with .html.")
        run = self.backend.runs.get(run_id)
        env = picture.study.snapshot.cluster.id
        if run.cluster_id != env:
            raise UsageError(f"Run {run_id} was on environment {run.cluster_id}.", hint=f"Use --env {run.cluster_id}.")
        timeline = timeline_of(self.backend, run)
        if missing := {bar.row.task for bar in timeline.bars} - {vertex.row.task for vertex in picture.vertices}:
            LOG.info("Not in the picture: %s of the run.", count(len(missing), "task"))
        return timeline


def _format_of(path: str, requested: str | None) -> str:
    if requested or path == STDOUT:
        return requested or "txt"
    if (extension := os.path.splitext(path)[1].lower().removeprefix(".")) not in _FORMATS:
        hint = f"End it with .{', .'.join(_FORMATS)}, or use -f."
        raise UsageError(f"The name {path} does not say which kind of picture it is.", hint=hint)
    return _FORMATS[extension]


def _content(picture: Picture, form: str, title: str, stdout: TextIO, timeline: Timeline | None) -> str | bytes:
    from fuelclient.insight.picture import dot, text

    if form == "txt":
        from fuelclient.insight.lanes import ASCII, Ink

        plain = encoding_of(stdout).lower().replace("-", "") != "utf8"
        return "".join(f"{printable(line)}\n" for line in text(picture, ASCII if plain else Ink()))
    if form == "html":
        from fuelclient.commands.graph.page import page

        return page(picture, title, timeline)
    if form == "mmd":
        return _mermaid(picture)
    dot_text = dot(picture)
    if form == "dot":
        return dot_text
    image = _graphviz(dot_text, form)
    return image.decode("utf-8") if form == "svg" else image


def _mermaid(whole: Picture) -> str:
    """Render for Mermaid, without the least important tasks if the picture is too large for it."""
    from fuelclient.insight.picture import MERMAID_CHARS, MERMAID_EDGES, fewer, mermaid

    shown = whole
    text, note, max_edges = mermaid(shown), "", MERMAID_EDGES
    while len(shown.edges) + len(shown.back) > MERMAID_EDGES or len(text) > MERMAID_CHARS:
        total = len(whole.vertices)
        shown = fewer(whole, max_edges)
        left_out = "the edges that others imply"
        if len(shown.vertices) < total:
            left_out += f", and {total - len(shown.vertices)} of {count(total, 'task')}"
        note = f"Mermaid draws at most {MERMAID_EDGES} edges. Left out: {left_out}"
        text, max_edges = mermaid(shown, note), max_edges * 9 // 10
    if note:
        LOG.warning("%s. A QUERY selects what you want to see.", note)
    return text


def _graphviz(dot_text: str, form: str) -> bytes:
    """Draw with Graphviz. Raise `Unavailable` if it is not installed, or is too slow."""
    if (program := shutil.which("dot")) is None:
        hint = "Install the package graphviz, or write .html or .dot instead."
        raise Unavailable(f"{form} is drawn by Graphviz, whose program 'dot' is not installed.", hint=hint)
    try:
        done = subprocess.run(  # noqa: S603 (a fixed command; the picture goes to its standard input)
            [program, f"-T{form}"], input=dot_text.encode(), capture_output=True, timeout=_GRAPHVIZ_TIMEOUT, check=False
        )
    except subprocess.TimeoutExpired:
        hint = "Select fewer tasks with a QUERY, or write .html."
        raise Unavailable(f"Graphviz did not finish in {_GRAPHVIZ_TIMEOUT} seconds.", hint=hint) from None
    if done.returncode:
        raise InvalidDocument(f"Graphviz failed: {done.stderr.decode(errors='replace').strip()}.")
    return done.stdout
