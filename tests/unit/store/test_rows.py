"""Texts of columns: what was encoded comes back, and a damaged text is an error."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuelclient.store.rows import decode, encode, encoded_or_null, mapping, names

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=8,
)


@given(_VALUES)
def test_what_was_encoded_comes_back_as_json_reads_it(value: Any) -> None:
    assert repr(decode(encode(value))) == repr(value) == repr(json.loads(encode(value)))


@pytest.mark.parametrize("text", ["", "{", '"a', '{"a":1}}', "[1] [2]", "1 2", "null,", "nul"])
def test_a_damaged_text_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"value|delimiter|Unterminated|property name"):
        decode(text)


def test_what_is_empty_needs_no_text() -> None:
    assert encoded_or_null({}) is encoded_or_null([]) is encoded_or_null(()) is None
    assert (mapping(None), names(None)) == ({}, ())
    assert names(encoded_or_null(["a", "b"])) == ("a", "b")
