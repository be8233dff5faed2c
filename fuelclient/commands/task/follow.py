"""Follow a run until it ends, as lines or as a live display. A follower only reads, so closing it never hurts the run.

A display is a few lines at the bottom of a terminal, which are redrawn; messages scroll above them. rich is imported
when the first run is shown, because importing it takes a while.
"""

from __future__ import annotations

import json
import logging
import re
import shlex
import signal
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import UTC, datetime
from types import FrameType, MappingProxyType
from typing import TYPE_CHECKING, Any, TextIO

from fuelclient.backends.earlier_runs import earlier_of_graph
from fuelclient.commands.exits import Exit
from fuelclient.commands.graph.question import FORMAT_VERSION
from fuelclient.commands.shell import LOG, Printable, as_spelled, count
from fuelclient.errors import Conflict, FuelError, Gone, Unavailable
from fuelclient.insight.progress import (
    INTERRUPTED,
    Key,
    Progress,
    counted,
    duration,
    elapsed,
    explanation,
    remaining_words,
    status_word,
)
from fuelclient.model.run import Event, HistoryRow, Logs, NodeKey, Run, instance_name
from fuelclient.printing import printable
from fuelclient.support import supports

if TYPE_CHECKING:
    from rich.console import Console, ConsoleRenderable

    from fuelclient.backends.base import Backend

ON_A_MASTER = "A master keeps what tasks printed in /var/log/astute/ and /var/log/remote/."

_LONG_REASON = 60
"""A reason of at least so many characters is not repeated."""


def instance_label(graph_type: str, task: str, node: NodeKey) -> str:
    """Name a task instance for people: `default: keystone/1`."""
    return printable(f"{graph_type}: {instance_name(task, node)}".removeprefix(": "))


def node_names(backend: Backend) -> dict[str, str]:
    """The names of nodes by the words for them; none if the server does not answer, which must end no follower."""
    with suppress(FuelError):
        return {"master": "master", **{str(node.id): node.name for node in backend.nodes.list()}}
    return {}


def spelled_nodes(backend: Backend) -> dict[str, str]:
    """The names of nodes by what messages call them (`node 7`), of those whom a command line can name so: no other node
    has the name, and no shell reads it otherwise."""
    known = node_names(backend)
    seen = [name for name in known.values() if re.match(r"[A-Za-z][\w.-]*\Z", name)]
    return {f"node {uid}": name for uid, name in known.items() if seen.count(name) == 1}


class Failures:
    """Print failures, and remember them: `keys` are the run of the graph, the task and the node.

    A long reason that differs only in numbers from an earlier one, such as that of an unknown host key, is replaced by
    a reference to the first one. With `has_logs`, `task logs` shows the output of an instance.
    """

    def __init__(self, *, has_logs: bool) -> None:
        self.keys: set[tuple[int, str, NodeKey]] = set()
        self._has_logs = has_logs
        self._first: dict[str, str] = {}

    def show(self, run_id: int, key: tuple[int, str, NodeKey], name: str, word: str, why: str) -> None:
        """Print that the instance `name` of a run has failed, and the command that shows its output."""
        self.keys.add(key)
        pattern = re.sub(r"\d+", "0", why)
        first = self._first.setdefault(pattern, name)
        if first != name and len(why) >= _LONG_REASON:
            why = f"like {first}"
        LOG.error("%s %s%s", name, word, f" ({why})" if why else "")
        if self._has_logs:
            _, task, node = key
            LOG.info("  fuel2 task logs %d %s", run_id, shlex.quote(printable(instance_name(task, node))))


_MAX_BAR_WIDTH = 50
"""The largest width of the bar: short lines stay whole when the terminal becomes narrower."""

_MAX_FAILURES = 20
"""How many failures are printed as they happen. If there are more, the history is more helpful than further lines."""


def counts(progress: Progress) -> list[str]:
    return [f"{number} {word}" for word, number in counted(progress)]


