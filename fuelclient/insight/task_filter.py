"""Filters of rows that are tasks: a query as `selection` reads it, unless they only have plain words.

Plain words mean what they mean in every table: a row must contain all of them. So do conditions on columns beside a
query, such as `node=1`: they narrow what it selects.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from fuelclient.insight.filter_query import Query, parse
from fuelclient.insight.selection import FIELDS, BadQuery, Results, is_name, select
from fuelclient.plan.study import Study

_CONDITION = re.compile(r'(?<!\S)!?(?P<field>[a-z_]+)(?P<sign>[:=])(?:"[^"]*"?|\S)*', re.IGNORECASE)
_PLAIN = re.compile(rf"!?(?!(?:{'|'.join(FIELDS)}):)[^\s(),!+/][^\s(),+]*|!")


def query_in(text: str, fields: Collection[str]) -> str:
    """Return the query in a filter, or an empty string. Blanks replace conditions on columns, so places stay the same.

    >>> query_in("rack !pre", ()), query_in("role:compute node=1", ["node", "role"]), query_in("+db", ())
    ('', 'role:compute', '+db')
    """

    def blank(match: re.Match[str]) -> str:
        field = match["field"].lower()
        is_condition = field in fields and (match["sign"] == "=" or field not in FIELDS)
        return " " * len(match[0]) if is_condition else match[0]

    rest = _CONDITION.sub(blank, text)
    is_plain = all(_PLAIN.fullmatch(word) and ".." not in word for word in rest.split())
    return "" if is_plain else rest.rstrip()


def parse_for_tasks(
    text: str, fields: Collection[str], study: Study, results: Results | None = None, *, inverted: bool = False
) -> Query:
    """Return what a filter means in a table whose rows are tasks of `study`, with these columns.

    Raise `BadQuery` for a query that cannot be read or names what does not exist, with the place in `text`.
    """
    wanted = query_in(text, fields)
    if not wanted:
        return parse(text, fields, inverted=inverted)
    conditions = "".join(
        " " if query_character != " " else character
        for character, query_character in zip(text, wanted.ljust(len(text)), strict=True)
    )
    try:
        chosen = select(study, wanted, results)
    except BadQuery as error:
        hint = _columns(text, error.at, fields) or error.hint
        raise BadQuery(error.message, text, error.at, hint=hint) from None
    return Query(parse(conditions, fields).terms, inverted, frozenset(chosen))


def _columns(text: str, at: int, fields: Collection[str]) -> str:
    """Return which columns there are if the word at a place looks like a condition on one; else nothing.

    >>> _columns("role:compute node=1", 13, ["task", "layer"])
    'There is no column node here, only task, layer.'
    """
    for match in _CONDITION.finditer(text):
        if match.start() <= at < match.end() and match["sign"] == "=" and fields:
            return f"There is no column {match['field']} here, only {', '.join(fields)}."
    return ""


MOST_NAMES = 12
"""How many tasks are named one by one in a query that stands for a filter."""


def query_for_command(
    text: str,
    fields: Collection[str],
    study: Study,
    shown: Collection[int],
    known: Collection[int],
    *,
    inverted: bool = False,
) -> str:
    """Return a query for the command line that selects, of the `known` merged tasks, those that a filter has `shown`.

    It is empty if the filter keeps all of them, and if no short query selects them: plain words may look into columns
    of which queries know nothing.
    """
    if not shown or len(shown) == len(known):
        return ""
    for query in _candidates(text, fields, study, shown, inverted=inverted):
        try:
            chosen = select(study, query)
        except BadQuery:
            continue
        if {index for index in chosen if index in known} == set(shown):
            return query
    return ""


def _candidates(
    text: str, fields: Collection[str], study: Study, shown: Collection[int], *, inverted: bool
) -> Iterator[str]:
    wanted = query_in(text, fields)
    if not wanted:
        terms = parse(text, fields).terms
        patterns = [f"{'!' * term.inverted}/{_pattern(term.word)}/" for term in terms if not term.field]
        wanted = ",".join(patterns) if len(patterns) == len(terms) else ""
    if wanted:
        yield f"!({wanted})" if inverted else wanted
    for few, form in (({*shown}, "{}"), ({*study.indices} - {*shown}, "!({})")):
        names = dict.fromkeys(study.merged.tasks[index].id for index in study.indices if index in few)
        if len(names) <= MOST_NAMES and all(map(is_name, names)):
            yield form.format(" ".join(names))


def _pattern(word: str) -> str:
    return re.sub(r"([^\w-])", r"\\\1", word)
