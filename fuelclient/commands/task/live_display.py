"""Show the progress of a run on a terminal: a few lines at the bottom are redrawn, messages scroll above them.

rich is imported when the first run is shown, because importing it takes a while.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, TextIO

from fuelclient.commands.shell import LOG, Printable
from fuelclient.commands.task.failures import Failures, labelled
from fuelclient.insight.progress import (
    INTERRUPTED,
    Progress,
    counted,
    duration,
    elapsed,
    explanation,
    remaining_words,
    run_word,
    status_word,
)
from fuelclient.printing import printable

if TYPE_CHECKING:
    from rich.console import Console, Group

    from fuelclient.model.run import Event, Run

_BAR = 50
"""Columns of the bar at most: short lines stay whole when the terminal becomes narrower."""

_FAILURES = 20
"""How many failures are printed when they happen; with more of them the history is what helps, not the next line."""


def counts(progress: Progress) -> list[str]:
    """Return how many instances have which status, as people read it."""
    return [f"{number} {word}" for word, number in counted(progress)]


class LiveDisplay:
    """Show a run on `console` as long as `shown` is open; `failures` prints its failures."""

    def __init__(self, console: Console, failures: Failures) -> None:
        from rich.live import Live

        self._failures = failures
        self._console = console
        self._live = Live(console=console, auto_refresh=False, transient=True, redirect_stdout=False,
                          redirect_stderr=False, vertical_overflow="crop")  # fmt: skip
        self._told = 0

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Draw the lines, with messages above them, and remove them at the end, whatever happens."""
        with _above(self._console), self._live:
            self._console.show_cursor(True)  # a process that is killed could not give it back
            yield

    def tell(self, event: Event, *, was_stopped: bool = False) -> None:
        """Print failures above the lines; all else is only counted, and printed with `-v`."""
        if event.kind != "instance":
            return
        why = explanation(event.reason, event.message)
        name = labelled(event.graph_type, event.task, event.node)
        word = status_word(event.status, event.reason, was_stopped=was_stopped)
        if event.status != "error":
            LOG.debug("%s %s%s", name, word, f" ({why})" if why else "")
            return
        self._told += 1
        if self._told <= _FAILURES:
            self._failures.show(event.parent_id, (event.run_id, event.task, event.node), name, word, why)
        elif self._told == _FAILURES + 1:
            LOG.error("More failures are only counted: `fuel2 task history show %d --why` lists all.", event.parent_id)

    def show(self, run: Run, progress: Progress, now: datetime) -> None:
        """Draw the lines again."""
        self._live.update(self._drawn(run, progress, now), refresh=True)

    def _drawn(self, run: Run, progress: Progress, now: datetime) -> Group:
        from rich.console import Group
        from rich.text import Text

        width, height = self._console.size
        lines = [Text(line, no_wrap=True, overflow="ellipsis") for line in frame(run, progress, now, width, height)]
        drawn = bar(progress, min(_BAR, width - 1), unicode=self._console.encoding.startswith("utf"))
        lines[1:1] = [
            Text(
                drawn,
                style="red" if progress.counts["error"] or progress.counts[INTERRUPTED] else "green",
                no_wrap=True,
            )
        ]
        return Group(*lines)


def bar(progress: Progress, width: int, *, unicode: bool) -> str:
    """Return how much is done, in `width` characters.

    >>> bar(Progress(), 4, unicode=False)
    '----'
    """
    filled = width * progress.done // len(progress) if len(progress) else 0
    full, empty = "━·" if unicode else "#-"
    return full * filled + empty * (width - filled)


def frame(run: Run, progress: Progress, now: datetime, width: int, height: int) -> list[str]:
    """Return the lines below failures and above the prompt: which run, how far, how many of what, and what runs.

    They leave room for the bar and for the cursor's line. What does not fit the width is left out from the right,
    what does not fit the height is counted.
    """
    total = len(progress)
    share = int(100 * progress.done / total) if total else 0
    how_far = [f"{progress.done}/{total}", f"{share}%", f"{duration(elapsed(run.time_start, None, now) or 0)} elapsed"]
    how_far += remaining_words(progress, run, now)
    lines = [_fitting(_titles(run), width), _fitting(how_far, width), _fitting(counts(progress), width)]
    return lines + _running(progress, now, max(0, height - len(lines) - 3))


def _titles(run: Run) -> list[str]:
    """Return which run this is; of several graphs, which one runs."""
    titles = [f"Run {run.id}"]
    if run_word(run) != run.status:
        titles.append(run_word(run))
    graphs = run.children
    current = next((index for index, graph in enumerate(graphs) if not graph.is_final), len(graphs) - 1)
    if graphs:
        position = f" ({current + 1} of {len(graphs)})" if len(graphs) > 1 else ""
        titles.append(f"graph {graphs[current].graph_type}{position}")
    return [*titles, f"environment {run.cluster_id}"]


def _running(progress: Progress, now: datetime, room: int) -> list[str]:
    """Return the running instances, the longest first, in at most `room` lines."""
    longest = sorted(progress.running.items(), key=lambda item: (item[1], str(progress.keys[item[0]])))
    shown = longest if len(longest) <= room else longest[: max(0, room - 1)]
    names = [(printable(progress.name(number)), duration((now - since).total_seconds())) for number, since in shown]
    wide = max((len(since) for _, since in names), default=0)
    lines = [f"  {since:>{wide}}  {name}" for name, since in names]
    rest = len(longest) - len(shown)
    return [*lines, f"  and {rest} more"] if rest and room else lines


def _fitting(parts: Sequence[str], width: int) -> str:
    """Join as many of `parts` as fit a line, at least the first one."""
    line = ""
    for part in parts:
        longer = f"{line}  {part}" if line else part
        if line and len(longer) >= width:
            break
        line = longer
    return line


def live_display(stderr: TextIO, failures: Failures) -> LiveDisplay | None:
    """Return a display for this stream; None with `-q`, or unless it is a terminal that can move its cursor."""
    handler = _handler_of(stderr)
    if not stderr.isatty() or handler is None or handler.level > logging.INFO:
        return None
    from rich.console import Console

    plain = isinstance(handler.formatter, Printable) and not handler.formatter.coloured
    console = Console(file=stderr, highlight=False, markup=False, emoji=False, no_color=plain)
    return None if console.is_dumb_terminal or not console.is_terminal else LiveDisplay(console, failures)


def _handler_of(stderr: TextIO) -> logging.StreamHandler[TextIO] | None:
    handlers = (handler for handler in LOG.handlers if isinstance(handler, logging.StreamHandler))
    return next((handler for handler in handlers if handler.stream is stderr), None)


@contextmanager
def _above(console: Console) -> Iterator[None]:
    """Print messages above the lines that are redrawn, not into them."""
    handler = _handler_of(console.file)  # type: ignore[arg-type]  # rich types a stream by what it needs of one
    if handler is None:
        yield
        return
    before = handler.setStream(_Above(console))  # type: ignore[arg-type]  # a handler only writes and flushes
    try:
        yield
    finally:
        if before is not None:
            handler.setStream(before)


class _Above:
    """A stream that prints whole lines above the display, however wide the terminal is."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def write(self, text: str) -> None:
        from rich.text import Text

        self._console.print(Text.from_ansi(text.removesuffix("\n")), soft_wrap=True)

    def flush(self) -> None:
        """Do nothing: each line is written at once."""