class PlainLines:
    """Print a line for each change: for logs, pipes, and terminals that cannot move their cursor."""

    def __init__(self, failures: Failures) -> None:
        self._failures = failures
        self._running: set[Key] = set()

    @contextmanager
    def shown(self) -> Iterator[None]:
        yield

    def print_event(self, event: Event, *, was_stopped: bool = False) -> None:
        """Print an event. Print instances that are skipped before they begin, and other kinds of events, only with
        `-v`."""
        if event.kind != "instance":
            LOG.debug("%s %d: %s %d%% %s", event.kind, event.run_id, event.status, event.progress, event.message)
            return
        why = explanation(event.reason, event.message)
        word = status_word(event.status, event.reason, was_stopped=was_stopped)
        name = instance_label(event.graph_type, event.task, event.node)
        key = (event.run_id, event.task, event.node)
        if event.status == "error":
            self._failed(event, key, name, word, why)
        else:
            level = logging.INFO if self._is_printed(event, key) else logging.DEBUG
            LOG.log(level, "%s %s%s", name, word, f" ({why})" if why else "")

    def _failed(self, event: Event, key: Key, name: str, word: str, why: str) -> None:
        self._failures.show(event.parent_id, key, name, word, why)

    def _is_printed(self, event: Event, key: Key) -> bool:
        is_printed = event.status in ("running", "ready") or key in self._running
        if event.status == "running":
            self._running.add(key)
        return is_printed

    def show(self, run: Run, progress: Progress, now: datetime) -> None:
        """Do nothing: plain lines are not redrawn."""

    def show_state(self, run: Run) -> None:
        """Do nothing: what happens to instances says it to people, and `outcome` how the run ended."""

    def show_end(self, run: Run, progress: Progress, code: Exit) -> None:
        """Do nothing, as in `show_state`."""


class JsonWriter:
    """Write a JSON object on each line of stdout, and flush it at once; docs/answers.schema.json describes them."""

    def __init__(self, stdout: TextIO, backend: Backend) -> None:
        self._stdout, self._names = stdout, node_names(backend)

    def put(self, event: str, run_id: int, what: Event | HistoryRow | None = None, **fields: Any) -> None:
        """Write a line about a run, or about one of its task instances (`what`)."""
        line: dict[str, Any] = {"format_version": FORMAT_VERSION, "event": event, "run": run_id}
        if what:
            name = self._names.get(str(what.node))
            line |= {"graph_type": what.graph_type, "task": what.task, "node": what.node, "node_name": name}
        self._stdout.write(f"{json.dumps(line | fields)}\n")
        self._stdout.flush()

    def put_output(self, run_id: int, row: HistoryRow, logs: Logs, begins: Sequence[int], *, whole: bool) -> list[int]:
        """Write each line that an instance printed after so many characters of both streams (`begins`), and return how
        many have been written now. Unless its output is `whole`, the beginning of a line is left for later."""
        texts = (logs.output, logs.errors)
        ends = [len(text) if whole else text.rfind("\n") + 1 for text in texts]
        for stream, text, begin, end in zip(("stdout", "stderr"), texts, begins, ends, strict=True):
            for line in text[begin:end].removesuffix("\n").split("\n") if begin < end else ():
                self.put("output", run_id, row, stream=stream, text=line)
        return ends


class JsonLines(PlainLines):
    """Write progress for programs too. An instance that is skipped before it begins has an end only."""

    def __init__(self, failures: Failures, writer: JsonWriter) -> None:
        super().__init__(failures)
        self._put, self._state = writer.put, ""

    def print_event(self, event: Event, *, was_stopped: bool = False) -> None:
        super().print_event(event, was_stopped=was_stopped)
        if event.kind == "instance":
            self._put(
                "instance_begin" if event.status == "running" else "instance_end", event.parent_id, event,
                status=event.status, word=status_word(event.status, event.reason, was_stopped=was_stopped),
                reason=event.reason, message=event.message, time=event.time,
            )  # fmt: skip

    def show_state(self, run: Run) -> None:
        """Write that a run begins, and later in which other state it is, such as stopping."""
        before, self._state = self._state, run.word
        if self._state != before and not (before and run.is_final):
            self._put_run("run_state" if before else "run_begin", run)

    def show_end(self, run: Run, progress: Progress, code: Exit) -> None:
        if run.is_final:  # otherwise its runner is gone, and it may be resumed
            self._put_run("run_end", run, instances=dict(counted(progress)), exit_code=int(code))

    def _put_run(self, event: str, run: Run, **fields: Any) -> None:
        fields |= {"time_start": run.time_start, "time_end": run.time_end, **fields}
        self._put(event, run.id, None, env=run.cluster_id or None, state=run.word, message=run.message, **fields)


