"""A preview on a terminal: one row is one line, and task names stay whole.

Columns that are empty in every row go, roles are shortened, and then columns are left out until the rest fits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fuelclient.commands.formatters import text

KEPT = ("order", "task", "nodes", "stage", "layer", "priority", "roles", "generation", "type", "overrides")
"""What matters most comes first: a column is left out when it does not fit beside those before it."""

_ALWAYS = KEPT[:2]
_FRAME = 3
"""What a column takes beside its cells: two blanks and a border; the table has one border more."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """What to print, and the columns that are not in it, because nothing is in them or because of the width."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    empty: tuple[str, ...] = ()
    too_wide: tuple[str, ...] = ()


def shortened(names: Sequence[str], width: int) -> str:
    """As many of `names` as fit into `width`, at least the first, and how many others there are.

    >>> shortened(["primary-controller", "controller", "compute", "cinder"], 35)
    'primary-controller, controller, +2'
    >>> shortened(["compute", "cinder"], 0)
    'compute, +1'
    """
    whole = ", ".join(names)
    if len(whole) <= width or len(names) < 2:
        return whole
    shown = [", ".join((*names[:number], f"+{len(names) - number}")) for number in range(1, len(names))]
    return max((one for one in shown if len(one) <= width), key=len, default=shown[0])


def fit(
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    width: int,
    *,
    asked: Sequence[str] = (),
    sorted_by: Sequence[str] = (),
) -> Fitted:
    """The table of `columns` and `rows` for a terminal of `width` columns. `roles` are lists of names.

    Columns that were `asked` for stay, all of them, and no others are looked at; those of `sorted_by` stay where there
    is anything in them, because somebody still has to sort by them.

    >>> fit(("order", "task", "roles", "type"), [(1, "netconfig", ["compute", "cinder"], "")], 36)
    Fitted(columns=('order', 'task', 'roles'), rows=[(1, 'netconfig', 'compute, +1')], empty=('type',), too_wide=())
    """
    cells = {name: [row[index] for row in rows] for index, name in enumerate(columns)}
    empty = [] if asked or not rows else [name for name in columns if not any(map(text, cells[name]))]
    wanted = [name for name in columns if name not in empty and (not asked or name in asked)]
    fixed = {*_ALWAYS, *sorted_by, *asked}
    kept: list[str] = []
    used = 1
    for name in sorted(wanted, key=lambda name: (name not in fixed, KEPT.index(name))):
        takes = _FRAME + _width(name, cells[name])
        if name in fixed or used + takes <= width:
            kept.append(name)
            used += takes
    if "roles" in kept:
        room = width - used + _width("roles", cells["roles"])
        cells["roles"] = [shortened(cell, room) for cell in cells["roles"]]
    shown = tuple(name for name in columns if name in kept)
    left_out = tuple(name for name in wanted if name not in kept)
    return Fitted(shown, list(zip(*(cells[name] for name in shown), strict=True)), tuple(empty), left_out)


def _width(name: str, cells: Sequence[Any]) -> int:
    """The width that a column takes at least: that of its name, or of its widest cell, with roles at their shortest."""
    shown = (shortened(cell, 0) if name == "roles" else str(text(cell)) for cell in cells)
    return max([len(name), *map(len, shown)])
