"""Fit the table of a preview into the width of a terminal: one row is one line, and task names stay whole.

Empty columns are dropped, roles are shortened, and then columns are dropped until the rest fits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fuelclient.commands.formatters import text

BY_IMPORTANCE = (
    "order", "task", "nodes", "verdict", "stage", "layer", "priority", "roles", "generation", "type", "overrides",
)  # fmt: skip
"""Columns, the most important first. A column is dropped if it does not fit beside those before it."""

_ALWAYS = BY_IMPORTANCE[:2]
_FRAME = 3
"""The width of a column besides its cells: two blanks and a border. The table has one more border."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """What to print, and the columns that were dropped because they are empty or too wide."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    empty: tuple[str, ...] = ()
    too_wide: tuple[str, ...] = ()


def shortened(names: Sequence[str], width: int) -> str:
    """Return as many of `names` as fit into `width`, at least the first, and the number of the others.

    >>> shortened(["primary-controller", "controller", "compute", "cinder"], 35)
    'primary-controller, controller, +2'
    >>> shortened(["compute", "cinder"], 0)
    'compute, +1'
    """
    whole = ", ".join(names)
    if len(whole) <= width or len(names) < 2:
        return whole
    texts = [", ".join((*names[:number], f"+{len(names) - number}")) for number in range(1, len(names))]
    return max((text for text in texts if len(text) <= width), key=len, default=texts[0])


def fit(
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    width: int,
    *,
    asked: Sequence[str] = (),
    sorted_by: Sequence[str] = (),
) -> Fitted:
    """Return the table of `columns` and `rows` for a terminal of `width` columns. `roles` are lists of names.

    If columns were `asked` for, the table has these and no others. Columns of `sorted_by` stay unless they are empty,
    because cliff sorts by them later.

    >>> fit(("order", "task", "roles", "type"), [(1, "netconfig", ["compute", "cinder"], "")], 36)
    Fitted(columns=('order', 'task', 'roles'), rows=[(1, 'netconfig', 'compute, +1')], empty=('type',), too_wide=())
    """
    cells = {name: [row[index] for row in rows] for index, name in enumerate(columns)}
    empty = [] if asked or not rows else [name for name in columns if not any(map(text, cells[name]))]
    wanted = [name for name in columns if name not in empty and (not asked or name in asked)]
    fixed = {*_ALWAYS, *sorted_by, *asked}
    kept: list[str] = []
    used = 1
    for name in sorted(wanted, key=lambda name: (name not in fixed, BY_IMPORTANCE.index(name))):
        needed = _FRAME + _width(name, cells[name])
        if name in fixed or used + needed <= width:
            kept.append(name)
            used += needed
    if "roles" in kept:
        room = width - used + _width("roles", cells["roles"])
        cells["roles"] = [shortened(cell, room) for cell in cells["roles"]]
    shown = tuple(name for name in columns if name in kept)
    left_out = tuple(name for name in wanted if name not in kept)
    return Fitted(shown, list(zip(*(cells[name] for name in shown), strict=True)), tuple(empty), left_out)


def _width(name: str, cells: Sequence[Any]) -> int:
    """Return the least width of a column: that of its name or of its widest cell, with roles at their shortest."""
    texts = (shortened(cell, 0) if name == "roles" else str(text(cell)) for cell in cells)
    return max([len(name), *map(len, texts)])