class LiveDisplay(PlainLines):
    """Draw a run at the bottom of a terminal as long as `shown` is open, with failures above."""

    def __init__(self, console: Console, failures: Failures, names: Mapping[str, str] = MappingProxyType({})) -> None:
        """`names` are those of `spelled_nodes`, which are shown in place of ids."""
        from rich.live import Live

        super().__init__(failures)
        self._console, self._names = console, names
        self._live = Live(console=console, auto_refresh=False, transient=True, redirect_stdout=False,
                          redirect_stderr=False, vertical_overflow="crop")  # fmt: skip
        self._printed = 0

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Draw the lines, with messages above them, and remove them at the end."""
        with _messages_above(self._console), self._live:
            self._console.show_cursor(True)  # a process that is killed could not give it back
            yield

    def print_event(self, event: Event, *, was_stopped: bool = False) -> None:
        """Print failures above the lines; other instances are only counted, and printed with `-v`."""
        if event.kind == "instance":
            super().print_event(event, was_stopped=was_stopped)

    def _is_printed(self, event: Event, key: Key) -> bool:  # noqa: ARG002 (the lines count them)
        return False

    def _failed(self, event: Event, key: Key, name: str, word: str, why: str) -> None:
        self._printed += 1
        if self._printed <= _MAX_FAILURES:
            super()._failed(event, key, name, word, why)
        elif self._printed == _MAX_FAILURES + 1:
            LOG.error("More failures are only counted: `fuel2 task history show %d --why` lists all.", event.parent_id)

    def show(self, run: Run, progress: Progress, now: datetime) -> None:
        self._live.update(self._renderable(run, progress, now), refresh=True)

    def _renderable(self, run: Run, progress: Progress, now: datetime) -> ConsoleRenderable:
        from rich.console import Group
        from rich.constrain import Constrain
        from rich.text import Text

        width, height = self._console.size
        text = as_spelled("\n".join(frame(run, progress, now, width, height)), self._names)
        lines = [Text(line, no_wrap=True, overflow="ellipsis") for line in text.split("\n")]
        bar_text = bar(progress, min(_MAX_BAR_WIDTH, width - 1), unicode=self._console.encoding.startswith("utf"))
        colour = "red" if progress.counts["error"] or progress.counts[INTERRUPTED] else "green"
        lines.insert(1, Text(bar_text, style=colour, no_wrap=True))
        # a terminal echoes two Ctrl-C behind the last line: if it were full, the cursor would move down
        return Constrain(Group(*lines), width - 4)


def bar(progress: Progress, width: int, *, unicode: bool) -> str:
    """Draw the share of finished instances in `width` characters.

    >>> bar(Progress(), 4, unicode=False)
    '----'
    """
    filled = width * progress.done // len(progress) if len(progress) else 0
    full, empty = "━·" if unicode else "#-"
    return full * filled + empty * (width - filled)


def frame(run: Run, progress: Progress, now: datetime, width: int, height: int) -> list[str]:
    """The lines of the display: the run, its progress, the number of instances by status, and the running ones.

    They leave room for the bar and for the cursor's line. Parts that exceed the width are left out from the right,
    running instances that exceed the height are counted.
    """
    total = len(progress)
    share = int(100 * progress.done / total) if total else 0
    figures = [f"{progress.done}/{total}", f"{share}%", f"{duration(elapsed(run.time_start, None, now) or 0)} elapsed"]
    figures += remaining_words(progress, run, now)
    lines = [_joined(_titles(run), width), _joined(figures, width), _joined(counts(progress), width)]
    return lines + _running(progress, now, max(0, height - len(lines) - 3))


def _titles(run: Run) -> list[str]:
    titles = [f"Run {run.id}"]
    if run.word != run.status:
        titles.append(run.word)
    graphs = run.children
    current = next((index for index, graph in enumerate(graphs) if not graph.is_final), len(graphs) - 1)
    if graphs:
        position = f" ({current + 1} of {len(graphs)})" if len(graphs) > 1 else ""
        titles.append(f"graph {graphs[current].graph_type}{position}")
    return [*titles, f"environment {run.cluster_id}"]


def _running(progress: Progress, now: datetime, room: int) -> list[str]:
    """List the running instances, the longest first, in at most `room` lines."""
    longest = sorted(progress.running.items(), key=lambda item: (item[1], str(progress.keys[item[0]])))
    shown = longest if len(longest) <= room else longest[: max(0, room - 1)]
    names = [(printable(progress.name(number)), duration((now - since).total_seconds())) for number, since in shown]
    width = max((len(since) for _, since in names), default=0)
    lines = [f"  {since:>{width}}  {name}" for name, since in names]
    rest = len(longest) - len(shown)
    return [*lines, f"  and {rest} more"] if rest and room else lines


def _joined(parts: Sequence[str], width: int) -> str:
    """Join as many of `parts` as fit a line, at least the first one."""
    line = ""
    for part in parts:
        longer = f"{line}  {part}" if line else part
        if line and len(longer) >= width:
            break
        line = longer
    return line


def live_display(backend: Backend, stderr: TextIO, failures: Failures, *, is_json: bool = False) -> LiveDisplay | None:
    """Make a display for this stream; None with `-q` or if stdout gets JSON, or unless it is a terminal that can move
    its cursor.

    The display and all messages name nodes as `spelled_nodes` does, or else by their ids.
    """
    handler, names = _handler_of(stderr), spelled_nodes(backend)
    if handler is not None and isinstance(handler.formatter, Printable):
        handler.formatter.spelled = names
    if is_json or not stderr.isatty() or handler is None or handler.level > logging.INFO:
        return None
    from rich.console import Console

    plain = isinstance(handler.formatter, Printable) and not handler.formatter.coloured
    console = Console(file=stderr, highlight=False, markup=False, emoji=False, no_color=plain)
    if console.is_dumb_terminal or not console.is_terminal:
        return None
    return LiveDisplay(console, failures, names)


def _handler_of(stderr: TextIO) -> logging.StreamHandler[TextIO] | None:
    handlers = (handler for handler in LOG.handlers if isinstance(handler, logging.StreamHandler))
    return next((handler for handler in handlers if handler.stream is stderr), None)


@contextmanager
def _messages_above(console: Console) -> Iterator[None]:
    """Print messages above the lines that are redrawn, not into them."""
    handler = _handler_of(console.file)  # type: ignore[arg-type]  # rich types a stream by what it needs of one
    if handler is None:
        yield
        return
    before = handler.setStream(_MessageStream(console))  # type: ignore[arg-type]  # a handler only writes and flushes
    try:
        yield
    finally:
        if before is not None:
            handler.setStream(before)


class _MessageStream:
    """A stream that prints whole lines above the display, however wide the terminal is."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def write(self, text: str) -> None:
        from rich.text import Text

        self._console.print(Text.from_ansi(text.removesuffix("\n")), soft_wrap=True)

    def flush(self) -> None:
        """Do nothing: each line is written at once."""


