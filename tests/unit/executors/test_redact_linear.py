"""Secrets are removed in time that grows with the text only, whatever its shape, and expressions are none."""

from __future__ import annotations

import re
from typing import Any

import pytest

from fuelclient import redact
from fuelclient.redact import MASK, masked_document, masked_text, secrets_of

SHAPES = (
    "abcdef0123", "A=1 ", "a.a.", 'A="', "A='", "A=\"'", "- ", "--a ", "a= ", "a : ", "password='", 'TOKEN="\\', "://a:",
    "a://b:c", "-----BEGIN A", "-----BEGIN PRIVATE KEY-----", "—", "é.", "1.", "x{", "{yaql_exp",
)  # fmt: skip


class Counted:
    """A pattern that counts the characters that it looks through."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self.pattern, self.read = pattern, 0

    def search(self, text: str, start: int, end: int) -> re.Match[str] | None:
        found = self.pattern.search(text, start, end)
        self.read += (found.end() if found else end) - start
        return found

    def match(self, text: str, start: int, end: int | None = None) -> re.Match[str] | None:
        found = self.pattern.match(text, start, len(text) if end is None else end)
        line = text.find("\n", start)
        self.read += (found.end() if found else len(text) if line < 0 else line) - start
        return found


@pytest.mark.parametrize("shape", SHAPES)
def test_a_text_is_read_a_few_times_at_most(shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = [Counted(redact._HEAD), Counted(redact._VALUE)]
    monkeypatch.setattr(redact, "_HEAD", counted[0])
    monkeypatch.setattr(redact, "_VALUE", counted[1])
    text = shape * (40_000 // len(shape))
    masked_text(text)
    assert sum(each.read for each in counted) <= 4 * len(text) + 100


def test_six_hundred_pairs_on_a_line_are_no_recursion() -> None:
    assert masked_text("A=1 " * 6000 + "PASSWORD=x") == "A=1 " * 6000 + "PASSWORD=***"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('cmd="PASSWORD=x" other=y', f'cmd="PASSWORD={MASK}" other=y'),
        ("environment: PASSWORD=x y; b=1", f"environment: PASSWORD={MASK}; b=1"),
        ("a=b='TOKEN=x' c", f"a=b='TOKEN={MASK}' c"),
        ('{"api_key": "a\\"b", "x": 1}', f'{{"api_key": {MASK}, "x": 1}}'),
        ("x—password=1", f"x—password={MASK}"),
        ("0pwd=1", f"0pwd={MASK}"),
        ("password: {yaql_exp: $.x}", "password: {yaql_exp: $.x}"),
        ("amqp://nova:x@10.0.0.1/", f"amqp://nova:{MASK}@10.0.0.1/"),
    ],
)
def test_values_of_secret_names_are_masked(text: str, expected: str) -> None:
    assert masked_text(text) == expected


def test_the_text_of_an_expression_is_no_secret() -> None:
    task: dict[str, Any] = {"parameters": {"password": {"yaql_exp": "$.x"}, "cmd": {"yaql_exp": "$.x.y"}}}
    assert secrets_of(task) == frozenset()
    assert masked_document(task)["parameters"]["cmd"] == {"yaql_exp": "$.x.y"}
    assert secrets_of({"password": {"yaql_exp": "$.x", "other": "s3cret"}}) == {"s3cret"}
