"""History: executions, the last one first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from fuelclient.model.run import Run
from fuelclient.tui.glyphs import Glyphs
from fuelclient.tui.presenters.run import manner, run_status
from fuelclient.tui.presenters.table import Cell, Column, Table, Tone, Value
from fuelclient.tui.presenters.words import length, moment, names, sentence
from fuelclient.tui.watched import between

_ID = Column("id", "run", least=3, right=True)
_ENV = Column("env", "environment", least=5, most=24)
_COLUMNS = (
    Column("status", "status", least=13, most=14),
    Column("graphs", "graphs", least=7, most=24),
    Column("began", "began (UTC)", least=19, most=19, rank=1),
    Column("took", "took", least=7, most=8, right=True, rank=2),
    Column("manner", "manner", least=14, most=16, rank=4),
    Column("message", "message", least=30, most=120, grows=True, rank=3),
)


def table(runs: Sequence[Run], env: int, names_of: Mapping[int, str], now: datetime, glyphs: Glyphs) -> Table:
    """One row for each run; of all environments (0) each says of which."""
    every = not env
    rows: list[tuple[Value, ...]] = []
    for found in runs:
        took = between(found.time_start, found.time_end, now)
        graphs = found.request.graph_types
        rows.append(
            (
                str(found.id),
                *([f"{found.cluster_id} {names_of.get(found.cluster_id, '')}".strip()] if every else []),
                run_status(found, glyphs),
                names(graphs),
                moment(found.time_start),
                "" if took is None else length(took),
                manner(found),
                Cell(sentence(found.message), Tone.DIM),
            )
        )
    columns = (_ID, *([_ENV] if every else []), *_COLUMNS)
    return Table(columns, rows, [str(found.id) for found in runs], _empty(env))


def _empty(env: int) -> tuple[str, ...]:
    if not env:
        return ("Nothing was ever executed.", "", "fuel2 graph execute --env ID", "or A and e on an environment.")
    return (
        f"Nothing was executed on environment {env} yet.",
        "",
        "A arms the UI, then e executes a graph.",
        f"fuel2 graph execute --env {env} --dry-run   shows what would run",
        f"fuel2 graph execute --env {env}             runs it",
    )


def last(runs: Sequence[Run], env: int, glyphs: Glyphs) -> Cell:
    """The last run of an environment in a cell: its id and how it stands."""
    found = next((one for one in runs if one.cluster_id == env), None)
    if found is None:
        return Cell("never", Tone.DIM)
    told = run_status(found, glyphs)
    share = f" {found.progress} %" if not found.is_final else ""
    return Cell(f"{found.id} {told}{share}", told.tone)


NOTHING = Table((_ID,), empty=("",))
"""What stands beside the runs where there is none."""
