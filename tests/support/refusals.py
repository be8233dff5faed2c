"""Check that something is refused, by the type and the data of the error rather than by its sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import pytest

from fuelclient.errors import NotFound

E = TypeVar("E", bound=Exception)


@contextmanager
def refused(
    error: type[E] | tuple[type[E], ...], *named: object, codes: Sequence[str] | None = None
) -> Iterator[pytest.ExceptionInfo[E]]:
    """Expect an error that names all of `named`, in any order, and whose errors have these codes.

    `named` are names, ids, options and commands, and words where an error has no other data.
    """
    __tracebackhide__ = True
    with pytest.raises(error) as caught:
        yield caught
    require_named(str(caught.value), named)
    if codes is not None:
        findings = getattr(caught.value, "findings", ())
        told = [finding.code for finding in findings if finding.is_error]
        assert told == list(codes), f"{told} instead of {[*codes]}: {caught.value}"


@contextmanager
def missing(noun: str, key: object, *suggested: object) -> Iterator[pytest.ExceptionInfo[NotFound]]:
    """Expect `NotFound` for the noun with this key, with a hint that names all of `suggested`."""
    __tracebackhide__ = True
    with pytest.raises(NotFound) as caught:
        yield caught
    told = (caught.value.noun, str(caught.value.key))
    assert told == (noun, str(key)), f"{told} instead of {(noun, key)}"
    require_named(caught.value.hint, suggested)


def require_named(text: str, named: Sequence[object]) -> None:
    """Require that a text has every one of these as a whole word: node 1 is neither node 11 nor 1.2."""
    __tracebackhide__ = True
    absent = [str(name) for name in named if not _pattern(str(name)).search(text)]
    assert not absent, f"{absent} not in {text!r}"


def _pattern(name: str) -> re.Pattern[str]:
    """A name may begin a sentence, so its first letter may be a capital."""
    first, rest = re.escape(name[:1]), re.escape(name[1:])
    return re.compile(rf"(?<![\w.-])(?:{first}|{re.escape(name[:1].upper())}){rest}(?![\w]|[.-]\w)")
