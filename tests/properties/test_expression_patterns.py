"""Random patterns: what RE2 helps to find in expressions is what Python finds alone."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

from fuelclient.expressions.patterns import Pattern, linear

SIMPLE = (*"ab.^$é", "[ab]", "[^a]", r"\d", r"\w", r"\b", r"\B", r"\n", r"\Z", r"\1", "(?=a)", "(?<!b)")
ATOMS = (*SIMPLE, "(a)", "(b|)", "(|b)", "(?:ab|a)", "(?P<n>a|ab)")
REPEATS = ("", "", "", "*", "+", "?", "{1,2}", "*?", "+?")
LETTERS = "aaabbb1 é\nA\u017f"
FLAGS = (0, 0, re.UNICODE, re.IGNORECASE, re.MULTILINE, re.DOTALL, re.IGNORECASE | re.MULTILINE)


def pattern(chance: random.Random, depth: int = 2) -> str:
    parts = [chance.choice(ATOMS) + chance.choice(REPEATS) for _ in range(chance.randint(1, 3))]
    if depth and chance.random() < 0.5:
        opened = chance.choice(("(", "(?:"))
        parts.append(f"{opened}{pattern(chance, depth - 1)}){chance.choice(REPEATS)}")
    if chance.random() < 0.3:
        parts.insert(chance.randrange(len(parts)), "|")
    return "".join(parts)


def found(matching: Any, text: str, count: int, new: str) -> Any:
    matches = [*matching.finditer(text)][: count or None]
    spans = [(match.span(), match.groups(), match.groupdict()) for match in matches]
    first = matching.search(text)
    marked = matching.sub(lambda match: f"<{match.start()}>", text, count)
    return first and first.span(), spans, matching.split(text, count), matching.sub(new, text, count), marked


def test_matches_are_those_of_python() -> None:
    chance = random.Random()  # noqa: S311 - which patterns are compared
    compared = 0
    while compared < 2_000:
        written, flags = pattern(chance), chance.choice(FLAGS)
        text = "".join(chance.choices(LETTERS, k=chance.randint(0, 9)))
        try:
            python = re.compile(written, flags)
        except re.error:
            continue
        arguments = text, chance.choice((-1, 0, 0, 1, 2)), chance.choice(("x", "[\\g<0>]", ""))
        assert found(Pattern(written, flags), *arguments) == found(python, *arguments), (written, flags, arguments)
        compared += 1


@pytest.mark.parametrize("written", [r"\B", r"\b", "^$", "a*", r"a$", r"\w\B"])
@pytest.mark.parametrize("text", ["", "a", "aa", "a\n", "é"])
def test_a_pattern_that_re2_decides_matches_where_that_of_python_does(written: str, text: str) -> None:
    regex = linear(written, text)
    assert regex is None or (regex.search(text) is None) == (re.search(written, text) is None)
