"""Start a run, or show what would run: the options that all such commands share, and the wait for the end.

A dry run shows what is computed here and, on a Fuel master, what the master decides.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from fuelclient.commands.arguments import REACH_OPTIONS, Arguments, flag, one_of, option, seconds
from fuelclient.commands.base import STRUCTURED, Command, report
from fuelclient.commands.exits import Exit
from fuelclient.commands.fitting import fitted_message
from fuelclient.commands.formatters import Names, Table, finding_fields, plain, some
from fuelclient.commands.graph.question import JSONL
from fuelclient.commands.shell import LOG, count
from fuelclient.commands.task.history import SYNC_POINTS, node
from fuelclient.errors import UsageError
from fuelclient.grouping import grouped
from fuelclient.support import supports

if TYPE_CHECKING:
    from fuelclient.model.run import Action, DryGraph, PlannedGraph, Run, RunRequest

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
"""How long to wait: `timeout` in seconds (None: to the end)."""

_FOLLOWING = (
    one_of(
        option("--wait", action="store_true", default=None, help="follow the run to its end (default on a terminal)"),
        option("--no-wait", action="store_false", dest="wait", help="return as soon as it has started"),
    ),
    TIMEOUT,
)
_form = partial(
    option, choices=(*STRUCTURED, JSONL),
    help="print a document instead of a sentence; jsonl waits, and prints an object a line as 'task watch' does",
)  # fmt: skip
WAIT = (*_FOLLOWING, _form("-f", "--format"))
"""Whether to wait for the end and for how long, and what to print: `wait` (None: on a terminal, or with a `timeout`),
`timeout` and `format`."""

NO_CHECK = option(
    "--no-check", action="store_false", dest="check",
    help="do not examine the nodes that are reached over SSH before the run (see 'node check')",
)  # fmt: skip

TRACE = flag("--trace", help="ask tasks for verbose output")


_FORCE = "run as if nothing had run before: all facts count as changed"


def run_options(*, force: Sequence[str] = (), force_help: str = _FORCE, dry_run: Sequence[str] = ()) -> Arguments:
    """The options of a run: `trace`, `noop`, `check`, those of `REACH_OPTIONS`, `UNKNOWN` and `WAIT`, and `force` and
    `dry_run`, which have further, short names in some commands."""
    return (
        flag(*force, "--force", help=force_help),
        TRACE,
        one_of(
            flag(*dry_run, "--dry-run", help="print what would run, and start nothing"),
            flag("--noop", help="let tasks report what they would change, and change nothing"),
        ),
        NO_CHECK,
        *REACH_OPTIONS,
        *UNKNOWN,
        *_FOLLOWING,
        _form(*(() if "-f" in force else ("-f",)), "--format"),
    )


def decisions(command: Command, parsed_args: argparse.Namespace) -> dict[str, Any]:
    """The fields of a `RunRequest` that the options of `UNKNOWN` set."""
    from fuelclient.model.fact import NO_FACTS, DeploymentFacts
    from fuelclient.serializers.fact import assumed_from

    path = parsed_args.assume_facts
    assumed = NO_FACTS
    if path and os.path.isdir(path):
        from fuelclient.commands.env.facts import COMMON_FILE, read_parts

        parts = read_parts(command.load, path)
        assumed = DeploymentFacts(parts.pop(COMMON_FILE, {}), parts)
    elif path:
        assumed = assumed_from(command.load(path))
    return {"unknown": parsed_args.unknown, "assumed": assumed}


def document(run: Run) -> dict[str, Any]:
    """A run and its children, in the form of a master's answer."""
    return {
        "id": run.id, "cluster": run.cluster_id or None, "uuid": run.uuid, "name": run.name,
        "status": str(run.status), "progress": run.progress, "message": run.message,
        "result": plain(run.result), "dry_run": run.dry_run, "graph_type": run.graph_type,
        "parent_id": run.parent_id, "time_start": run.time_start, "time_end": run.time_end,
        "children": [document(child) for child in run.children],
    }  # fmt: skip


