"""What happened to each task instance of a run: `task history show` and `task logs`."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from fuelclient.commands.arguments import flag, former, id_of, identifier, instance, names_option, node_words, option
from fuelclient.commands.base import STRUCTURED, Command, Lister, sorted_by
from fuelclient.commands.formatters import Fields, Lines, check_columns, plain
from fuelclient.commands.graph.question import JSONL, lines_option
from fuelclient.commands.shell import LOG
from fuelclient.errors import NotFound, UsageError
from fuelclient.printing import one_line, terminal_safe

if TYPE_CHECKING:
    from fuelclient.commands.task.follow import JsonWriter
    from fuelclient.model.run import HistoryFilter, HistoryRow, Logs, NodeKey

SYNC_POINTS = "null"
"""The node of sync points, as filters take it."""


def node(key: NodeKey) -> int | str:
    """The node of a task instance as one word.

    >>> node(3), node("master"), node(None)
    (3, 'master', 'null')
    """
    return SYNC_POINTS if key is None else key


_STATUSES = ("pending", "error", "ready", "running", "skipped")
_BASE = ("task_name", "node_id", "status", "time_start", "time_end")
_WHY = ("reason", "because", "return_code", "message")
_BY_TASK = ("task_name", "task_parameters", "status_by_node")


class TaskHistoryShow(Lister):
    """Show what happened to the tasks of a run

    The rows cover all graphs of the run, in the order of their plans; with the id of a part, only its graph. The node
    of a task that was placed nowhere is '-'; that of a sync point is 'null', on a terminal empty. --why adds the reason
    for each status and the failure to blame; -f json and -f yaml always include them.

      fuel2 task history show 12 --statuses error --why
      fuel2 task history show 12 --nodes 1 master --tasks-names netconfig
    """

    columns = ("graph_type", *_BASE, *_WHY, "summary", *_BY_TASK[1:])
    by_weight = ("task_name", "node_id", "status", "reason", "message", "because", "time_start", "time_end")
    sort_by = ""

    arguments = (
        option("id", type=identifier, help="id of the run, or of one of its parts"),
        names_option(
            "-n", "--nodes", type=node_words, default=[], metavar="NODE",
            help="only these nodes, by id or name: 1 2, master, null",
        ),
        names_option("-d", "--tasks-names", default=[], dest="tasks", metavar="TASK", help="only these tasks"),
        option(
            "-t", "--statuses", nargs="+", choices=_STATUSES, default=[], metavar="STATUS",
            help=f"only these statuses: {', '.join(_STATUSES)}",
        ),
        flag("-p", "--show-parameters", help="one row for each task, with the task as it was merged"),
        flag("--include-summary", help="add what tasks reported"),
        flag("--why", help="add reason, failure to blame, return code and message"),
    )  # fmt: skip

    def take_action(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Iterable[Sequence[Any]]]:
        from fuelclient.model.run import HistoryFilter

        filters = HistoryFilter(*map(tuple, (parsed_args.nodes, parsed_args.statuses, parsed_args.tasks)))
        history = self.backend.runs.history(parsed_args.id, filters)
        with_type = len({row.run_id for row in history}) > 1
        if parsed_args.show_parameters:
            columns, rows = (("graph_type",) * with_type + _BY_TASK), _by_task(history, with_type)
        else:
            columns = ("graph_type",) * with_type + _BASE
            if parsed_args.why or parsed_args.formatter in STRUCTURED:
                columns += _WHY
            if parsed_args.include_summary:
                columns += ("summary",)
            rows = [_cells(row, columns) for row in history]
        check_columns([*parsed_args.columns, *parsed_args.sort_columns, *(parsed_args.sort_keys or ())], columns)
        rows = sorted_by(rows, columns, parsed_args.sort_keys or ())
        # Nodes are sorted by number, but shown as strings, as by a master.
        indexes = {columns.index("node_id")} if "node_id" in columns else ()
        return columns, [[str(cell) if index in indexes else cell for index, cell in enumerate(row)] for row in rows]


def _cells(row: HistoryRow, columns: Sequence[str]) -> Sequence[Any]:
    summary = Fields(plain(row.summary))
    values = {"task_name": row.task, "node_id": node(row.node), "status": str(row.status), "summary": summary}
    return [values[column] if column in values else getattr(row, column) for column in columns]


def _by_task(history: Sequence[HistoryRow], with_type: bool) -> list[Sequence[Any]]:
    """Make a row for each task of each graph: how it is defined, and what happened to it on each node."""
    from fuelclient import files
    from fuelclient.grouping import grouped

    return [
        (
            *([rows[0].graph_type] if with_type else []),
            rows[0].task,
            Lines(files.dumps(plain(rows[0].definition), "yaml").splitlines()),
            Lines(list(map(_status_on_node, rows))),
        )
        for rows in grouped(((row.run_id, row.task), row) for row in history).values()
    ]


def _status_on_node(row: HistoryRow) -> str:
    """What happened to a task on one node, in the words of the original client; times are whole seconds."""
    began, ended = ((moment or "").partition(".")[0] for moment in (row.time_start, row.time_end))
    return f"{node(row.node)} - {row.status} - {began or 'not started'} - {ended or 'not ended'}"


_POLL_SECONDS = 1.0
"""Seconds between two polls of a run that is followed. Each poll has a cost, because logs are read on the nodes."""


class TaskLogs(Command):
    """Print what the task instances of a run printed

    Standard output goes to stdout and standard error to stderr, all tries one after another. On a terminal, control
    characters except colours are escaped; pipes and files get the text as it is.

    Without TASK/NODE the command prints what all instances printed, each after a line with its name. --failed prints
    only those that failed. --follow goes on until the run ends, and prints what running instances print meanwhile. With
    --format jsonl, each line that they printed is a JSON object, which names the instance and the stream.

    The reason why an instance failed goes to standard error.

      fuel2 task logs 12 netconfig/3
      fuel2 task logs 12 netconfig/node-3
      fuel2 task logs 12 --failed
    """

    arguments = (
        id_of("run"),
        option(
            "instance", type=instance, metavar="TASK/NODE", nargs="?",
            help="the task and its node: netconfig/3, netconfig/node-3 (default: all)",
        ),
        former("-f", "follow"),
        flag("--follow", help="print what is printed until the run ends"),
        flag("--failed", help="only instances that failed"),
        lines_option("--format"),
    )  # fmt: skip

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        from fuelclient.commands.task.follow import JsonWriter
        from fuelclient.model.run import HistoryFilter

        task, uid = _task_and_node(parsed_args.instance) if parsed_args.instance else ("", "")
        writer = JsonWriter(self.app.stdout, self.backend) if parsed_args.format == JSONL else None
        if task and not parsed_args.follow and not writer:
            logs = self.backend.runs.logs(parsed_args.id, task, uid)
            self._print(logs)
            failed = self.backend.runs.history(parsed_args.id, HistoryFilter((uid,), ("error",), (task,)))
            if logs.return_code is not None:
                LOG.info("Return code: %d", logs.return_code)
            elif not failed:
                LOG.info("There is no return code: the task instance has not ended, or was killed.")
            for row in failed:
                # do not repeat the return code and the end of the output
                if not ((logs.output or logs.errors) and row.message.startswith("exit code ")):
                    _print_reason(row)
            return
        statuses = ("error",) if parsed_args.failed else ("running", "ready", "error", "skipped")
        filters = HistoryFilter((uid,) if task else (), statuses, (task,) if task else ())
        self._print_all(parsed_args.id, filters, writer, follow=parsed_args.follow)

    def _print_all(self, run_id: int, filters: HistoryFilter, writer: JsonWriter | None, *, follow: bool) -> None:
        """Print the output of the instances, in the order in which they began; with `follow`, until the run ends."""
        from fuelclient.commands.task.follow import Patience

        printed: dict[tuple[int, str, object], Sequence[int]] = {}
        ended: set[tuple[int, str, object]] = set()
        last, is_last = None, False
        self.backend.runs.get(run_id)  # a server that does not answer at first is not asked again
        patience = Patience(run_id) if follow else nullcontext()
        while not is_last:
            with patience:
                run = self.backend.runs.get(run_id)
                is_over = not follow or run.is_final or run.runner == "gone"
                rows = [row for row in self.backend.runs.history(run_id, filters) if row.time_start != row.time_end]
                for row in sorted(rows, key=lambda row: str(row.time_start)):
                    key = (row.run_id, row.task, row.node)
                    logs = None if key in ended else self._logs(row)
                    if logs is None:
                        continue
                    lengths = printed.get(key, (0, 0))
                    if writer:
                        whole, parent = is_over or bool(row.time_end), run.parent_id or run.id
                        printed[key] = writer.put_output(parent, row, logs, lengths, whole=whole)
                    elif key not in printed or len(logs.output) + len(logs.errors) > sum(lengths):
                        if key != last:
                            self.say(f"==> {one_line(row.task)}/{row.node} ({row.status}) <==")
                        self._print(logs, lengths)
                        last, printed[key] = key, (len(logs.output), len(logs.errors))
                    if row.time_end:
                        if key not in ended:
                            _print_reason(row)
                        ended.add(key)
                is_last = is_over
            time.sleep(0 if is_last else _POLL_SECONDS)
        if not printed:
            LOG.info("Nothing was printed: no task instance %s.", "failed" if filters.statuses == ("error",) else "ran")

    def _logs(self, row: HistoryRow) -> Logs | None:
        """Read the output of an instance; None if nothing is left of it, or if the instance executed nothing."""
        try:
            return self.backend.runs.logs(row.run_id, row.task, str(row.node))
        except NotFound:
            return None

    def _print(self, logs: Logs, printed: Sequence[int] = (0, 0)) -> None:
        """Print new text. `printed` has the numbers of characters of output and errors that were printed before."""
        new_texts = (logs.output[printed[0] :], logs.errors[printed[1] :])
        for stream, text in zip((self.shell.stdout, self.shell.stderr), new_texts, strict=True):
            stream.write(terminal_safe(text) if stream.isatty() else text)
            stream.flush()


def _print_reason(row: HistoryRow) -> None:
    """Print why a task instance failed: its output may not show it, and a noop run keeps none."""
    from fuelclient.insight.progress import explanation
    from fuelclient.model.status import InstanceStatus

    why = explanation(row.reason, row.message, row.because) if row.status == InstanceStatus.ERROR else ""
    if why:
        LOG.info("%s/%s: %s", one_line(row.task), row.node, why)


def _task_and_node(word: str) -> tuple[str, str]:
    task, slash, uid = word.rpartition("/")
    if not (slash and task and uid):
        raise UsageError(f"'{word}' is not a task on a node.", hint="Write TASK/NODE, as in netconfig/3.")
    return task, uid
