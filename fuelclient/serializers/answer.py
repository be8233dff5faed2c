"""Answers: the fields of one JSON object as a server gives it, each of the type that is wanted.

Servers of several generations answer, and something else may stand in front of them, so that nothing is taken on
trust: what a value needs and does not find is one error that names the noun and the field.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fuelclient.errors import InvalidDocument
from fuelclient.serializers.values import kind, plain

_HINT = "Is it a Fuel master that answers?"


def objects(data: Any, noun: str) -> Iterator[Any]:
    """The items of a list; `InvalidDocument` for anything else."""
    if not isinstance(data, list | tuple):
        raise InvalidDocument(f"The answer has {kind(data)} in place of a list of {noun}s.", hint=_HINT)
    yield from data


class Answer:
    """One object. Every method returns the field in its type, or the default where it is absent or null, and raises
    `InvalidDocument` where it is something else."""

    def __init__(self, data: Any, noun: str) -> None:
        if not isinstance(data, Mapping):
            raise InvalidDocument(f"The answer has {kind(data)} in place of the record of one {noun}.", hint=_HINT)
        self.data: Mapping[str, Any] = data
        self.noun = noun

    def identifier(self, field: str = "id") -> int:
        """A whole number that has to be there."""
        value = self.data.get(field)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self._wrong(field, "a whole number")
        return value

    def number(self, field: str, default: int = 0) -> int:
        found = self.optional(field)
        return default if found is None else found

    def optional(self, field: str) -> int | None:
        return None if self.data.get(field) is None else self.identifier(field)

    def real(self, field: str) -> float:
        """A number that has to be there."""
        value = self.data.get(field)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._wrong(field, "a number")
        return float(value)

    def text(self, field: str, default: str = "") -> str:
        value = self.data.get(field)
        if value is None:
            return default
        if not isinstance(value, str):
            raise self._wrong(field, "a text")
        return value

    def stated(self, field: str) -> str:
        """A text that has to be there."""
        if self.data.get(field) is None:
            raise self._wrong(field, "a text")
        return self.text(field)

    def moment(self, field: str) -> str | None:
        """A time as text; None as long as it has not come."""
        return self.text(field) or None

    def truth(self, field: str, default: bool = False) -> bool:
        value = self.data.get(field)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self._wrong(field, "true or false")
        return value

    def mapping(self, field: str) -> dict[str, Any]:
        value = self.data.get(field)
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            raise self._wrong(field, "a mapping")
        found: dict[str, Any] = plain(value)
        return found

    def items(self, field: str) -> list[Any]:
        value = self.data.get(field)
        if value is None:
            return []
        if not isinstance(value, list | tuple):
            raise self._wrong(field, "a list")
        return list(value)

    def texts(self, field: str) -> tuple[str, ...]:
        found = self.items(field)
        if not all(isinstance(one, str) for one in found):
            raise self._wrong(field, "a list of texts")
        return tuple(found)

    def numbers(self, field: str) -> tuple[int, ...]:
        found = self.items(field)
        if not all(isinstance(one, int) and not isinstance(one, bool) for one in found):
            raise self._wrong(field, "a list of whole numbers")
        return tuple(found)

    def rest(self, *fields: str) -> dict[str, Any]:
        """Everything but `fields`, in plain types."""
        return {key: plain(value) for key, value in self.data.items() if key not in fields}

    def _wrong(self, field: str, wanted: str) -> InvalidDocument:
        return InvalidDocument(
            f"In the answer, {field} of one {self.noun} is {kind(self.data.get(field))}, not {wanted}.", hint=_HINT
        )