_POLL_SECONDS = 0.2
"""The least seconds between two polls of a run: short enough to seem immediate, and cheap. `runs.pause` may be longer:
a Fuel master keeps no events and answers each poll with whole histories."""

_AWAY_SECONDS = 15
"""Seconds for which a server may not answer before the follower gives up: enough to restart it."""

_EVENTS_AT_ONCE = 1000
_MAX_SUMMARY = 5
"""How many failures a summary lists."""


def follow(
    backend: Backend, run_id: int, stderr: TextIO, *, timeout: float | None = None, json_to: TextIO | None = None
) -> Exit:
    """Print the events of a run until it has ended or its runner is gone, and return the exit code.

    The first Ctrl-C asks the run to stop, the second one kills running tasks; after both, the run is followed to its
    end, and the code is `INTERRUPTED`. The third one ends the follower before the run has ended, like the second
    one on a Fuel master, which cannot kill.

    A server that does not answer, for example because it is restarted, is asked again for some seconds before
    `Unavailable` is raised. After `timeout` seconds the follower ends, and the run goes on. With `json_to`, the events
    are written there too, and nothing is redrawn.
    """
    failures = Failures(has_logs=supports(backend.runs.logs))
    display = live_display(backend, stderr, failures, is_json=json_to is not None)
    lines = JsonLines(failures, JsonWriter(json_to, backend)) if json_to else display
    return Follower(backend, run_id, lines or PlainLines(failures), timeout, failures).follow()


