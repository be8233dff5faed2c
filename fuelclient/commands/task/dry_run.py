"""Dry runs: what would run, as it is computed here and, on a Fuel master, as the master decides."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from fuelclient.commands.base import report
from fuelclient.commands.columns import finding_fields
from fuelclient.commands.exits import Exit
from fuelclient.commands.formatters import Table
from fuelclient.commands.shell import LOG, count
from fuelclient.commands.task.rows import node
from fuelclient.support import supports

if TYPE_CHECKING:
    from fuelclient.commands.task.start import Starter
    from fuelclient.model.run import Action, DryGraph, PlannedGraph, RunRequest

_NAMED = 5
"""How many instances a warning names."""


def dry_run(command: Starter, request: RunRequest, parsed_args: argparse.Namespace, action: Action | None) -> Exit:
    """Print what would run, and return the exit code."""
    from fuelclient.backends import dry_runs

    assume = getattr(parsed_args, "assume", None) or ""  # only `graph execute` has it
    asks = supports(command.backend.runs.act) and not assume
    found = dry_runs.dry_run(
        command.writable() if asks else command.backend, request, action=action, timeout=parsed_args.timeout,
        begun=lambda run: LOG.info("Asking the master: its dry run is task %d.", run.id), assume=assume,
    )  # fmt: skip
    for assumption in dict.fromkeys(graph.plan.assumption for graph in found.graphs if graph.plan):
        if assumption:
            LOG.info("%s", assumption)
    ended = found.run
    if ended is not None and not ended.is_final:
        LOG.error("Dry run %d has not ended within the time of --timeout.", ended.id)
        return Exit.TIMED_OUT
    _show(command, found.graphs, parsed_args, with_master=asks)
    if ended is not None and ended.status != "ready":
        LOG.error("The dry run on the master ended: %s. %s", ended.status, ended.message)
        return Exit.FAILED
    return Exit.OK


def _show(command: Starter, graphs: Sequence[DryGraph], parsed_args: argparse.Namespace, *, with_master: bool) -> None:
    """Print graphs as a table or as a document."""
    for graph in graphs:
        if graph.plan is not None:
            report(graph.plan.findings)
            _narrate(graph.plan)
        elif graph.problem:
            LOG.warning("Graph %s: no plan was computed here: %s", graph.graph_type, graph.problem)
            report(graph.findings)
        if with_master:
            _narrate_master(graph)
    if graphs and all(graph.plan is not None and graph.plan.is_left_out for graph in graphs):
        LOG.warning("The selection leaves nothing to run: executing it would be an error.")
    if parsed_args.format:
        documents = [_document(graph, with_master=with_master) for graph in graphs]
        command.app.stdout.write(command.dumped(documents, parsed_args.format))
        return
    columns = ("graph_type", "task", "node", "action", *(("master",) if with_master else ()))
    rows = [row[: len(columns)] for graph in graphs for row in _rows(graph)]
    shown = argparse.Namespace(print_empty=True, max_width=0, fit_width=False)
    Table().emit_list(columns, rows, command.app.stdout, shown)


def _rows(graph: DryGraph) -> Iterator[tuple[Any, ...]]:
    """Yield a row for each instance of the plan, then for each that only the master has."""
    for instance in graph.plan.instances if graph.plan else ():
        decided = graph.decided.get((instance.task, instance.node))
        yield graph.graph_type, instance.task, node(instance.node), instance.action, _word(decided)
    for (task, uid), runs in graph.only_decided.items():
        yield graph.graph_type, task, node(uid), "", _word(runs)


def _word(runs: bool | None) -> str:
    return "" if runs is None else "run" if runs else "skip"


def _narrate(plan: PlannedGraph) -> None:
    """Print on stderr what the rows of a plan do not say."""
    running = sum(instance.runs for instance in plan.instances)
    unknown = [instance.unknown for instance in plan.instances if instance.unknown]
    LOG.info(
        "Graph %s: %s would run, %d would be skipped%s, on %s in %s.%s", plan.graph_type,
        count(running, "task instance"), len(plan.instances) - running - len(unknown),
        f", {len(unknown)} are unknown" if unknown else "", count(len(plan.nodes), "node"),
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


def _narrate_master(graph: DryGraph) -> None:
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
    names = graph.disagreements
    if names:
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        LOG.warning(
            "The master decides differently about %s: %s%s. The column master says how.",
            count(len(names), "task instance"), ", ".join(names[:_NAMED]), more,
        )  # fmt: skip
    else:
        LOG.info("The master and the plan that was computed here agree.")


def _document(graph: DryGraph, *, with_master: bool) -> dict[str, Any]:
    """Return a graph for programs; with the master, `master` has its decision on each instance, or null."""
    plan = graph.plan
    told: dict[str, Any] = {"graph_type": graph.graph_type}
    if plan is not None:
        told = _plan(plan)
        if with_master:
            for record, instance in zip(told["instances"], plan.instances, strict=True):
                record["master"] = graph.decided.get((instance.task, instance.node))
    if with_master:
        told["only_on_master"] = [
            {"task": task, "node": node(uid), "runs": runs} for (task, uid), runs in graph.only_decided.items()
        ]
    return told


def _plan(plan: PlannedGraph) -> dict[str, Any]:
    return {
        "graph_type": plan.graph_type, "nodes": list(plan.nodes), "generations": plan.generations,
        "digest": plan.digest, "after_earlier": plan.after_earlier,
        "instances": [
            {
                "task": instance.task, "node": node(instance.node), "type": instance.type, "layer": instance.layer,
                "generation": instance.generation, "runs": instance.runs, "reason": instance.reason,
                "detail": instance.detail, "unknown": instance.unknown,
            }
            for instance in plan.instances
        ],
        "findings": list(map(finding_fields, plan.findings)),
    }  # fmt: skip
