"""`task`: list, show, delete, stop, resume and watch runs."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from fuelclient.commands.arguments import YES, env_option, flag, id_of, identifier, option, seconds
from fuelclient.commands.base import Command, Lister, ShowOne, on_backend, report
from fuelclient.commands.exits import Exit
from fuelclient.commands.formatters import Fields, Names, plain
from fuelclient.commands.graph.question import JSONL, lines_option
from fuelclient.commands.shell import LOG, count
from fuelclient.commands.task.start import TIMEOUT, WAIT, Starter
from fuelclient.errors import UsageError
from fuelclient.grouping import grouped

if TYPE_CHECKING:
    from fuelclient.model.run import Run


_COLUMNS = ("id", "status", "name", "graph_type", "cluster", "result", "dry_run", "progress")


def _row(run: Run) -> tuple[Any, ...]:
    return (
        run.id, str(run.status), run.name, run.graph_type or None, run.cluster_id or None,
        Fields(plain(run.result)), run.dry_run, run.progress,
    )  # fmt: skip


def _terminal_rows(runs: Sequence[Run]) -> Iterator[tuple[Any, ...]]:
    """Yield a row for each run and, if it has several parts, one for each of them, with results in words."""

    parts = grouped((run.parent_id, run) for run in runs)
    ids = {run.id for run in runs}
    for run in runs:
        is_part = run.parent_id in ids
        if is_part and len(parts[run.parent_id]) == 1:
            continue
        types = [part.graph_type for part in parts.get(run.id, [run])]
        shown = f"  {run.graph_type}" if is_part else Names([name for name in types if name])
        result = _result_text(run)
        yield (
            run.id, run.word, run.name, shown, run.cluster_id or None, result, run.dry_run, run.progress,
        )  # fmt: skip


def _result_text(run: Run) -> str:
    """What became of a run, in words: what kind it is unless a plain one, its counts, why it failed."""
    counts = {name: number for name, number in run.result.items() if name != "verdict"}
    kind = "noop run" if run.request.noop else "dry run" if run.dry_run else ""
    if not all(isinstance(number, int) for number in counts.values()):  # a master's own
        counts = {"": Fields(plain(run.result)).human_readable()}
    ended = ", ".join(f"{number} {name}".strip() for name, number in counts.items())
    return ": ".join(filter(None, (kind, ended, run.message if run.status == "error" else "")))


class TaskList(Lister):
    """List runs and their parts

    A run is named deploy. It has a part for each of its graphs, which is named deployment and has the graph's type. A
    terminal gets one row for a run of one graph.

      fuel2 task list --env 1 --statuses running
      fuel2 task list --names deploy -s cluster id
    """

    columns = _COLUMNS
    by_weight = ("id", "status", "graph_type", "result", "progress", "cluster")

    arguments = (
        env_option(required=False, help="only runs on this environment"),
        option(
            "-t", "--statuses", nargs="+", choices=("pending", "error", "ready", "running"), default=[],
            metavar="STATUS", help="only runs with these statuses: pending, running, ready, error",
        ),
        option(
            "-n", "--names", type=str, nargs="+", default=[], metavar="NAME",
            help="only runs with these names: deploy, deployment",
        ),
    )  # fmt: skip

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:
        runs = self.backend.runs.list(
            cluster_id=parsed_args.env, statuses=parsed_args.statuses, names=parsed_args.names
        )
        if not runs and parsed_args.env is None and not parsed_args.statuses and not parsed_args.names:
            self.empty = "No graph has been executed yet: 'fuel2 graph execute --env ID' executes one."
        is_sorted = parsed_args.sort_keys or parsed_args.sort_columns
        return _terminal_rows(runs) if self.is_for_terminal(parsed_args) and not is_sorted else map(_row, runs)


class TaskShow(ShowOne):
    """Show one run, or one of its parts

    fuel2 task show 12
    """

    columns = (_COLUMNS[0], "uuid", *_COLUMNS[1:], "message")

    arguments = (id_of("run"),)

    def values(self, parsed_args: argparse.Namespace) -> Sequence[Any]:
        run = self.backend.runs.get(parsed_args.id)
        report(run.findings)
        if run.runner == "gone":
            LOG.warning("The runner of run %d is gone. Run `fuel2 task resume %d` to resume it.", run.id, run.id)
        is_for_people = self.is_for_terminal(parsed_args)
        row = next(_terminal_rows([run, *run.children])) if is_for_people else _row(run)
        cells = (row[0], run.uuid, *row[1:], run.message)
        return [self.named(cell) if is_for_people and isinstance(cell, str) else cell for cell in cells]


class TaskDelete(Command):
    """Delete runs with their history and their files

    What a run left on its nodes is removed too. If a node cannot be reached, or a command still runs there, the
    command says how to remove it, and later commands try again. A live run is not deleted; a run whose runner is gone
    needs --force. With --older-than, all runs that ended more than AGE ago are deleted, except those that later runs
    are compared with: the last success of each task instance, the latest run of each environment, and all runs of an
    environment with a run that has not ended. On a terminal the command asks first, unless you use --yes.

      fuel2 task delete 12
      fuel2 task delete --older-than 90d --env 1
    """

    arguments = (
        option("id", nargs="?", type=identifier, metavar="ID", help="id of the run"),
        option(
            "--older-than", type=seconds, metavar="AGE", help="delete runs that ended more than this long ago: 90d, 12h"
        ),
        env_option(required=False, help="with --older-than: only runs on this environment"),
        flag("-f", "--force", help="delete a run that has not ended, if its runner is gone"),
        YES,
    )

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        if (parsed_args.id is None) == (parsed_args.older_than is None):
            raise UsageError("Name a run, or an age with --older-than.", hint="Use one of them.")
        if parsed_args.older_than is not None:
            self._delete_old(parsed_args)
            return
        if parsed_args.env is not None:
            raise UsageError("--env works only with --older-than.", hint="Leave it out: a run has one environment.")
        self.ask(parsed_args, lambda: self._question(parsed_args.id))
        for warning in self.writable().runs.delete(parsed_args.id, force=parsed_args.force):
            LOG.warning("%s", warning)
        self.tell(f"Task with id {parsed_args.id} was deleted")

    def _delete_old(self, parsed_args: argparse.Namespace) -> None:
        old = self.backend.runs.removable(timedelta(seconds=parsed_args.older_than), parsed_args.env)
        if old:
            self.ask(parsed_args, lambda: f"Delete {count(len(old), 'run')} with their history?")
            for warning in self.writable().runs.delete(*old):
                LOG.warning("%s", warning)
        self.tell(f"{count(len(old), 'task')} deleted")

    def _question(self, run_id: int) -> str:
        run = self.backend.runs.get(run_id)
        when = f", {run.word} since {run.time_end or run.time_start}" if run.time_start else ""
        graphs = ", ".join(child.graph_type for child in run.children) or run.graph_type or run.name
        what = f"run {run_id} of environment {run.cluster_id} ({graphs}{when})"
        return f"Delete {what} with its history?"


_STOPPING = "Stop deployment task with id {0.id} for the environment {0.cluster_id} has been started."


class Stopping(Command):
    def stop(self, parsed_args: argparse.Namespace, /) -> Run:
        raise NotImplementedError

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        self.writable()
        stopped = self.stop(parsed_args)
        self.tell(_STOPPING.format(stopped))
        if stopped.is_final:  # it had no runner any more; the message names commands that may still run
            LOG.warning("Run %d ended: %s. %s", stopped.id, stopped.word, stopped.message)


class TaskStop(Stopping):
    """Stop a run

    No further task instances start. Running ones may finish, unless --kill ends them. The command does not wait for the
    run to end; use 'task watch' for that.

      fuel2 task stop 12
      fuel2 task stop 12 --kill
    """

    arguments = (id_of("run"), flag("--kill", help="end running task instances"))
    stop = on_backend(lambda backend, args: backend.runs.stop(args.id, kill=args.kill))


class TaskResume(Starter):
    """Resume a run whose runner was killed

    Task instances that have ended are not run again. If it is not known how some of them ended, for example because the
    machine went down, the command names them and does nothing; --rerun-interrupted runs them again. The command waits
    as 'graph execute' does.

      fuel2 task resume 12 --wait
    """

    arguments = (
        id_of("run"),
        flag("--rerun-interrupted", help="run instances again if it is not known how they ended"),
        *WAIT,
    )

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        resumed = self.writable().runs.resume(parsed_args.id, rerun_interrupted=parsed_args.rerun_interrupted)
        sentence = f"Deployment task with id {resumed.id} for the environment {resumed.cluster_id} has been resumed."
        self.report_started(resumed, sentence, parsed_args)


class TaskWatch(Command):
    """Follow a run to its end

    Prints on stderr what has happened since the run began, and then what happens until it ends. The exit code is 8 if
    the run fails. Ctrl-C stops the run, and a second Ctrl-C kills running tasks, as with 'graph execute'. After
    --timeout the command ends with exit code 12, and the run goes on.

    With -f jsonl, stdout gets a JSON object on each line: the beginning of the run, beginning and end of each task
    instance, each change of the run's state, and its end with the exit code. docs/answers.schema.json describes them.

      fuel2 task watch 12 --timeout 30m
      fuel2 task watch 12 -f jsonl
    """

    arguments = (id_of("run"), TIMEOUT, lines_option("-f", "--format"))

    def take_action(self, parsed_args: argparse.Namespace) -> Exit:
        from fuelclient.commands.task.follow import follow

        run = self.backend.runs.get(parsed_args.id)
        out = self.app.stdout if parsed_args.format == JSONL else None
        return follow(self.backend, run.parent_id or run.id, self.app.stderr, timeout=parsed_args.timeout, json_to=out)
