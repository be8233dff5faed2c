"""`task logs`: what the task instances of a run printed."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

from fuelclient.commands.arguments import flag, id_of, instance, option
from fuelclient.commands.base import Command
from fuelclient.commands.shell import LOG
from fuelclient.errors import NotFound, UsageError
from fuelclient.printing import one_line, tame

if TYPE_CHECKING:
    from fuelclient.model.run import HistoryFilter, HistoryRow, Logs

_PAUSE = 1.0
"""Seconds between two looks at a run that is followed. Logs are read on the nodes, so each look costs something."""


class TaskLogs(Command):
    """Print what the task instances of a run printed

    Standard output goes to stdout and standard error to stderr, all tries one after another. On a terminal, control
    characters except colours are escaped; pipes and files get the text as it is.

    Without TASK/NODE the command prints what all instances printed, each after a line with its name. --failed prints
    only those that failed. --follow goes on until the run ends, and prints what running instances print meanwhile.

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
        flag("-f", "--follow", help="print what is printed until the run ends"),
        flag("--failed", help="only instances that failed"),
    )  # fmt: skip

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        from fuelclient.model.run import HistoryFilter

        task, node = _named(parsed_args.instance) if parsed_args.instance else ("", "")
        if task and not parsed_args.follow:
            logs = self.backend.runs.logs(parsed_args.id, task, node)
            self._print(logs)
            failed = self.backend.runs.history(parsed_args.id, HistoryFilter((node,), ("error",), (task,)))
            if logs.return_code is not None:
                LOG.info("Return code: %d", logs.return_code)
            elif not failed:
                LOG.info("There is no return code: the task instance has not ended, or was killed.")
            for row in failed:
                # the return code and the end of what was printed are not repeated
                if not ((logs.output or logs.errors) and row.message.startswith("exit code ")):
                    _say_why(row)
            return
        statuses = ("error",) if parsed_args.failed else ("running", "ready", "error", "skipped")
        filters = HistoryFilter((node,) if task else (), statuses, (task,) if task else ())
        self._all(parsed_args.id, filters, follow=parsed_args.follow)

    def _all(self, run_id: int, filters: HistoryFilter, *, follow: bool) -> None:
        """Print what the instances printed, in the order in which they began; while `follow`, again and again."""
        printed: dict[tuple[int, str, object], tuple[int, int]] = {}
        ended: set[tuple[int, str, object]] = set()
        last = None
        while True:
            run = self.backend.runs.get(run_id)
            rows = [row for row in self.backend.runs.history(run_id, filters) if row.time_start != row.time_end]
            for row in sorted(rows, key=lambda row: str(row.time_start)):
                key = (row.run_id, row.task, row.node)
                logs = None if key in ended else self._logs(row)
                if logs is None:
                    continue
                begun = printed.get(key, (0, 0))
                if key not in printed or len(logs.output) + len(logs.errors) > sum(begun):
                    if key != last:
                        self.say(f"==> {one_line(row.task)}/{row.node} ({row.status}) <==")
                    self._print(logs, begun)
                    last, printed[key] = key, (len(logs.output), len(logs.errors))
                if row.time_end:
                    if key not in ended:
                        _say_why(row)
                    ended.add(key)
            if not follow or run.is_final or run.runner == "gone":
                break
            time.sleep(_PAUSE)
        if not printed:
            LOG.info(
                "Nothing was printed: no task instance%s.", " failed" if filters.statuses == ("error",) else " ran"
            )

    def _logs(self, row: HistoryRow) -> Logs | None:
        """Return what an instance printed, or None if nothing is left of it, or it had nothing to execute."""
        try:
            return self.backend.runs.logs(row.run_id, row.task, str(row.node))
        except NotFound:
            return None

    def _print(self, logs: Logs, begun: tuple[int, int] = (0, 0)) -> None:
        """Print what was not printed yet: `begun` has the numbers of letters that were."""
        shell = self.shell
        written = (logs.output[begun[0] :], logs.errors[begun[1] :])
        for stream, text in zip((shell.stdout, shell.stderr), written, strict=True):
            stream.write(tame(text) if stream.isatty() else text)
            stream.flush()


def _say_why(row: HistoryRow) -> None:
    """Say why a task instance failed: what it printed may not tell, and a noop run keeps no output."""
    from fuelclient.insight.progress import explanation
    from fuelclient.model.status import InstanceStatus

    why = explanation(row.reason, row.message, row.because) if row.status == InstanceStatus.ERROR else ""
    if why:
        LOG.info("%s/%s: %s", one_line(row.task), row.node, why)


def _named(word: str) -> tuple[str, str]:
    task, slash, node = word.rpartition("/")
    if not (slash and task and node):
        raise UsageError(f"'{word}' is not a task on a node.", hint="Write TASK/NODE, as in netconfig/3.")
    return task, node
