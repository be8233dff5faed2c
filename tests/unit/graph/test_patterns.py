"""Patterns are matched in linear time and mean what they mean to `re.match`; others are refused with their place."""

from __future__ import annotations

import functools
import re

import pytest
from building import layers_from, snapshot
from hypothesis import given
from hypothesis import strategies as st

from fuelclient.graph.match import Names, Regex, Unbounded, beginning, is_refused, matches, pattern_error
from fuelclient.plan.preview import PreviewOptions
from fuelclient.plan.study import Study

WORDS = [
    "role",
    "db",
    "a",
    "ab",
    "aab",
    "aabb",
    "b",
    "primary-db",
    "db_2",
    "x.y",
    "",
    "é",
    "K",
    "aé",
    "Role",
    "a b",
    "٣",
]

ATOMS = st.sampled_from([
    "a", "b", "ab", "-", r"\.", ".", r"\d", r"\w", r"\s", r"\S", r"\W", r"\D", "[ab]", "[^ab]", "[a-c_]", r"[^\W_]",
    r"[\s-]", "é", "[^é]", "$", "^", r"\A", r"\Z",
])  # fmt: skip


def grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    repeated = st.tuples(inner, st.sampled_from(["*", "+", "?", "*?", "+?", "{2}", "{1,3}", "{,2}", "{2,}?"]))
    return st.one_of(
        st.lists(inner, min_size=1, max_size=4).map("".join),
        repeated.map(lambda pair: f"(?:{pair[0]}){pair[1]}"),
        st.tuples(inner, inner).map(lambda pair: f"({pair[0]}|{pair[1]})"),
        inner.map(lambda text: f"(?i:{text})"),
    )


@given(st.recursive(ATOMS, grown, max_leaves=8))
def test_a_pattern_matches_the_names_that_python_matches(pattern: str) -> None:
    meant = tuple(name for name in WORDS if re.match(pattern, name))
    assert tuple(name for name in WORDS if matches(f"/{pattern}/", name)) == meant
    many = Names([*WORDS, *(f"{name}{number}" for name in WORDS for number in range(3))])
    assert many.matching(f"/{pattern}/") == tuple(name for name in many if re.match(pattern, name))


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$", "(a*)*b$", "(.*a){12}b$"])
def test_a_pattern_that_python_would_try_for_ever_ends(pattern: str) -> None:
    name = "a" * 5000
    assert not matches(f"/{pattern}/", f"{name}c")
    assert Names([f"{name}c{number}" for number in range(40)]).matching(f"/{pattern}/") == ()


def test_a_name_with_a_newline_is_matched_alone() -> None:
    names = Names(["ab", "a\nb", *(f"ab{number}" for number in range(30))])
    assert names.matching(r"/a\nb/") == ("a\nb",)
    assert "a\nb" not in names.matching("/a.b/")


@pytest.mark.parametrize("pattern", [r"b(?=a)", r"(?<!a)b", r"(a)\1", r"(?>a)b", r"a++b", r"(a)(?(1)b|c)"])
def test_what_cannot_be_linear_is_refused(pattern: str) -> None:
    with pytest.raises(Unbounded):
        Regex(pattern)
    assert is_refused(f"/{pattern}/")


@pytest.mark.parametrize("pattern", ["(?!ab)", "^(?!(?:(p|db))$).*$", "(?=a)(?!aab).*b", "(?!a)"])
def test_a_pattern_may_begin_with_look_ahead(pattern: str) -> None:
    assert tuple(name for name in WORDS if matches(f"/{pattern}/", name)) == tuple(
        name for name in WORDS if re.match(pattern, name)
    )
    many = Names([*WORDS, *(f"{name}{number}" for name in WORDS for number in range(3))])
    assert many.matching(f"/{pattern}/") == tuple(name for name in many if re.match(pattern, name))


@pytest.mark.parametrize("word", ["/(/", "/a**/", "/[z-a]/", "plain", "/a{99999999999999999999}/"])
def test_what_python_refuses_is_no_matter_of_ours(word: str) -> None:
    assert not is_refused(word)


def test_a_huge_repeat_is_refused() -> None:
    assert "large" in pattern_error("/(a{1000}){1000}/")


@pytest.mark.parametrize(
    ("word", "letters"),
    [("/db.*/", "db"), ("/dbs?/", "db"), ("/db{2}/", "d"), ("/a|b/", ""), ("/^x+/", "x"), ("//", ""), ("/", "")],
)
def test_the_letters_with_which_every_match_begins(word: str, letters: str) -> None:
    assert beginning(word) == letters


def test_stored_nonlinear_pattern_is_an_error_of_the_graph() -> None:
    stated = layers_from({"release": [{"id": "t", "type": "shell", "roles": ["/a(?!x)/"], "requires": [r"/(a)\1/"]}]})
    errors = [finding for finding in Study(snapshot(stated), PreviewOptions()).findings if finding.code == "G015"]
    assert [(str(error.severity), error.task) for error in errors] == [("error", "t")] * 2


@pytest.mark.parametrize("group", ["(?:a|({}|b))+", "(?:a{})", "(a{})", r"(?i:\(a[(]{})"])
def test_patterns_nest_to_one_depth_wherever_they_are_read(group: str) -> None:
    def error(times: int, calls: int = 0) -> str:
        if calls:
            return error(times, calls - 1)
        nested = functools.reduce(lambda inner, _: group.replace("{}", inner), range(times), "[b]")
        try:
            Regex(nested).for_text("b")
        except re.error as refusal:
            return str(refusal)
        return ""

    outcomes = [error(times) for times in range(1, 40)]
    most = 32 // group.replace(r"\(", "").replace("[(]", "").count("(")
    assert outcomes == [""] * most + ["it has groups that are nested more than 32 deep"] * (39 - most)
    assert [error(times, calls=300) for times in range(1, 40)] == outcomes
    assert error(900) == outcomes[-1]


@pytest.mark.parametrize("times", [33, 400, 900])
@pytest.mark.parametrize("calls", [0, 600])
def test_what_is_nested_too_deeply_is_refused_wherever_it_is_read(times: int, calls: int) -> None:
    def refused(calls: int) -> bool:
        re.purge()
        return refused(calls - 1) if calls else is_refused(f"/{'(' * times}a{')' * times}/")

    assert refused(calls)


def test_brackets_are_counted_in_linear_time() -> None:
    assert "nested" in pattern_error(f"/{'(' * 33}{'[' * 200_000}/")
