"""Filters by words: they select rows, with the same syntax in every table.

Rows that are tasks are also selected by the queries of `graph query`: see `task_filter`.

A query is a list of words, all of which a row must contain. `field:word` looks into one field only; `field=word`
compares with each whole value of the field. `!` inverts a word. Quote a value with blanks: `role="two words"`. Case
does not matter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

Text = Callable[[int], str]
"""The text of a row, in lower case."""

Field = Callable[[int, str], str]
"""One field of a row, in lower case; several values are separated by commas."""

_TERM = re.compile(r"(?P<field>[a-z_]+)(?P<sign>[:=])(?P<word>.*)")
_WORD = re.compile(r'!?(?P<field>[a-z_]+)[:=]"(?P<quoted>[^"]*)"?|\S+')


@dataclass(frozen=True, slots=True)
class Term:
    """One word of a query. `field` is empty if the whole row is meant."""

    word: str
    field: str = ""
    whole: bool = False
    inverted: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """What a row must contain, and in tables of tasks, by their numbers there, which `tasks` it may be about.
    `inverted` inverts the whole query. An empty query keeps every row."""

    terms: tuple[Term, ...] = ()
    inverted: bool = False
    tasks: frozenset[int] | None = None

    @property
    def is_empty(self) -> bool:
        """Whether the query keeps every row."""
        return not self.terms and self.tasks is None

    def select(self, size: int, text: Text, field: Field) -> list[int]:
        """Return which of `size` rows match the query, in their order."""
        if not self.terms:
            return list(range(size))
        if len(self.terms) == 1 and not self.terms[0].field:
            only = self.terms[0]
            wanted = only.inverted is self.inverted
            return [row for row in range(size) if (only.word in text(row)) is wanted]
        return [
            row
            for row in range(size)
            if all(_matches(term, row, text, field) is not term.inverted for term in self.terms) is not self.inverted
        ]


def _matches(term: Term, row: int, text: Text, field: Field) -> bool:
    if not term.field:
        return term.word in text(row)
    value = field(row, term.field)
    if term.whole:
        return _values(term.word) <= _values(value)
    return term.word in value


def _values(text: str) -> set[str]:
    return {value for part in text.split(",") if (value := part.strip())}


def term(field: str, value: str) -> str:
    """Return the query for a whole value of a field, as `parse` reads it.

    >>> term("role", "compute"), term("role", "two words")
    ('role=compute', 'role="two words"')
    """
    return f'{field}="{value}"' if re.search(r"\s", value) else f"{field}={value}"


def parse(text: str, fields: Collection[str] = (), *, inverted: bool = False) -> Query:
    """Return the query that `text` means.

    A prefix that is not one of `fields` is part of the word, since task ids have colons.

    >>> parse("layer:cluster !puppet", ["layer"]).terms
    (Term(word='cluster', field='layer', whole=False, inverted=False), Term(word='puppet', field='', whole=False, \
inverted=True))
    >>> parse("rack:pre").terms[0].word
    'rack:pre'
    >>> parse('role="two words" x', ["role"]).terms[0].word
    'two words'
    """
    terms = [_term(word, fields) for word in _words(text.lower(), fields)]
    return Query(tuple(filter(None, terms)), inverted)


def _words(text: str, fields: Collection[str]) -> Iterator[str]:
    """Yield the words of a query, without the quotes around the value of a field. Other quotes are part of the word."""
    for match in _WORD.finditer(text):
        word = match[0]
        if match["quoted"] is None:
            yield word
        elif match["field"] in fields:
            yield word.replace('"', "")
        else:
            yield from word.split()


def _term(word: str, fields: Collection[str]) -> Term | None:
    inverted = word.startswith("!")
    rest = word[1:] if inverted else word
    if not rest:
        return None
    match = _TERM.fullmatch(rest)
    if match is None or match["field"] not in fields:
        return Term(rest, inverted=inverted)
    if not match["word"]:
        return None  # `layer:` while it is being typed
    return Term(match["word"], match["field"], match["sign"] == "=", inverted)
