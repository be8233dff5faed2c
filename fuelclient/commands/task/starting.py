"""What all commands that start a run share: their options, the plan of a dry run, and the wait for the end."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fuelclient.commands.arguments import add_executor, seconds
from fuelclient.commands.base import Command, report
from fuelclient.commands.exits import Exit
from fuelclient.commands.formatters import Table, encoding_of
from fuelclient.commands.shell import LOG, count
from fuelclient.commands.task.cells import document, node
from fuelclient.errors import UsageError

if TYPE_CHECKING:
    from fuelclient.model.run import PlannedGraph, PlannedInstance, Run, RunRequest

STARTED = "Deployment task with id {0.id} for the environment {0.cluster_id} has been started."


_FILTERS, _CONDITION = frozenset({"filtered", "subgraph"}), "condition"
"""Why instances are skipped that a request left out, and one that has nothing to do; words of `model.status.Reason`."""


def add_run(parser: argparse.ArgumentParser, *short: str) -> None:
    """How to run: `force`, `trace`, `dry_run`, `noop`, `executor`, `format` and what `add_wait` adds; `short` are those
    of `-f` and `-d` that a command has for --force and --dry-run."""
    parser.add_argument(
        *[one for one in short if one == "-f"],
        "--force",
        action="store_true",
        help="as if nothing had ever run: all facts count as changed",
    )
    parser.add_argument("--trace", action="store_true", help="ask tasks for verbose output")
    mode = parser.add_mutually_exclusive_group()
    dry = [one for one in short if one == "-d"]
    mode.add_argument(*dry, "--dry-run", action="store_true", help="print what would run, and start nothing")
    mode.add_argument("--noop", action="store_true", help="let tasks tell what they would change, and change nothing")
    add_executor(parser, "how to reach all nodes (default: each by its own executor)")
    add_wait(parser)


def add_wait(parser: argparse.ArgumentParser) -> None:
    """Whether to wait for the end and for how long, and what to print: `wait` (None: on a terminal, or where there is a
    `timeout`), `timeout` and `format`."""
    waiting = parser.add_mutually_exclusive_group()
    waiting.add_argument(
        "--wait", action="store_true", default=None, help="follow the run to its end (default on a terminal)"
    )
    waiting.add_argument("--no-wait", action="store_false", dest="wait", help="return as soon as it has started")
    add_timeout(parser)
    parser.add_argument("--format", choices=("json", "yaml"), help="print a document instead of a sentence")


def add_timeout(parser: argparse.ArgumentParser) -> None:
    """For how many seconds to wait: `timeout` (None: to the end)."""
    parser.add_argument(
        "--timeout", type=seconds, metavar="TIME",
        help="wait no longer, and end with exit code 12 while the run goes on: 90, 90s, 30m or 2h",
    )  # fmt: skip


class Starter(Command):
    """A command that starts a run, or goes on with one; its exit code tells of the run when it waits for the end."""

    def run(self, parsed_args: argparse.Namespace) -> int:
        self._exit = Exit.OK
        if parsed_args.timeout is not None and parsed_args.wait is False:
            raise UsageError("--timeout limits a wait, and --no-wait is none.", hint="Leave one of them out.")
        super().run(parsed_args)
        return self._exit

    def execute(self, request: RunRequest, parsed_args: argparse.Namespace, sentence: str = STARTED) -> None:
        """Start `request`, or print its plan where it is a dry run; `sentence` tells of its start."""
        if request.dry_run:
            from fuelclient.backends.plans import planned

            self._show(planned(self.backend, request), parsed_args)
            return
        begun = self.writable().runs.begin(request)
        report([finding for child in begun.children for finding in child.findings])
        self.started(begun, sentence.format(begun), parsed_args)

    def started(self, begun: Run, sentence: str, parsed_args: argparse.Namespace) -> None:
        """Print that a run goes on, or it as a document, which is that of its end where the command waits."""
        limited = parsed_args.timeout is not None
        waits = self.app.stdout.isatty() or limited if parsed_args.wait is None else parsed_args.wait
        if not parsed_args.format:
            self._put(begun, f"{sentence}\n")
        if waits:
            from fuelclient.commands.task.following import follow

            followed = follow(self.backend, begun.id, self.app.stderr, timeout=parsed_args.timeout)
            self._exit = followed or self._exit
        if parsed_args.format:
            self._put(begun, self._dumped(document(self.backend.runs.get(begun.id)), parsed_args.format))

    def _put(self, begun: Run, text: str) -> None:
        """Print what is to say of a run that has begun. Where stdout takes nothing, that is said with the run's id, for
        it goes on, and the exit code is 1 or that of the run."""
        try:
            self.app.stdout.write(text)
            self.app.stdout.flush()
        except OSError as error:
            LOG.error(
                "stdout cannot be written: %s. The run was started all the same, as task %d: "
                "`fuel2 task watch %d` follows it.", error.strerror, begun.id, begun.id,
            )  # fmt: skip
            if isinstance(error, BrokenPipeError):
                raise
            self._exit = self._exit or Exit.UNEXPECTED

    def _show(self, plans: Sequence[PlannedGraph], parsed_args: argparse.Namespace) -> None:
        """Print plans: their rows, or all that is known of them as a document."""
        for plan in plans:
            report(plan.findings)
            _narrate(plan)
        if all(map(_is_left_out, plans)):
            LOG.warning("The selection leaves nothing that would run: to execute it would be an error.")
        if parsed_args.format:
            self.app.stdout.write(self._dumped([_plan(plan) for plan in plans], parsed_args.format))
            return
        rows = [
            (plan.graph_type, one.task, node(one.node), what_happens(one)) for plan in plans for one in plan.instances
        ]
        shown = argparse.Namespace(print_empty=True, max_width=0, fit_width=False)
        Table().emit_list(("graph_type", "task", "node", "action"), rows, self.app.stdout, shown)

    def _dumped(self, data: Any, form: str) -> str:
        from fuelclient import files

        return files.dumps(data, form, encoding=encoding_of(self.app.stdout))


def what_happens(planned: PlannedInstance) -> str:
    """What would happen to a task instance, in some words.

    >>> from fuelclient.model.run import PlannedInstance
    >>> what_happens(PlannedInstance("a", 1, "shell", "release", 1, runs=False, reason="condition", detail="is false"))
    'skip (condition: is false)'
    """
    if planned.runs:
        return "run"
    why = ": ".join(filter(None, (planned.reason, planned.detail)))
    return f"skip ({why})" if why else "skip"


def _narrate(plan: PlannedGraph) -> None:
    """Say on stderr what the rows of a plan do not."""
    if all(one.node is None for one in plan.instances):
        LOG.warning("The %s graph places nothing: to execute it would be an error.", plan.graph_type)
    running = sum(one.runs for one in plan.instances)
    LOG.info(
        "Graph %s: %s would run, %d would be skipped, on %s in %s.%s", plan.graph_type,
        count(running, "task instance"), len(plan.instances) - running, count(len(plan.nodes), "node"),
        count(plan.generations, "generation"),
        " Graphs before it may still change this." if plan.after_earlier else "",
    )  # fmt: skip


def _is_left_out(plan: PlannedGraph) -> bool:
    """Whether the filters of a request are why nothing at all would run; a condition that is false is no filter."""
    reasons = {str(one.reason) for one in plan.instances if one.node is not None}
    return not any(one.runs for one in plan.instances) and bool(reasons & _FILTERS) and _CONDITION not in reasons


def _plan(plan: PlannedGraph) -> dict[str, Any]:
    return {
        "graph_type": plan.graph_type, "nodes": list(plan.nodes), "generations": plan.generations,
        "digest": plan.digest, "after_earlier": plan.after_earlier,
        "instances": [
            {
                "task": one.task, "node": node(one.node), "type": one.type, "layer": one.layer,
                "generation": one.generation, "runs": one.runs, "reason": one.reason, "detail": one.detail,
            }
            for one in plan.instances
        ],
        "findings": [
            {"severity": str(one.severity), "code": one.code, "message": one.message, "place": str(one.place),
             "hint": one.hint}
            for one in plan.findings
        ],
    }  # fmt: skip
