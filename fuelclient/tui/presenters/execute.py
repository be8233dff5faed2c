"""Build the request from the form of the dialog `execute`, and show the plan of a dry run."""

from __future__ import annotations

from collections.abc import Sequence

from fuelclient.model.graph import DEFAULT_TYPE
from fuelclient.model.run import DryGraph, RunRequest, instance_name
from fuelclient.tui.glyphs import Glyphs
from fuelclient.tui.presenters.formatting import count
from fuelclient.tui.presenters.table import Cell, Column, Table, Tone

MANNERS = ("run", "noop", "dry run")
"""The kinds of execution: normal, with tasks that only report what they would change, or only a plan."""

FORCES = ("skip what has not changed", "run everything again")

CHECKS = ("check before the run", "do not check")
"""Whether nodes that are reached over SSH are examined before a run begins."""

_PLANNED = (
    Column("action", "what would happen", least=6, most=40, rank=1),
    Column("task", "task", least=14, most=44, grows=True),
    Column("node", "node", least=4, most=12),
    Column("type", "graph", least=6, most=20, rank=2),
)

_MASTER = Column("master", "master", least=6, most=8)
"""What a Fuel master decides, in another colour if it differs from the plan."""

_DECISIONS = {None: "", True: "run", False: "skip"}


def request(env: int, types: str, nodes: str, tasks: str, manner: int, force: bool) -> RunRequest | str:
    """The request that the fields of the form describe, or an error message about them.

    >>> request(1, "", "2 x", "", 0, False)
    "Nodes are ids, as in 1 2 5: 'x' is not one."
    >>> request(1, "default, upgrade", "2,3", "", 1, False).graph_types
    ('default', 'upgrade')
    """
    for word in _words(nodes):
        if not (word.isascii() and word.isdecimal()):
            return f"Nodes are ids, as in 1 2 5: {word!r} is not one."
    return RunRequest(
        env,
        _words(types) or (DEFAULT_TYPE,),
        tuple(map(int, _words(nodes))),
        _words(tasks),
        force=force,
        noop=MANNERS[manner] == "noop",
        dry_run=MANNERS[manner] == "dry run",
    )


def not_assumed(wanted: RunRequest) -> str:
    """Why a request cannot be planned on assumed nodes; empty if it can.

    >>> not_assumed(RunRequest(1, dry_run=True)), not_assumed(RunRequest(1))
    ('', 'Nodes can be assumed only for a dry run.')
    """
    if not wanted.dry_run:
        return "Nodes can be assumed only for a dry run."
    return "Name nodes of the environment, or assume others: not both." if wanted.node_ids else ""


def word_for(env: int, name: str) -> str:
    """The text that confirms a change of an environment: its name, or its id if the name cannot be typed.

    >>> word_for(3, " lead "), word_for(3, "zero\\u200bwidth"), word_for(3, " "), word_for(3, "")
    ('lead', '3', '3', '3')
    """
    return " ".join(name.split()) if name.isprintable() and name.strip() else str(env)


def _words(text: str) -> tuple[str, ...]:
    """The words between blanks or commas, without duplicates."""
    return tuple(dict.fromkeys(text.replace(",", " ").split()))


def summary(graphs: Sequence[DryGraph], *, with_master: bool) -> str:
    """The number of instances that would run and, with a Fuel master, of those for which it decides differently."""
    plans = [graph.plan for graph in graphs if graph.plan is not None]
    running = sum(instance.runs for plan in plans for instance in plan.instances)
    total = sum(len(plan.instances) for plan in plans)
    assumed = " on assumed nodes" if any(plan.assumption for plan in plans) else ""
    text = f"{count(running, 'task instance')} would run{assumed}, {total - running} would be skipped"
    if not with_master:
        return text
    decided = sum(sum(graph.decided.values()) for graph in graphs)
    differing = sum(len(graph.disagreements) for graph in graphs)
    silent = [graph.graph_type for graph in graphs if not graph.decided]
    unplanned = [f"no plan of {graph.graph_type}: {graph.problem}" for graph in graphs if graph.plan is None]
    parts = [f"master: {decided} would run", f"{differing} differ", *(f"{name} not decided" for name in silent)]
    return f"{text}; {', '.join((*parts, *unplanned))}"


def planned(graphs: Sequence[DryGraph], glyphs: Glyphs, *, with_master: bool) -> Table:
    """One row for each task instance: those of the plan in execution order, then those that only the master has."""
    rows: list[tuple[Cell | str, ...]] = []
    ids: list[str] = []
    for graph in graphs:
        differing = set(graph.disagreements)
        instances = graph.plan.instances if graph.plan else ()
        shown = [(instance.task, instance.node, instance.runs, instance.action) for instance in instances]
        shown += [(task, node, runs, "") for (task, node), runs in graph.only_decided.items()]
        for task, node, runs, action in shown:
            sign = f"{glyphs.running if runs else glyphs.skipped} {action}" if action else ""
            where = "sync point" if node is None else str(node)
            name = instance_name(task, node)
            decided = _DECISIONS[graph.decided.get((task, node))]
            master = [Cell(decided, Tone.WARN if name in differing else Tone.DIM)] if with_master else []
            rows.append((Cell(sign, Tone.ACCENT if runs else Tone.DIM), *master, task, where, graph.graph_type))
            ids.append(name)
    columns = (_PLANNED[0], *(_MASTER,) * with_master, *_PLANNED[1:])
    return Table(columns, rows, ids, ("The graph has no task for any node: executing it would be an error.",))
