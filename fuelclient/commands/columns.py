"""Cells that are structured for programs and text for people.

cliff shows a `FormattableColumn` as text in a table only. Our text formats (`formatters`) show every cell as
text, so that `-f value` and `-f csv` print what the original client printed, and JSON and YAML have structure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cliff.columns import FormattableColumn


class Names(FormattableColumn[list[Any]]):
    """A list of names or numbers; as text, joined by commas.

    >>> Names(["a", "b"]).human_readable()
    'a, b'
    """

    def __init__(self, value: Sequence[Any]) -> None:
        super().__init__(list(value))

    def human_readable(self) -> str:
        return ", ".join(str(item) for item in self._value)


class Relations(FormattableColumn[list[dict[str, Any]]]):
    """The owners of a graph, one to a line, in the words that scripts match.

    >>> Relations([{"type": "default", "model": "cluster", "model_id": 1}]).human_readable()
    'as "default" to cluster(ID=1)'
    """

    def human_readable(self) -> str:
        return "\n".join(f'as "{one["type"]}" to {one["model"]}(ID={one["model_id"]})' for one in self._value)


class Fields(FormattableColumn[Any]):
    """Nested data as it was written; as text, one line of JSON, and nothing at all when it is empty.

    >>> Fields({"min": 1}).human_readable(), Fields({}).human_readable()
    ('{"min": 1}', '')
    """

    def human_readable(self) -> str:
        import json

        if isinstance(self._value, str):
            return self._value
        return json.dumps(self._value, ensure_ascii=False, default=str) if self._value not in (None, {}, []) else ""


def plain(value: Any) -> Any:
    """`value` without the classes that remember where it was written, for YAML and JSON.

    >>> plain({"limits": ({"min": 1},)})
    {'limits': [{'min': 1}]}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value
