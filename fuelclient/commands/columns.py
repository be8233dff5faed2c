"""Columns: the names that `-c` takes, and cells that are text for people and structured data for programs.

cliff shows a `FormattableColumn` as text only in a table. Our formats (`formatters`) also do so in `-f value` and
`-f csv`, which then print what the original client printed; JSON and YAML have the structure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cliff.columns import FormattableColumn

from fuelclient.errors import UsageError, nearest

if TYPE_CHECKING:
    from fuelclient.model.finding import Finding


def column_name(asked: str) -> str:
    """Return the name of a column as `-c` accepts it."""
    return asked.lower().strip().replace(" ", "_")


def check_columns(asked: Sequence[str], columns: Sequence[str]) -> None:
    """Raise `UsageError` for an unknown column after `-c`, which cliff would silently leave out."""
    for column in asked:
        name = column_name(column)
        if name not in columns:
            close = nearest(name, columns)
            hint = f"Did you mean '{close}'?" if close else f"Columns: {', '.join(columns)}."
            raise UsageError(f"There is no column '{column}'.", hint=hint)


class Names(FormattableColumn[list[Any]]):
    """A list of names or numbers; as text, joined by commas.

    >>> Names(["a", "b"]).human_readable()
    'a, b'
    """

    def __init__(self, value: Sequence[Any]) -> None:
        super().__init__(list(value))

    def human_readable(self) -> str:
        return ", ".join(str(item) for item in self._value)


class Lines(FormattableColumn[list[str]]):
    """Some lines of text; in a table one after another.

    >>> Lines(["1 - ready", "2 - error"]).human_readable()
    '1 - ready\\n2 - error'
    """

    def human_readable(self) -> str:
        return "\n".join(self._value)


class Counted(Names):
    """A list of names; as text, their number and the first of them.

    >>> Counted(["a", "b", "c", "d"], "task").human_readable(), Counted([], "task").human_readable()
    ('4 tasks: a, b, c and 1 more', '0 tasks')
    """

    def __init__(self, value: Sequence[Any], noun: str) -> None:
        super().__init__(value)
        self._noun = noun

    def human_readable(self) -> str:
        number = f"{len(self._value)} {self._noun}{'s' * (len(self._value) != 1)}"
        return f"{number}: {some(self._value)}" if self._value else number


class Relations(FormattableColumn[list[dict[str, Any]]]):
    """The owners of a graph, one on each line, in the words that scripts match.

    >>> Relations([{"type": "default", "model": "cluster", "model_id": 1}]).human_readable()
    'as "default" to cluster(ID=1)'
    """

    def human_readable(self) -> str:
        return "\n".join(f'as "{owner["type"]}" to {owner["model"]}(ID={owner["model_id"]})' for owner in self._value)


class Fields(FormattableColumn[Any]):
    """Nested data; as text, one line of JSON, or nothing if it is empty.

    >>> Fields({"min": 1}).human_readable(), Fields({}).human_readable()
    ('{"min": 1}', '')
    """

    def human_readable(self) -> str:
        import json

        if isinstance(self._value, str):
            return self._value
        return json.dumps(self._value, ensure_ascii=False, default=str) if self._value not in (None, {}, []) else ""


def finding_fields(finding: Finding) -> dict[str, str]:
    """Return a finding as part of a document."""
    return {
        "severity": str(finding.severity), "code": finding.code, "message": finding.message,
        "place": str(finding.place), "hint": finding.hint,
    }  # fmt: skip


def some(items: Iterable[Any], most: int = 3) -> str:
    """Return the first items, and how many more there are.

    >>> some(["a", "b"]), some("abcde")
    ('a, b', 'a, b, c and 2 more')
    """
    words = [str(item) for item in items]
    rest = len(words) - most
    return f"{', '.join(words[:most])} and {rest} more" if rest > 0 else ", ".join(words)


def plain(value: Any) -> Any:
    """Return `value` without the classes that remember lines, for YAML and JSON.

    >>> plain({"limits": ({"min": 1},)})
    {'limits': [{'min': 1}]}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value
