"""Filters of rows that are tasks: a query as `selection` reads it, unless they only have plain words.

Plain words mean what they mean in every table: a row must contain all of them. So do conditions on columns beside a
query, such as `node=1`: they narrow what it selects.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from fuelclient.insight.filter_query import Query, parse
from fuelclient.insight.selection import FIELDS, BadQuery, Results, select
from fuelclient.insight.study import Study

_CONDITION = re.compile(r'(?<!\S)!?(?P<field>[a-z_]+)(?P<sign>[:=])(?:"[^"]*"?|\S)*', re.IGNORECASE)
_PLAIN = re.compile(rf"!?(?!(?:{'|'.join(FIELDS)}):)[^\s(),!+/][^\s(),+]*|!")


def query_in(text: str, fields: Collection[str]) -> str:
    """Return the query in a filter, with blanks instead of conditions on columns; empty if there is none.

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
        raise BadQuery(error.message, text, error.at, hint=error.hint) from None
    return Query(parse(conditions, fields).terms, inverted, frozenset(chosen))
