"""Acting: what a form asks for, and what a dry run found."""

from __future__ import annotations

from collections.abc import Sequence

from fuelclient.model.graph import DEFAULT_TYPE
from fuelclient.model.run import PlannedGraph, RunRequest
from fuelclient.tui.glyphs import Glyphs
from fuelclient.tui.presenters.table import Cell, Column, Table, Tone
from fuelclient.tui.presenters.words import count

MANNERS = ("run", "noop", "dry run")
"""How to execute: really, with tasks that only tell what they would change, or not at all."""

FORCES = ("skip what has not changed", "run everything again")

_PLANNED = (
    Column("action", "what would happen", least=6, most=40, rank=1),
    Column("task", "task", least=14, most=44, grows=True),
    Column("node", "node", least=4, most=12),
    Column("type", "graph", least=6, most=20, rank=2),
)


def request(env: int, types: str, nodes: str, tasks: str, manner: int, force: bool) -> RunRequest | str:
    """The request of a form, or what is wrong with it.

    >>> request(1, "", "2 x", "", 0, False)
    "Nodes are ids, as in 1 2 5: 'x' is none."
    >>> request(1, "default, upgrade", "2,3", "", 1, False).graph_types
    ('default', 'upgrade')
    """
    ids = []
    for word in _words(nodes):
        if not (word.isascii() and word.isdecimal()):
            return f"Nodes are ids, as in 1 2 5: {word!r} is none."
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
    """What to type before something is done to an environment: its name, or its id where nobody could type that.

    >>> word_for(3, " lead "), word_for(3, "zero\\u200bwidth"), word_for(3, " "), word_for(3, "")
    ('lead', '3', '3', '3')
    """
    return " ".join(name.split()) if name.isprintable() and name.strip() else str(env)


def _words(text: str) -> tuple[str, ...]:
    """Words between blanks or commas, each once."""
    return tuple(dict.fromkeys(text.replace(",", " ").split()))


def summary(plans: Sequence[PlannedGraph]) -> str:
    """How much would run."""
    running = sum(one.runs for plan in plans for one in plan.instances)
    every = sum(len(plan.instances) for plan in plans)
    return f"{count(running, 'task instance')} would run, {every - running} would be skipped"


def planned(plans: Sequence[PlannedGraph], glyphs: Glyphs) -> Table:
    """One row for each task instance, in execution order."""
    rows = []
    ids = []
    for plan in plans:
        for one in plan.instances:
            why = ": ".join(filter(None, (one.reason, one.detail)))
            told = Cell(f"{glyphs.running} run", Tone.ACCENT) if one.runs else Cell(
                f"{glyphs.skipped} skip{f' ({why})' if why else ''}", Tone.DIM)  # fmt: skip
            node = "sync point" if one.node is None else str(one.node)
            rows.append((told, one.task, node, plan.graph_type))
            ids.append(one.task if one.node is None else f"{one.task}/{one.node}")
    return Table(_PLANNED, rows, ids, ("The graph places nothing: to execute it would be an error.",))
