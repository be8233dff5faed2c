"""The progress of a run on a terminal: a few lines at the bottom that are redrawn, and above them what stays.

rich is imported when the first run is shown, and by nothing else here.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, TextIO

from fuelclient.commands.shell import LOG
from fuelclient.commands.task.cells import instance
from fuelclient.commands.task.pace import clock, moment
from fuelclient.commands.task.progress import Progress, counted, named, why

if TYPE_CHECKING:
    from rich.console import Console, Group

    from fuelclient.model.run import Event, Run

_BAR = 50
"""Columns of the bar at most: lines that are short stay whole when the terminal becomes narrower."""

_FAILURES = 20
"""So many failures are told when they happen; who has more of them needs the history, not the next line."""


class LiveTeller:
    """Shows a run on `console` as long as `shown` is open."""

    def __init__(self, console: Console) -> None:
        from rich.live import Live

        self._console = console
        self._live = Live(console=console, auto_refresh=False, transient=True, redirect_stdout=False,
                          redirect_stderr=False, vertical_overflow="crop")  # fmt: skip
        self._told = 0

    @contextmanager
    def shown(self) -> Iterator[None]:
        """The lines are drawn, and narration goes above them; at the end they are gone, whatever happens."""
        with _above(self._console), self._live:
            self._console.show_cursor(True)  # a process that is killed could not give it back
            yield

    def tell(self, event: Event) -> None:
        """Failures stay on the screen; all else is counted there, and told with `-v`."""
        if event.kind != "instance":
            return
        told = why(event)
        if event.status != "error":
            LOG.debug("%s %s%s", named(event), event.status, f" ({told})" if told else "")
            return
        self._told += 1
        if self._told <= _FAILURES:
            LOG.error("%s error%s", named(event), f" ({told})" if told else "")
            LOG.info("  %s", look_at(event))
        elif self._told == _FAILURES + 1:
            LOG.error("More failures are only counted: `fuel2 task history show %d --why` lists all.", event.parent_id)

    def show(self, found: Run, progress: Progress, now: datetime) -> None:
        """The screen is as things are now."""
        self._live.update(self._drawn(found, progress, now), refresh=True)

    def _drawn(self, found: Run, progress: Progress, now: datetime) -> Group:
        from rich.console import Group
        from rich.text import Text

        width, height = self._console.size
        lines = [Text(line, no_wrap=True, overflow="ellipsis") for line in frame(found, progress, now, width, height)]
        drawn = bar(progress, min(_BAR, width - 1), unicode=self._console.encoding.startswith("utf"))
        lines[1:1] = [Text(drawn, style="red" if progress.failures else "green", no_wrap=True)]
        return Group(*lines)


def bar(progress: Progress, width: int, *, unicode: bool) -> str:
    """How much is done, in `width` characters.

    >>> bar(Progress(), 4, unicode=False)
    '----'
    """
    filled = width * progress.done // progress.total if progress.total else 0
    full, empty = "━·" if unicode else "#-"
    return full * filled + empty * (width - filled)


def look_at(event: Event) -> str:
    """The command that prints what a task instance printed."""
    return f"fuel2 task logs {event.run_id} {instance(event.task, event.node)}"


def frame(found: Run, progress: Progress, now: datetime, width: int, height: int) -> list[str]:
    """The lines below failures and above the prompt: which run, how far, how many of what, and what runs.

    They leave room for the bar and for the cursor's line. What does not fit the width is left out from the right,
    what does not fit the height is counted.
    """
    began = moment(found.time_start) if found.time_start else now
    share = int(100 * progress.done / progress.total) if progress.total else 0
    how_far = [f"{progress.done}/{progress.total}", f"{share}%", f"{clock((now - began).total_seconds())} elapsed"]
    how_far += _how_long(progress, found, now)
    lines = [_fitting(_titles(found), width), _fitting(how_far, width), _fitting(counted(progress), width)]
    return lines + _running(progress, now, max(0, height - len(lines) - 3))


def _how_long(progress: Progress, found: Run, now: datetime) -> list[str]:
    """How long it may still take, and which earlier runs say so; what takes longer than there is told as that."""
    left = progress.left(found, now)
    if left is None:
        return []
    seconds, earlier = left
    told = ", ".join(str(one) for one in sorted(set(earlier)))
    if told and seconds < 1 and progress.running:
        return [f"longer than in task {told}"]
    return [f"about {clock(seconds)} left", *([f"(by task {told})"] if told else [])]


def _titles(found: Run) -> list[str]:
    """Which run this is; of several graphs, the one that runs."""
    titles = [f"Task {found.id}"]
    if found.stop:
        titles.append("killing" if found.stop == "kill" else "stopping")
    graphs = found.children
    current = next((index for index, one in enumerate(graphs) if not one.is_final), len(graphs) - 1)
    if graphs:
        position = f" ({current + 1} of {len(graphs)})" if len(graphs) > 1 else ""
        titles.append(f"graph {graphs[current].graph_type}{position}")
    return [*titles, f"environment {found.cluster_id}"]


def _running(progress: Progress, now: datetime, room: int) -> list[str]:
    """What runs, the longest first, in at most `room` lines."""
    longest = sorted(progress.running.items(), key=lambda item: (item[1], str(item[0])))
    shown = longest if len(longest) <= room else longest[: max(0, room - 1)]
    names = [(instance(task, node), clock((now - since).total_seconds())) for (_, task, node), since in shown]
    wide = max((len(since) for _, since in names), default=0)
    lines = [f"  {since:>{wide}}  {name}" for name, since in names]
    rest = len(longest) - len(shown)
    return [*lines, f"  and {rest} more"] if rest and room else lines


def _fitting(parts: Sequence[str], width: int) -> str:
    """As many of `parts` as fit a line, from the first one on; the first one always."""
    line = ""
    for part in parts:
        longer = f"{line}  {part}" if line else part
        if line and len(longer) >= width:
            break
        line = longer
    return line


def live_on(stderr: TextIO) -> LiveTeller | None:
    """What shows a run on this stream; None where it is no terminal that can move its cursor, and with `-q`."""
    handler = _handler_of(stderr)
    if not stderr.isatty() or handler is None or handler.level > logging.INFO:
        return None
    from rich.console import Console

    console = Console(file=stderr, highlight=False, markup=False, emoji=False)
    return None if console.is_dumb_terminal or not console.is_terminal else LiveTeller(console)


def _handler_of(stderr: TextIO) -> logging.StreamHandler[TextIO] | None:
    return next((one for one in LOG.handlers if isinstance(one, logging.StreamHandler) and one.stream is stderr), None)


@contextmanager
def _above(console: Console) -> Iterator[None]:
    """What is narrated goes above the lines that are redrawn, not into them."""
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
    """A stream whose lines are printed above the live display, whole, however wide the terminal is."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def write(self, text: str) -> None:
        from rich.text import Text

        self._console.print(Text(text.removesuffix("\n")), soft_wrap=True)

    def flush(self) -> None:
        """Each line is written at once."""