class Patience(AbstractContextManager[Any]):
    """Ends a block when the server of a run does not answer, so that it can be asked again: warns once, and raises
    `Unavailable` if the server has not answered for too long. `Gone` is raised at once."""

    def __init__(self, run_id: int) -> None:
        self._id, self._away_since = run_id, 0.0

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> bool:
        if isinstance(error, Gone) or not isinstance(error, Unavailable):
            self._away_since = 0.0
            return False
        if not self._away_since:
            self._away_since = time.monotonic()
            LOG.warning("%s Asking again for up to %d seconds.", error.message, _AWAY_SECONDS)
        elif time.monotonic() - self._away_since > _AWAY_SECONDS:
            hint = f"The run goes on; `fuel2 task watch {self._id}` follows it."
            raise Unavailable(error.message, hint=hint) from error
        return True


class Follower:
    """Follow one run: keep its progress, and the number of handled interrupts."""

    def __init__(
        self, backend: Backend, run_id: int, display: PlainLines, timeout: float | None, failures: Failures
    ) -> None:
        self._backend, self._id, self._display, self._failures = backend, run_id, display, failures
        self._until = None if timeout is None else time.monotonic() + timeout
        self.progress = Progress()
        self._known: set[int] = set()
        self._planned: set[int] = set()
        self._last_event = 0
        self._handled = 0
        self._patience = Patience(run_id)

    def follow(self) -> Exit:
        with _interrupts() as interrupts, self._display.shown():
            try:
                while (run := self.poll(len(interrupts))) is None or not (run.is_final or run.runner == "gone"):
                    if self._until is not None and time.monotonic() >= self._until:
                        LOG.error(
                            "Run %d has not ended within the time of --timeout; it goes on. `fuel2 task watch %d` "
                            "follows it.", self._id, self._id,
                        )  # fmt: skip
                        return Exit.INTERRUPTED if interrupts else Exit.TIMED_OUT
                    time.sleep(max(_POLL_SECONDS, self._backend.runs.pause))
            except KeyboardInterrupt:
                # all may have come between two polls: handle those before the last one
                self._handle_interrupts(2 if self._can_kill() else 1)
                LOG.warning("No longer following run %d; `fuel2 task watch %d` follows it again.", self._id, self._id)
                raise
        code = outcome(run, self.progress, self._failures, has_logs=supports(self._backend.runs.logs))
        code = Exit.INTERRUPTED if interrupts else code
        self._display.show_end(run, self.progress, code)
        return code

    def poll(self, interrupts: int) -> Run | None:
        """Read and print new events, handle the Ctrl-C so far (`interrupts`), and return the run; None if the server
        does not answer."""
        with self._patience:
            run = self._backend.runs.get(self._id)
            self._display.show_state(run)
            self._read_plans(run)
            while events := self._backend.runs.events(self._id, after=self._last_event, limit=_EVENTS_AT_ONCE):
                self.progress.apply(events)
                for event in events:
                    self._display.print_event(event, was_stopped=self.progress.was_stopped)
                self._last_event = events[-1].id
            if not (run.is_final or run.runner == "gone"):
                self._handle_interrupts(interrupts)
            self._display.show(run, self.progress, datetime.now(UTC))
            return run
        return None

    def _read_plans(self, run: Run) -> None:
        """Read the instances of graphs that have been planned and, for a display, how the graphs went earlier."""
        self.progress.note(run)
        for child in run.children:
            if child.id not in self._known:
                earlier = earlier_of_graph(self._backend, child) if isinstance(self._display, LiveDisplay) else None
                self.progress.remember(child.id, earlier)
                self._known.add(child.id)
            if child.id not in self._planned and (child.digest or child.status != "pending"):
                self.progress.add(self._backend.runs.history(child.id))
                self._planned.add(child.id)

    def _handle_interrupts(self, interrupts: int) -> None:
        """Handle each Ctrl-C that has not been handled yet. If the run has ended meanwhile, that has no effect."""
        while self._handled < interrupts:
            kill, can_kill = self._handled > 0, self._can_kill()
            if kill and not can_kill:
                raise KeyboardInterrupt
            if kill:
                LOG.warning("Killing running tasks. Another Ctrl-C ends this command.")
            else:
                then = "kills them" if can_kill else "ends this command, because a Fuel master cannot kill them"
                LOG.warning("Stopping: running tasks may finish, no more start. Another Ctrl-C %s.", then)
            with suppress(Conflict):
                self._backend.runs.stop(self._id, kill=kill)
            self._handled += 1

    def _can_kill(self) -> bool:
        return supports(self._backend.runs.stop, "kill")


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """Collect the first two Ctrl-C in the list that this yields; the third one interrupts as usual.

    As exceptions they could come anywhere: a second one while the first is handled would end the follower at once,
    with running tasks neither stopped nor killed. Only the main thread gets signals. Where Ctrl-C is ignored, as in
    the background of a shell, it stays ignored.
    """
    received: list[int] = []
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        yield received
        return

    def receive(number: int, _frame: FrameType | None) -> None:
        received.append(number)
        if len(received) > 2:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, receive)
    try:
        yield received
    finally:
        signal.signal(signal.SIGINT, before)


