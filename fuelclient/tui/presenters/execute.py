"""Execute: the request that the form of the dialog makes, and the plan of a dry run."""

from __future__ import annotations

from collections.abc import Sequence

from fuelclient.model.graph import DEFAULT_TYPE
from fuelclient.model.run import PlannedGraph, RunRequest, instance_name
from fuelclient.tui.glyphs import Glyphs
from fuelclient.tui.presenters.formatting import count
from fuelclient.tui.presenters.table import Cell, Column, Table, Tone

MANNERS = ("run", "noop", "dry run")
"""How to execute: really, with tasks that only say what they would change, or only as a plan."""

FORCES = ("skip what has not changed", "run everything again")

_PLANNED = (
    Column("action", "what would happen", least=6, most=40, rank=1),
    Column("task", "task", least=14, most=44, grows=True),
    Column("node", "node", least=4, most=12),
    Column("type", "graph", least=6, most=20, rank=2),
)


def request(env: int, types: str, nodes: str, tasks: str, manner: int, force: bool) -> RunRequest | str:
    """Return the request of a form, or what is wrong with it.

    >>> request(1, "", "2 x", "", 0, False)
    "Nodes are ids, as in 1 2 5: 'x' is not one."
    >>> request(1, "default, upgrade", "2,3", "", 1, False).graph_types
    ('default', 'upgrade')
    """
    ids = []
    for word in _words(nodes):
        if not (word.isascii() and word.isdecimal()):
            return f"Nodes are ids, as in 1 2 5: {word!r} is not one."
        ids.append(int(word))
    return RunRequest(
        env,
        _words(types) or (DEFAULT_TYPE,),
        tuple(ids),
        _words(tasks),
        force=force,
        noop=MANNERS[manner] == "noop",
        dry_run=MANNERS[manner] == "dry run",
    )


def word_for(env: int, name: str) -> str:
    """Return what to type before something is done to an environment: its name, or its id if that cannot be typed.

    >>> word_for(3, " lead "), word_for(3, "zero\\u200bwidth"), word_for(3, " "), word_for(3, "")
    ('lead', '3', '3', '3')
    """
    return " ".join(name.split()) if name.isprintable() and name.strip() else str(env)


def _words(text: str) -> tuple[str, ...]:
    """Return the words between blanks or commas, each once."""
    return tuple(dict.fromkeys(text.replace(",", " ").split()))


def summary(plans: Sequence[PlannedGraph]) -> str:
    """Say how much would run."""
    running = sum(instance.runs for plan in plans for instance in plan.instances)
    total = sum(len(plan.instances) for plan in plans)
    return f"{count(running, 'task instance')} would run, {total - running} would be skipped"


def planned(plans: Sequence[PlannedGraph], glyphs: Glyphs) -> Table:
    """Return one row for each task instance, in execution order."""
    instances = [(plan.graph_type, instance) for plan in plans for instance in plan.instances]
    rows = [
        (
            Cell(f"{glyphs.running if instance.runs else glyphs.skipped} {instance.action}",
                 Tone.ACCENT if instance.runs else Tone.DIM),
            instance.task,
            "sync point" if instance.node is None else str(instance.node),
            graph_type,
        )
        for graph_type, instance in instances
    ]  # fmt: skip
    ids = [instance_name(instance.task, instance.node) for _, instance in instances]
    return Table(_PLANNED, rows, ids, ("The graph has no task for any node: executing it would be an error.",))
