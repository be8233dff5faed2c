"""Queries: the words that filter rows, the same in every table.

A query is words between blanks, all of which must be found. `field:word` looks into one field only, `field=word`
for a whole value of it, of which there may be several; `!` before either turns it round. A word with blanks stands in
quotes: `role="two words"`. Letters of either case are alike.
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
    """One word of a query; `field` is empty where the whole row is meant."""

    word: str
    field: str = ""
    whole: bool = False
    inverted: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """What a row must say. `inverted` turns the whole query round; an empty query keeps everything."""

    terms: tuple[Term, ...] = ()
    inverted: bool = False

    def select(self, size: int, text: Text, field: Field) -> list[int]:
        """The rows, of `size`, that answer the query, in their order."""
        if not self.terms:
            return list(range(size))
        if len(self.terms) == 1 and not self.terms[0].field:
            only = self.terms[0]
            wanted = only.inverted is self.inverted
            return [row for row in range(size) if (only.word in text(row)) is wanted]
        return [row for row in range(size) if self._answers(row, text, field) is not self.inverted]

    def _answers(self, row: int, text: Text, field: Field) -> bool:
        return all(_found(term, row, text, field) is not term.inverted for term in self.terms)


def _found(term: Term, row: int, text: Text, field: Field) -> bool:
    if not term.field:
        return term.word in text(row)
    value = field(row, term.field)
    if term.whole:
        return _values(term.word) <= _values(value)
    return term.word in value


def _values(text: str) -> set[str]:
    return {one.strip() for one in text.split(",") if one.strip()}


def term(field: str, value: str) -> str:
    """The words that ask for a whole value of a field, as `parse` reads them.

    >>> term("role", "compute"), term("role", "two words")
    ('role=compute', 'role="two words"')
    """
    return f'{field}="{value}"' if re.search(r"\s", value) else f"{field}={value}"


def parse(text: str, fields: Collection[str] = (), *, inverted: bool = False) -> Query:
    """The query that `text` means. A prefix that is none of `fields` is part of the word: task ids have colons.

    >>> parse("layer:cluster !puppet", ["layer"]).terms
    (Term(word='cluster', field='layer', whole=False, inverted=False), Term(word='puppet', field='', whole=False, \
inverted=True))
    >>> parse("rack:pre").terms[0].word
    'rack:pre'
    >>> parse('role="two words" x', ["role"]).terms[0].word
    'two words'
    """
    terms = [_term(word, fields) for word in _words(text.lower(), fields)]
    return Query(tuple(one for one in terms if one is not None), inverted)


def _words(text: str, fields: Collection[str]) -> Iterator[str]:
    """The words of a query, without the quotes around the value of a field; other quotes are letters as any."""
    for found in _WORD.finditer(text):
        word = found[0]
        if found["quoted"] is None:
            yield word
        elif found["field"] in fields:
            yield word.replace('"', "")
        else:
            yield from word.split()


def _term(word: str, fields: Collection[str]) -> Term | None:
    inverted = word.startswith("!")
    rest = word[1:] if inverted else word
    if not rest:
        return None
    found = _TERM.fullmatch(rest)
    if found is None or found["field"] not in fields:
        return Term(rest, inverted=inverted)
    if not found["word"]:
        return None  # `layer:` while it is being typed
    return Term(found["word"], found["field"], found["sign"] == "=", inverted)