def outcome(run: Run, progress: Progress, printed: Failures, *, has_logs: bool = True) -> Exit:
    """Print how a run ended, its failures unless they were `printed`, and what to look at; return its exit code."""
    if not run.is_final:
        LOG.error(
            "Run %d has not ended, but its runner is gone. `fuel2 task resume %d` resumes it, `fuel2 task stop %d` "
            "ends it.", run.id, run.id, run.id,
        )  # fmt: skip
        if run.message:
            LOG.info("%s", run.message)
        return Exit.FAILED
    is_ready = run.status == "ready"
    LOG.log(logging.INFO if is_ready else logging.ERROR, "Run %d ended: %s. %s", run.id, run.word, run.message)
    seconds = elapsed(run.time_start, run.time_end, datetime.now(UTC)) if run.time_end else None
    LOG.info("%s%s.", ", ".join(counts(progress)) or "nothing", "" if seconds is None else f" in {duration(seconds)}")
    failures = progress.failures
    unprinted = [number for number in failures if progress.keys[number] not in printed.keys]
    room = max(0, _MAX_SUMMARY - len(printed.keys))
    for number in unprinted[:room]:
        why = explanation(progress.reasons[number], progress.messages[number])
        key = progress.keys[number]
        name = instance_label(progress.graph_type(number), *key[1:])
        printed.show(run.parent_id or run.id, key, name, progress.word(number), why)
    if len(unprinted) > room:
        LOG.info("  and %s.", count(len(unprinted) - room, "more failure"))
    if failures and not has_logs:
        LOG.info("%s", ON_A_MASTER)
    request = run.request
    is_selection = request.task_names or request.subgraphs or request.node_ids
    if is_ready and (progress.counts["ready"] or not failures or not is_selection):
        return Exit.OK
    LOG.info("`fuel2 task history show %d --why` has the reasons.", run.id)
    if is_ready:
        LOG.error("Nothing of what was selected for run %d succeeded.", run.id)
    return Exit.FAILED
