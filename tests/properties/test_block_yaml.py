"""What is written as YAML in block style here is what PyYAML writes, byte for byte."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from fuelclient.expressions.block_yaml import to_yaml
from fuelclient.expressions.work import Work

DOCUMENTS: list[Any] = [
    1, 1.5, None, True, "a", "", [], {}, "x\ny", [[], {}], {"a": []}, {1: 2, "a": 3}, {None: 1}, "é " * 100, "null",
    "1", "a: b", {"k" * 200: 1}, "- x", "&a", {"b": {"c": ["x y " * 40, {"d": "0x10"}]}, "a": "yes"},
    [[[1], 2], {"t": "\t"}],
]  # fmt: skip
WORDS = """
    yes no null ~ true y 1 1.5 1e3 .5 -1 +1 0x1f 0o7 08 1_0 10:20 2016-01-01 = --- ... a: :a a#b it's " [ { *a &a !a %
    << @ ` 52:54:00:aa:bb:cc 192.168.0.1/24
""".split()  # noqa: SIM905 - a list would take 30 lines
SPACED = ("a: b", "a #b", "# c", " ", " a", "a ", "a  b", "a b", "a\nb", "\n", "\t", "\u2028", "\U0001f600", "")
LONG = ("x" * 90, "word " * 30, "word " * 18 + "end", "é é " * 20, f"ssh-rsa {'A' * 200} key", "a" * 70 + " b c d e f")
TEXTS = (*WORDS, *SPACED, *LONG)
texts = st.sampled_from(TEXTS) | st.text(alphabet="ab01 -:#.,'\"\\\n\t[]{}&*!|>%@`?=~/_é\u2028", max_size=140)
numbers = st.integers() | st.floats(allow_nan=False) | st.booleans() | st.none()
values = st.recursive(
    texts | numbers,
    lambda below: st.lists(below, max_size=4) | st.dictionaries(texts | numbers, below, max_size=4),
    max_leaves=25,
)


def assert_same(data: Any) -> None:
    plain_dumper = type("Plain", (yaml.CSafeDumper,), {"ignore_aliases": lambda *_: True})
    assert to_yaml(data, Work()) == yaml.dump(data, Dumper=plain_dumper, default_flow_style=False)


@pytest.mark.parametrize("data", [*DOCUMENTS, DOCUMENTS])
def test_documents_are_those_of_the_safe_dumper_without_aliases(data: Any) -> None:
    assert_same(data)


@pytest.mark.parametrize("text", TEXTS)
def test_texts_as_keys_and_values_at_several_depths(text: str) -> None:
    assert_same({text: text, "a": [text, [text, {text: [text]}], {"b": {"c" * 60: text, text: {}}}]})


@given(values)
def test_random_documents(data: Any) -> None:
    assert_same(data)


@pytest.mark.slow
@settings(max_examples=5000)
@given(values)
def test_many_random_documents(data: Any) -> None:
    assert_same(data)
