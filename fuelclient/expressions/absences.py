"""Names that facts of an environment have, and that given facts lack. What reads one of them has no known value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from fuelclient.expressions.errors import Absent

Absences: TypeAlias = "Mapping[Any, str | Absences]"
"""By name: the path of what is missing, or what is missing below it."""


def absences(expected: Sequence[Mapping[Any, Any]], have: Sequence[Mapping[Any, Any]], path: str = "$") -> Absences:
    """Return the names in any of the mappings `expected` that none of the mappings `have` has, at any depth.

    >>> absences([{"a": {"x": 1, "y": 2}, "b": 1}], [{"a": {"x": 5}}])
    {'a': {'y': '$.a.y'}, 'b': '$.b'}
    """
    missing: dict[Any, str | Absences] = {}
    for names in expected:
        for name, value in names.items():
            values = [mapping[name] for mapping in have if name in mapping]
            if not values:
                missing[name] = f"{path}.{name}"
            elif name not in missing and isinstance(value, Mapping) and all(isinstance(v, Mapping) for v in values):
                wanted = [mapping[name] for mapping in expected if isinstance(mapping.get(name), Mapping)]
                if under := absences(wanted, values, f"{path}.{name}"):
                    missing[name] = under
    return missing


def below(absent: Absences, name: object) -> Absences:
    """Return what is missing below a name."""
    under = absent.get(name)
    return under if isinstance(under, Mapping) else {}


def require_known(absent: Absences, name: object) -> None:
    """Raise `Absent` if a name is missing."""
    path = absent.get(name)
    if isinstance(path, str):
        raise Absent(path)


def require_all(absent: Absences) -> None:
    """Raise `Absent`, with the first path, if anything is missing."""
    for under in absent.values():
        if isinstance(under, str):
            raise Absent(under)
        require_all(under)
