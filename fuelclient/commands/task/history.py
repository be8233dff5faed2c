"""Runs as rows and documents, and `task history show`: what happened to each task instance of a run."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from fuelclient.commands.arguments import flag, identifier, names, node_words, option
from fuelclient.commands.base import STRUCTURED, Lister, sorted_by
from fuelclient.commands.formatters import Fields, Lines, check_columns, plain

if TYPE_CHECKING:
    from fuelclient.model.run import HistoryRow, NodeKey, Run

COLUMNS = ("id", "status", "name", "graph_type", "cluster", "result", "dry_run", "progress")
"""The columns of a list of runs."""

SYNC_POINTS = "null"
"""The node of sync points, as filters take it."""


def row(run: Run) -> tuple[Any, ...]:
    """Return the cells of `COLUMNS`."""
    return (
        run.id, str(run.status), run.name, run.graph_type or None, run.cluster_id or None,
        Fields(plain(run.result)), run.dry_run, run.progress,
    )  # fmt: skip


def document(run: Run) -> dict[str, Any]:
    """Return a run and its children as a master answers them."""
    return {
        "id": run.id, "cluster": run.cluster_id or None, "uuid": run.uuid, "name": run.name,
        "status": str(run.status), "progress": run.progress, "message": run.message,
        "result": plain(run.result), "dry_run": run.dry_run, "graph_type": run.graph_type,
        "parent_id": run.parent_id, "time_start": run.time_start, "time_end": run.time_end,
        "children": [document(child) for child in run.children],
    }  # fmt: skip


def node(key: NodeKey) -> int | str:
    """Return the node of a task instance as one word.

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
    of a task that was placed nowhere is '-', that of a sync point 'null'. --why adds the reason for each status and the
    failure to blame; -f json and -f yaml always include them.

      fuel2 task history show 12 --statuses error --why
      fuel2 task history show 12 --nodes 1 master --tasks-names netconfig
    """

    columns = ("graph_type", *_BASE, *_WHY, "summary", *_BY_TASK[1:])
    sort_by = ""

    arguments = (
        option("id", type=identifier, help="id of the run, or of one of its parts"),
        option(
            "-n", "--nodes", nargs="+", type=node_words, action="extend", default=[], metavar="NODE",
            help="only these nodes, by id or name: 1 2, master, null",
        ),
        option(
            "-d", "--tasks-names", nargs="+", type=names, action="extend", default=[], dest="tasks", metavar="TASK",
            help="only these tasks",
        ),
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

        filters = HistoryFilter(
            tuple(chain.from_iterable(parsed_args.nodes)),
            tuple(parsed_args.statuses),
            tuple(chain.from_iterable(parsed_args.tasks)),
        )
        history = self.backend.runs.history(parsed_args.id, filters)
        several = len({row.run_id for row in history}) > 1
        if parsed_args.show_parameters:
            columns, rows = (("graph_type",) * several + _BY_TASK), _by_task(history, several)
        else:
            columns = ("graph_type",) * several + _BASE
            if parsed_args.why or parsed_args.formatter in STRUCTURED:
                columns += _WHY
            if parsed_args.include_summary:
                columns += ("summary",)
            rows = [_cells(row, columns) for row in history]
        check_columns([*parsed_args.columns, *(parsed_args.sort_keys or ())], columns)
        rows = sorted_by(rows, columns, parsed_args.sort_keys or ())
        # Nodes are sorted by number, and shown as strings, as a master gives them.
        texts = {columns.index("node_id")} if "node_id" in columns else ()
        return columns, [[str(cell) if index in texts else cell for index, cell in enumerate(row)] for row in rows]


def _cells(row: HistoryRow, columns: Sequence[str]) -> Sequence[Any]:
    cells = {
        "graph_type": row.graph_type, "task_name": row.task, "node_id": node(row.node), "status": str(row.status),
        "time_start": row.time_start, "time_end": row.time_end, "reason": row.reason, "because": row.because,
        "return_code": row.return_code, "message": row.message, "summary": Fields(plain(row.summary)),
    }  # fmt: skip
    return [cells[column] for column in columns]


def _by_task(history: Sequence[HistoryRow], several: bool) -> list[Sequence[Any]]:
    """Return a row for each task of each graph: how it is defined, and what happened to it on each node."""
    from fuelclient import files

    grouped: dict[tuple[int, str], list[HistoryRow]] = {}
    for row in history:
        grouped.setdefault((row.run_id, row.task), []).append(row)
    return [
        (
            *([rows[0].graph_type] if several else []),
            rows[0].task,
            Lines(files.dumps(plain(rows[0].definition), "yaml").splitlines()),
            Lines(list(map(_status_on_node, rows))),
        )
        for rows in grouped.values()
    ]


def _status_on_node(row: HistoryRow) -> str:
    """What happened to a task on one node, in the words of the original client; times are whole seconds."""
    began, ended = ((time or "").partition(".")[0] for time in (row.time_start, row.time_end))
    return f"{node(row.node)} - {row.status} - {began or 'not started'} - {ended or 'not ended'}"
