"""Transactions: list, show, delete, stop, resume, watch, logs."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

from fuelclient.commands.arguments import add_env, identifier, stated
from fuelclient.commands.base import Command, Lister, ShowOne, report
from fuelclient.commands.exits import Exit
from fuelclient.commands.shell import LOG
from fuelclient.commands.task.cells import COLUMNS, row
from fuelclient.commands.task.starting import Starter, add_timeout, add_wait
from fuelclient.errors import UsageError
from fuelclient.printing import tame

if TYPE_CHECKING:
    from fuelclient.commands.shell import FuelShell
    from fuelclient.model.run import Run

STOPPING = "Stop deployment task with id {0.id} for the environment {0.cluster_id} has been started."


def warn_of_end(stopped: Run) -> None:
    """Where the runner of what was to stop was gone, it is said how that has ended: this was its end, and the last
    chance to tell what may go on."""
    if stopped.is_final:
        LOG.warning("Transaction %d ended: %s. %s", stopped.id, stopped.status, stopped.message)


def add_id(parser: argparse.ArgumentParser) -> None:
    """The transaction: `id`."""
    parser.add_argument("id", type=identifier, help="id of the task")


class TaskList(Lister):
    """List executions and their parts

    An execution is named deploy; it has a part named deployment for each of its graphs, with the graph's type.

      fuel2 task list --env 1 --statuses running
      fuel2 task list --names deploy -s cluster id
    """

    columns = COLUMNS

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_env(parser, required=False, help="only those of this environment")
        parser.add_argument(
            "-t", "--statuses", nargs="+", choices=("pending", "error", "ready", "running"), default=[],
            metavar="STATUS", help="only those that are pending, running, ready or error",
        )  # fmt: skip
        parser.add_argument(
            "-n", "--names", nargs="+", default=[], metavar="NAME", help="only those of these names: deploy, deployment"
        )
        return parser

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:
        found = self.backend.runs.list(
            cluster_id=parsed_args.env, statuses=parsed_args.statuses, names=parsed_args.names
        )
        if not found and parsed_args.env is None and not parsed_args.statuses and not parsed_args.names:
            LOG.info("Nothing was executed yet: 'fuel2 graph execute --env ID' does.")
        return [row(one) for one in found]


class TaskShow(ShowOne):
    """Show one execution, or one of its parts"""

    columns = (COLUMNS[0], "uuid", *COLUMNS[1:], "message")

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_id(parser)
        return parser

    def values(self, parsed_args: argparse.Namespace) -> Sequence[Any]:
        found = self.backend.runs.get(parsed_args.id)
        report(found.findings)
        if found.runner == "gone":
            LOG.warning("Nobody works at it: its runner is gone. Run `fuel2 task resume %d`.", found.id)
        cells = row(found)
        return (cells[0], found.uuid, *cells[1:], found.message)


class TaskDelete(Command):
    """Delete an execution with its history and its files

    What it left on its nodes is removed there too; which nodes keep it, because they cannot be reached or a command
    still runs there, is told with the way to remove it. One that runs is not deleted. One that has not ended although
    its runner is gone takes --force.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_id(parser)
        parser.add_argument("-f", "--force", action="store_true", help="even if it has not ended, unless it runs")
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        for stays in self.writable().runs.delete(parsed_args.id, force=parsed_args.force):
            LOG.warning("%s", stays)
        self.say(f"Task with id {parsed_args.id} was deleted")


class TaskStop(Command):
    """Stop an execution

    What runs may end, nothing more starts; with --kill what runs is ended too. The command does not wait for that:
    'task watch' does.

      fuel2 task stop 12
      fuel2 task stop 12 --kill
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_id(parser)
        parser.add_argument("--kill", action="store_true", help="end what runs")
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        stopped = self.writable().runs.stop(parsed_args.id, kill=parsed_args.kill)
        self.say(STOPPING.format(stopped))
        warn_of_end(stopped)


class TaskResume(Starter):
    """Go on with an execution whose process was killed

    What had ended is not run again. Where it is not known how something ended, because the machine went down, the
    command names it and does nothing, unless --rerun-interrupted says to run that again. It waits as
    'graph execute' does.

      fuel2 task resume 12 --wait
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_id(parser)
        parser.add_argument("--rerun-interrupted", action="store_true", help="run again what nobody knows the end of")
        add_wait(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        resumed = self.writable().runs.resume(parsed_args.id, rerun_interrupted=parsed_args.rerun_interrupted)
        sentence = f"Deployment task with id {resumed.id} for the environment {resumed.cluster_id} has been resumed."
        self.started(resumed, sentence, parsed_args)


class TaskWatch(Command):
    """Follow an execution to its end

    Everything that happened is told from the beginning, on stderr. The exit code is 8 when the run failed. Ctrl-C
    stops the run, a second one kills what runs, as with 'graph execute'. After --timeout it ends with exit code 12, and
    the run goes on.
    """

    def run(self, parsed_args: argparse.Namespace) -> int:
        self._exit = Exit.OK
        super().run(parsed_args)
        return self._exit

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_id(parser)
        add_timeout(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        from fuelclient.commands.task.following import follow

        found = self.backend.runs.get(parsed_args.id)
        self._exit = follow(self.backend, found.parent_id or found.id, self.app.stderr, timeout=parsed_args.timeout)


class TaskLogs(Command):
    """Print what a task instance printed

    Its standard output goes to stdout, its standard error to stderr, all tries one after another. On a terminal
    whatever would command it, but for colours, is escaped; in a pipe or file the text is as it is.

      fuel2 task logs 12 netconfig/3
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_id(parser)
        parser.add_argument("instance", type=stated, metavar="TASK/NODE", help="the task and its node: netconfig/3")
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        task, slash, node = parsed_args.instance.rpartition("/")
        if not (slash and task and node):
            raise UsageError(
                f"'{parsed_args.instance}' is no task on a node.", hint="Write TASK/NODE, as in netconfig/3."
            )
        logs = self.backend.runs.logs(parsed_args.id, task, node)
        shell = cast("FuelShell", self.app)
        for stream, written in ((shell.stdout, logs.output), (shell.stderr, logs.errors)):
            stream.write(tame(written) if stream.isatty() else written)
            stream.flush()
        if logs.return_code is None:
            LOG.info("It has no return code: it has not ended, or was ended.")
        else:
            LOG.info("Return code: %d", logs.return_code)
