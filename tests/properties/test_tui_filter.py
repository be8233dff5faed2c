"""A filter that looks at each distinct value once chooses the rows that a look at every row would."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fuelclient.insight.query import parse
from fuelclient.tui.presenters.table import Column, Distinct, Table

WORDS = ("node-1", "node-2", "keystone", "", "Neutron")


class Known(Table):
    """A table that knows the distinct values of its first column."""

    def distinct(self, key: str) -> Distinct | None:
        if key != "node":
            return None
        values = sorted({str(row[0]).lower() for row in self.rows})
        return values, [values.index(str(row[0]).lower()) for row in self.rows]


rows_ = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(WORDS)), max_size=12)
terms = st.lists(
    st.builds(
        "{}{}{}".format, st.sampled_from(("", "!")), st.sampled_from(("", "node:", "task:")), st.sampled_from(WORDS[:3])
    ),
    max_size=3,
)


@given(rows=rows_, words=terms, joint=st.sampled_from((" ", " or ")), inverted=st.booleans())
def test_both_ways_choose_the_same_rows(
    rows: list[tuple[str, str]], words: list[str], joint: str, inverted: bool
) -> None:
    columns = (Column("node", "node"), Column("task", "task"))
    plain, knowing = Table(columns, rows), Known(columns, rows)
    query = parse(joint.join(words), plain.keys)
    query = query.inverted() if inverted else query

    assert knowing.select(query) == plain.select(query)
