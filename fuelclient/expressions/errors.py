"""The errors of expressions that cannot be read or evaluated."""

from __future__ import annotations

from typing import Any

from fuelclient.errors import InvalidDocument, UnknownFact

_SHOWN = 80


class ExpressionError(InvalidDocument):
    """An expression cannot be read, or has no value.

    `text` is the whole expression, `position` the offset of the first wrong character (None if the value and not the
    text is wrong), and `expected` describes what could be there.
    """

    def __init__(self, message: str, text: str, *, position: int | None = None, expected: str = "", hint: str = ""):
        super().__init__(message, hint=hint)
        self.text, self.position, self.expected = text, position, expected

    def __reduce__(self) -> Any:
        return type(self).__new__, (type(self), self.message), self.__dict__  # for the answer of a child process


class MissingFact(ExpressionError, UnknownFact):
    """An expression reads `path`, which the facts do not have, so that its value is not known."""

    def __init__(self, message: str, text: str, path: str, *, hint: str = "") -> None:
        super().__init__(message, text, hint=hint)
        self.path = path


class UndefinedValue(ExpressionError):
    """A strict expression reads `path`, which the models do not have."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        message = f"Value of {path} is undefined. Set options.strict to false to allow undefined values."
        super().__init__(message, text, hint=f"It is read by the expression {quoted(text)}.")


def quoted(text: str, position: int = 0) -> str:
    """`text` as one printable line in double quotes; a long one is cut to what is around `position`.

    >>> quoted("settings:a == true")
    '"settings:a == true"'
    >>> quoted("1 or " * 40 + "2", 100)
    '"... 1 or 1 or 1 or 1 or 1 or 1 or 1 or 1 or 1 or 1 or 1 or 1 or 1 or 1 or 1 or 1 or ..."'
    """
    start = max(0, position - _SHOWN // 2) if len(text) > _SHOWN else 0
    words = " ".join(text[start : start + _SHOWN].split())
    words = "".join(character if character.isprintable() else "?" for character in words)
    before = "... " if start else ""
    after = " ..." if start + _SHOWN < len(text) else ""
    return f'"{before}{words}{after}"'
