"""What a master says in a refusal is shown, whatever the shape of its body."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuelclient.backends.http.answers import Response

TEXTS = st.text(alphabet="abcdefghij ", min_size=3).filter(str.strip)
BODIES = st.recursive(
    TEXTS,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3),
        st.dictionaries(st.sampled_from(["message", "error", "errors", "title", "why"]), inner, min_size=1),
        inner.map(lambda data: {"message": json.dumps(data), "errors": []}),
    ),
    max_leaves=6,
)


def said(data: Any) -> str:
    return Response("DELETE", "http://m/api", 400, "application/json", json.dumps(data).encode()).message()


def words(data: Any) -> set[str]:
    """Return the words of all texts in a body, also of JSON in texts."""
    if isinstance(data, dict):
        return set().union(*map(words, data.values()))
    if isinstance(data, list):
        return set().union(*map(words, data))
    try:
        return words(json.loads(data))
    except ValueError:
        return set(data.split())


@given(BODIES)
def test_something_of_every_body_is_said(data: Any) -> None:
    message = said(data)
    assert any(word in message for word in words(data)), message


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"message": "Wrong", "errors": []}, "Wrong"),
        ({"message": "", "errors": ["a", "b"]}, "a; b"),
        ({"message": '{"id": 5, "why": "x"}'}, '{"id": 5, "why": "x"}'),
        ({"message": {"nested": ["a"]}}, '{"nested": ["a"]}'),
        ({"error": {"code": 400, "title": "Bad"}}, "Bad"),
        (["first", "second"], "first; second"),
        ("only", "only"),
        ({"message": None, "errors": []}, ""),
        (None, ""),
        ({}, ""),
    ],
)
def test_a_message_is_found_where_it_is(data: Any, message: str) -> None:
    assert said(data) == message
