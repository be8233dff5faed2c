"""History: the runs of an environment, or of all, the last one first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from fuelclient.insight.progress import duration, elapsed
from fuelclient.model.run import Run
from fuelclient.printing import plain_line
from fuelclient.tui.glyphs import Glyphs
from fuelclient.tui.presenters.formatting import names, time_text
from fuelclient.tui.presenters.run import manner, run_status
from fuelclient.tui.presenters.table import Cell, Column, Table, Tone, Value

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
    """Return one row for each run; those of all environments (0) say of which."""
    rows: list[tuple[Value, ...]] = []
    for run in runs:
        took = elapsed(run.time_start, run.time_end, now)
        rows.append(
            (
                str(run.id),
                *([] if env else [f"{run.cluster_id or 'deleted'} {names_of.get(run.cluster_id, '')}".strip()]),
                run_status(run, glyphs),
                names(run.request.graph_types),
                time_text(run.time_start),
                "" if took is None else duration(took),
                manner(run),
                Cell(plain_line(run.message), Tone.DIM),
            )
        )
    columns = (_ID, *([] if env else [_ENV]), *_COLUMNS)
    return Table(columns, rows, [str(run.id) for run in runs], _empty(env))


def _empty(env: int) -> tuple[str, ...]:
    if not env:
        return ("No graph has been executed yet.", "", "fuel2 graph execute --env ID", "or A and e on an environment.")
    return (
        f"No graph has been executed on environment {env} yet.",
        "",
        "A arms the UI, then e executes a graph.",
        f"fuel2 graph execute --env {env} --dry-run   shows what would run",
        f"fuel2 graph execute --env {env}             runs it",
    )


def last(runs: Sequence[Run], env: int, glyphs: Glyphs) -> Cell:
    """Return the last run of an environment as a cell: its id and how it stands."""
    run = next((run for run in runs if run.cluster_id == env), None)
    if run is None:
        return Cell("never", Tone.DIM)
    status = run_status(run, glyphs)
    return Cell(f"{run.id} {status}{'' if run.is_final else f' {run.progress} %'}", status.tone)


NOTHING = Table((_ID,), empty=("",))
"""What stands beside an empty list of runs."""