class Starter(Command):
    """A command that starts or resumes a run. If it waits for the end, its exit code is that of the run."""

    reads_once = True

    def question_for(self, request: RunRequest) -> str:  # noqa: ARG002 (for subclasses)
        """What to ask on a terminal before `request` begins; empty if nothing is asked, or was asked already."""
        return ""

    def run(self, parsed_args: argparse.Namespace) -> int:
        if parsed_args.timeout is not None and parsed_args.wait is False:
            raise UsageError("--timeout limits the wait that --no-wait turns off.", hint="Leave one of them out.")
        if parsed_args.format == JSONL and (parsed_args.wait is False or getattr(parsed_args, "dry_run", False)):
            hint = "Use --format json, or leave out --no-wait and --dry-run."
            raise UsageError("--format jsonl prints the progress of a run, which is waited for.", hint=hint)
        return super().run(parsed_args)

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
            self.exit_code = dry_run(self, request, parsed_args, action)
            return
        if not request.noop and "yes" in parsed_args:
            self.ask(parsed_args, lambda: self.question_for(request))
        runs = self.writable().runs
        begun = runs.begin(request, check=parsed_args.check) if action is None else runs.act(action, request)
        report(dict.fromkeys(finding for child in begun.children for finding in child.findings))
        self.report_started(begun, sentence.format(begun), parsed_args)

    def report_started(self, begun: Run, sentence: str, parsed_args: argparse.Namespace) -> None:
        """Print `sentence`, or the run as a document; wait for its end if requested, before the document."""
        lines = self.app.stdout if parsed_args.format == JSONL else None
        is_asked = parsed_args.timeout is not None or lines is not None
        is_waiting = self.app.stdout.isatty() or is_asked if parsed_args.wait is None else parsed_args.wait
        if not parsed_args.format:
            self._put(begun, f"{fitted_message(sentence, self.app.stdout)}\n")
        if is_waiting:
            from fuelclient.commands.task.follow import follow

            with self._telling_of(begun, was_told=True) if lines else nullcontext():
                code = follow(self.backend, begun.id, self.app.stderr, timeout=parsed_args.timeout, json_to=lines)
                self.exit_code = code or self.exit_code
        if parsed_args.format in STRUCTURED:
            run = self.backend.runs.get(begun.id) if is_waiting else begun
            self._put(begun, self.dumps(document(run), parsed_args.format))

    def _put(self, begun: Run, text: str) -> None:
        with self._telling_of(begun):
            self.app.stdout.write(text)
            self.app.stdout.flush()

    @contextmanager
    def _telling_of(self, begun: Run, *, was_told: bool = False) -> Iterator[None]:
        """Tell of a run that has begun. If stdout cannot be written, say so with the run's id, because the run goes on;
        the exit code is then 1 or that of the run. A reader that `was_told` of the run may close the pipe."""
        try:
            yield
        except OSError as error:
            if was_told and isinstance(error, BrokenPipeError):
                raise
            LOG.error(
                "Cannot write to stdout: %s. Run %d was started all the same; "
                "`fuel2 task watch %d` follows it.", error.strerror, begun.id, begun.id,
            )  # fmt: skip
            if isinstance(error, BrokenPipeError):
                raise
            self.exit_code = self.exit_code or Exit.UNEXPECTED


def dry_run(command: Starter, request: RunRequest, parsed_args: argparse.Namespace, action: Action | None) -> Exit:
    """Print what would run, and return the exit code."""
    from fuelclient.backends import plans

    assume = getattr(parsed_args, "assume", None) or ""  # only `graph execute` has it
    asks_master = supports(command.backend.runs.act) and not assume
    result = plans.dry_run(
        command.writable() if asks_master else command.backend, request, action=action, timeout=parsed_args.timeout,
        begun=lambda run: LOG.info("Asking the master: its dry run is task %d.", run.id), assume=assume,
    )  # fmt: skip
    for assumption in dict.fromkeys(graph.plan.assumption for graph in result.graphs if graph.plan):
        if assumption:
            LOG.info("%s", assumption)
    run = result.run
    if run is not None and not run.is_final:
        LOG.error("Dry run %d has not ended within the time of --timeout.", run.id)
        return Exit.TIMED_OUT
    _show(command, result.graphs, parsed_args, with_master=asks_master)
    if run is not None and run.status != "ready":
        LOG.error("The dry run on the master ended: %s. %s", run.status, run.message)
        return Exit.FAILED
    return Exit.OK


def _show(command: Starter, graphs: Sequence[DryGraph], parsed_args: argparse.Namespace, *, with_master: bool) -> None:
    for graph in graphs:
        if graph.plan is not None:
            report(graph.plan.findings)
            _log_summary(graph.plan)
        elif graph.problem:
            LOG.warning("Graph %s: no plan was computed here: %s", graph.graph_type, graph.problem)
            report(graph.findings)
        if with_master:
            _log_master_summary(graph)
    if graphs and all(graph.plan is not None and graph.plan.is_left_out for graph in graphs):
        LOG.warning("The selection leaves nothing to run: executing it would be an error.")
    if parsed_args.format:
        documents = [_document(graph, with_master=with_master) for graph in graphs]
        command.app.stdout.write(command.dumps(documents, parsed_args.format))
        return
    rows = [row if with_master else row[:-1] for graph in graphs for row in _rows(graph)]
    emit_instances(command, rows, command.node_name, *["master"] * with_master)


