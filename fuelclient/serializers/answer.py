"""Read the fields of a JSON object from a server, each in its expected type.

Servers of several versions, or a proxy in between, may answer, so nothing is trusted: a missing or wrong field raises
an error that names the noun and the field.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from enum import StrEnum
from functools import cache
from typing import Any, TypeVar, get_origin, get_type_hints

from fuelclient.errors import InvalidDocument
from fuelclient.serializers.values import in_words, plain

_HINT = "Is it a Fuel master that answers?"

Value = TypeVar("Value")
Choice = TypeVar("Choice", bound=StrEnum)


def objects(data: Any, noun: str) -> Iterator[Any]:
    """Yield the items of a list. Raise `InvalidDocument` for anything else."""
    if not isinstance(data, list | tuple):
        raise InvalidDocument(f"The answer has {in_words(data)} instead of a list of {noun}s.", hint=_HINT)
    yield from data


class Answer:
    """One object of an answer.

    Every method returns a field in its type, or the default if the field is absent or null, and raises
    `InvalidDocument` if it has another type.
    """

    def __init__(self, data: Any, noun: str) -> None:
        if not isinstance(data, Mapping):
            raise InvalidDocument(f"The answer has {in_words(data)} instead of the record of one {noun}.", hint=_HINT)
        self.data: Mapping[str, Any] = data
        self.noun = noun

    def identifier(self, field: str = "id") -> int:
        """A whole number; the field is required."""
        value = self.data.get(field)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self._wrong(field, "a whole number")
        return value

    def number(self, field: str, default: int = 0) -> int:
        value = self.optional(field)
        return default if value is None else value

    def optional(self, field: str) -> int | None:
        return None if self.data.get(field) is None else self.identifier(field)

    def text(self, field: str, default: str = "") -> str:
        return str(self._typed(field, str, "a string", default))

    def required(self, field: str) -> str:
        """A string; the field is required."""
        if self.data.get(field) is None:
            raise self._wrong(field, "a string")
        return self.text(field)

    def one_of(self, field: str, words: type[Choice], default: str = "") -> Choice:
        """A member of `words`; the field is required if there is no default."""
        value = self.text(field, default) or self.required(field)
        if value not in set(words):
            message = f"In the answer, {field} of one {self.noun} is {value!r}, which is unknown."
            raise InvalidDocument(message, hint=f"Known: {', '.join(words)}.")
        return words(value)

    def moment(self, field: str) -> str | None:
        """A time as text, or None."""
        return self.text(field) or None

    def truth(self, field: str) -> bool:
        return bool(self._typed(field, bool, "true or false", False))

    def mapping(self, field: str) -> dict[str, Any]:
        mapping: dict[str, Any] = plain(self._typed(field, Mapping, "a mapping", {}))
        return mapping

    def items(self, field: str) -> list[Any]:
        return list(self._typed(field, (list, tuple), "a list", ()))

    def texts(self, field: str) -> tuple[str, ...]:
        items = self.items(field)
        if not all(isinstance(item, str) for item in items):
            raise self._wrong(field, "a list of strings")
        return tuple(items)

    def numbers(self, field: str) -> tuple[int, ...]:
        items = self.items(field)
        if not all(isinstance(item, int) and not isinstance(item, bool) for item in items):
            raise self._wrong(field, "a list of whole numbers")
        return tuple(items)

    def into(self, cls: type[Value], *required: str, optional: Collection[str] | None = None, **given: Any) -> Value:
        """Make a dataclass from the fields with the same names, each in the type of its annotation.

        Fields that are neither `required` nor `given` are optional; an absent one becomes the empty value of its type.
        With `optional`, only these optional fields are read; the others keep their defaults.
        """
        for name, wanted in _types_of(cls).items():  # type: ignore[arg-type]  # mypy takes no class for hashable
            if name not in given and (name in required or optional is None or name in optional):
                given[name] = self._as(wanted, name, name in required)
        return cls(**given)

    def _as(self, wanted: Any, field: str, is_required: bool) -> Any:
        if isinstance(wanted, type) and issubclass(wanted, StrEnum):
            return self.one_of(field, wanted)
        if is_required:
            return self.identifier(field) if wanted is int else self.required(field)
        return _READERS[Mapping if get_origin(wanted) is Mapping else wanted](self, field)

    def rest(self, *fields: str) -> dict[str, Any]:
        """Everything except `fields`, in plain types."""
        return {key: plain(value) for key, value in self.data.items() if key not in fields}

    def _typed(self, field: str, types: Any, wanted: str, default: Any) -> Any:
        value = self.data.get(field)
        if value is not None and not isinstance(value, types):
            raise self._wrong(field, wanted)
        return default if value is None else value

    def _wrong(self, field: str, wanted: str) -> InvalidDocument:
        return InvalidDocument(
            f"In the answer, {field} of one {self.noun} is {in_words(self.data.get(field))}, not {wanted}.", hint=_HINT
        )


_READERS: Mapping[Any, Callable[[Answer, str], Any]] = {
    int: Answer.number, str: Answer.text, bool: Answer.truth, int | None: Answer.optional, str | None: Answer.moment,
    tuple[str, ...]: Answer.texts, Mapping: Answer.mapping,
}  # fmt: skip
"""The readers of optional fields, by their annotation."""


@cache
def _types_of(cls: type) -> Mapping[str, Any]:
    return get_type_hints(cls)
