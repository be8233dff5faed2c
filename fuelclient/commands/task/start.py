"""Start a run: the options that all such commands share, and the wait for the end."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fuelclient.commands.arguments import WAY, Arguments, flag, one_of, option, seconds
from fuelclient.commands.base import Command, report
from fuelclient.commands.exits import Exit
from fuelclient.commands.formatters import encoding_of
from fuelclient.commands.shell import LOG
from fuelclient.commands.task.rows import document
from fuelclient.errors import UsageError

if TYPE_CHECKING:
    from fuelclient.model.run import Action, Run, RunRequest

STARTED = "Deployment task with id {0.id} for the environment {0.cluster_id} has been started."


UNKNOWN = (
    option(
        "--unknown", choices=("run", "skip"), default="",
        help="run or skip tasks whose condition reads facts that are not known (default: refuse to run)",
    ),
    option(
        "--assume-facts", metavar="PATH",
        help="facts to assume where the environment has none: a file with names and values, or with {common: ..., "
        "nodes: [...]}, or a directory as 'env deployment-facts download' writes it",
    ),
)  # fmt: skip
"""What to do about facts that are not known: `unknown` and `assume_facts`; `decisions` reads them."""

TIMEOUT = option(
    "--timeout", type=seconds, metavar="TIME",
    help="stop waiting after this time (90, 90s, 30m or 2h): the exit code is 12, and the run goes on",
)  # fmt: skip
"""For how many seconds to wait: `timeout` (None: to the end)."""

WAIT = (
    one_of(
        option("--wait", action="store_true", default=None, help="follow the run to its end (default on a terminal)"),
        option("--no-wait", action="store_false", dest="wait", help="return as soon as it has started"),
    ),
    TIMEOUT,
    option("--format", choices=("json", "yaml"), help="print a document instead of a sentence"),
)
"""Whether to wait for the end and for how long, and what to print: `wait` (None: on a terminal, or with a `timeout`),
`timeout` and `format`."""

NO_CHECK = option(
    "--no-check", action="store_false", dest="check",
    help="do not examine the nodes that are reached over SSH before the run (see 'node check')",
)  # fmt: skip

TRACE = flag("--trace", help="ask tasks for verbose output")


def run_options(*, force: Sequence[str] = (), dry_run: Sequence[str] = ()) -> Arguments:
    """Return how to run: `force`, `trace`, `dry_run`, `noop`, `check`, and what `WAY`, `UNKNOWN` and `WAIT` add.
    --force and --dry-run have further, short names in some commands."""
    return (
        flag(*force, "--force", help="run as if nothing had run before: all facts count as changed"),
        TRACE,
        one_of(
            flag(*dry_run, "--dry-run", help="print what would run, and start nothing"),
            flag("--noop", help="let tasks report what they would change, and change nothing"),
        ),
        NO_CHECK,
        *WAY,
        *UNKNOWN,
        *WAIT,
    )


def decisions(command: Command, parsed_args: argparse.Namespace) -> dict[str, Any]:
    """Return the fields of a `RunRequest` that the options of `UNKNOWN` set."""
    from fuelclient.model.fact import NO_FACTS, DeploymentFacts
    from fuelclient.serializers.fact import assumed_from

    path = parsed_args.assume_facts
    assumed = NO_FACTS
    if path and os.path.isdir(path):
        from fuelclient.commands.env.fact_files import COMMON_FILE, read_parts

        parts = read_parts(command.load, path)
        assumed = DeploymentFacts(parts.pop(COMMON_FILE, {}), parts)
    elif path:
        assumed = assumed_from(command.load(path))
    return {"unknown": parsed_args.unknown, "assumed": assumed}


class Starter(Command):
    """A command that starts or resumes a run. If it waits for the end, its exit code is that of the run."""

    reads_once = True

    def run(self, parsed_args: argparse.Namespace) -> int:
        self._exit = Exit.OK
        if parsed_args.timeout is not None and parsed_args.wait is False:
            raise UsageError("--timeout limits the wait that --no-wait turns off.", hint="Leave one of them out.")
        super().run(parsed_args)
        return self._exit

    def execute(
        self,
        request: RunRequest,
        parsed_args: argparse.Namespace,
        sentence: str = STARTED,
        action: Action | None = None,
    ) -> None:
        """Start `request`, or the master's own `action` on its nodes, and print `sentence`; for a dry run print what
        would run instead."""
        request = replace(request, **decisions(self, parsed_args))
        if request.dry_run:
            from fuelclient.commands.task.dry_run import dry_run

            self._exit = dry_run(self, request, parsed_args, action)
            return
        runs = self.writable().runs
        begun = runs.begin(request, check=parsed_args.check) if action is None else runs.act(action, request)
        report(dict.fromkeys(finding for child in begun.children for finding in child.findings))
        self.started(begun, sentence.format(begun), parsed_args)

    def started(self, begun: Run, sentence: str, parsed_args: argparse.Namespace) -> None:
        """Print `sentence`, or the run as a document; wait for its end if that is wanted, before the document."""
        limited = parsed_args.timeout is not None
        waits = self.app.stdout.isatty() or limited if parsed_args.wait is None else parsed_args.wait
        if not parsed_args.format:
            self._put(begun, f"{sentence}\n")
        if waits:
            from fuelclient.commands.task.follow import follow

            self._exit = follow(self.backend, begun.id, self.app.stderr, timeout=parsed_args.timeout) or self._exit
        if parsed_args.format:
            run = self.backend.runs.get(begun.id) if waits else begun
            self._put(begun, self.dumped(document(run), parsed_args.format))

    def _put(self, begun: Run, text: str) -> None:
        """Print `text` about a run that has begun. If stdout cannot be written, say so with the run's id, because the
        run goes on; the exit code is then 1 or that of the run."""
        try:
            self.app.stdout.write(text)
            self.app.stdout.flush()
        except OSError as error:
            LOG.error(
                "stdout cannot be written: %s. Run %d was started all the same; "
                "`fuel2 task watch %d` follows it.", error.strerror, begun.id, begun.id,
            )  # fmt: skip
            if isinstance(error, BrokenPipeError):
                raise
            self._exit = self._exit or Exit.UNEXPECTED

    def dumped(self, data: Any, form: str) -> str:
        """Return data as a document in the format `form`, for stdout."""
        from fuelclient import files

        return files.dumps(data, form, encoding=encoding_of(self.app.stdout))