def emit_instances(command: Command, rows: Sequence[Any], name: Callable[[str], str] = str, *more: str) -> None:
    """Print the rows of task instances as a table. A terminal gets a row for each task that would run, with its nodes
    by what `name` makes of their ids. `more` are the columns after the action."""
    if is_grouped := command.app.stdout.isatty():
        skips = grouped((row[3].startswith("skip") and "run" not in row[4:], row) for row in rows)
        reasons = Counter(row[3].removeprefix("skip").strip(" ()").partition(":")[0] for row in skips.get(True, ()))
        if reasons:  # the others may run
            counted = ", ".join(f"{number} {reason}" for reason, number in reasons.most_common())
            LOG.info("Not listed, because they would be skipped: %s. --format json has everything.", counted)
        groups = grouped(((row[:2], row[3:]), str(row[2])) for row in skips.get(False, ()) if row[2] != SYNC_POINTS)
        by_id = ((row, sorted(nodes, key=lambda node: (len(node), node))) for row, nodes in groups.items())
        rows = [(*head, Names(list(map(name, nodes))), *tail) for (head, tail), nodes in by_id]
    options = {"print_empty": True, "max_width": 0, "fit_width": False, "columns": [], "sort_columns": [], "named": str}
    table_options = argparse.Namespace(**options, by_weight=("task", "nodes", "action"))
    columns = ("graph_type", "task", "node" + "s" * is_grouped, "action", *more)
    Table().emit_list(columns, rows, command.app.stdout, table_options)


def _rows(graph: DryGraph) -> Iterator[tuple[Any, ...]]:
    """Yield a row for each instance of the plan, then for each that only the master has."""
    for instance in graph.plan.instances if graph.plan else ():
        decided = graph.decided.get((instance.task, instance.node))
        yield graph.graph_type, instance.task, node(instance.node), instance.action, _action_word(decided)
    for (task, uid), runs in graph.only_decided.items():
        yield graph.graph_type, task, node(uid), "", _action_word(runs)


def _action_word(runs: bool | None) -> str:
    return "" if runs is None else "run" if runs else "skip"


def _log_summary(plan: PlannedGraph) -> None:
    running = sum(instance.runs for instance in plan.instances)
    unknown = [instance.unknown for instance in plan.instances if instance.unknown]
    LOG.info(
        "Graph %s: %s would run, %d would be skipped%s, on %s in %s.%s", plan.graph_type,
        count(running, "task instance"), len(plan.instances) - running - len(unknown),
        f", {len(unknown)} unknown" if unknown else "", count(len(plan.nodes), "node"),
        count(plan.generations, "generation"),
        " Graphs before it may still change this." if plan.after_earlier else "",
    )  # fmt: skip
    report_unknown(unknown)


def report_unknown(paths: Sequence[str]) -> None:
    """Print on stderr which facts are not known, and how many instances depend on each."""
    for path, times in sorted(Counter(paths).items()):
        LOG.warning("Unknown: %s (%s).", path, count(times, "task instance"))
    if paths:
        LOG.warning("To execute this, give values (--assume-facts FILE) or decide (--unknown run or --unknown skip).")


def _log_master_summary(graph: DryGraph) -> None:
    """Print on stderr how many instances the master would run, and where that differs from the plan."""
    if not graph.decided:
        LOG.warning("Graph %s: the master does not say what it would run.", graph.graph_type)
        return
    running = sum(graph.decided.values())
    LOG.info(
        "Graph %s on the master: %s would run, %d would be skipped.", graph.graph_type,
        count(running, "task instance"), len(graph.decided) - running,
    )  # fmt: skip
    if graph.plan is None:
        return
    if names := graph.disagreements:
        LOG.warning(
            "The master decides differently about %s: %s. The column master says how.",
            count(len(names), "task instance"), some(names, 5),
        )  # fmt: skip
    else:
        LOG.info("The master and the plan that was computed here agree.")


def _document(graph: DryGraph, *, with_master: bool) -> dict[str, Any]:
    """A graph for programs; `with_master` adds the master's decision on each instance, or null."""
    plan = graph.plan
    fields: dict[str, Any] = {"graph_type": graph.graph_type}
    if plan is not None:
        instances = [asdict(instance) for instance in plan.instances]
        if with_master:
            for record, instance in zip(instances, plan.instances, strict=True):
                record["master"] = graph.decided.get((instance.task, instance.node))
        fields |= {
            "nodes": list(plan.nodes), "generations": plan.generations, "digest": plan.digest,
            "after_earlier": plan.after_earlier, "instances": instances,
            "findings": list(map(finding_fields, plan.findings)),
        }  # fmt: skip
    if with_master:
        fields["only_on_master"] = [
            {"task": task, "node": uid, "runs": runs} for (task, uid), runs in graph.only_decided.items()
        ]
    return fields
