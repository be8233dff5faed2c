"""The nearest name is the one that Python's own comparison finds, and searching it for thousands of words ends soon."""

from __future__ import annotations

import difflib

import pytest
from building import layers_from, snapshot
from hypothesis import given
from hypothesis import strategies as st

from fuelclient.plan.preview import PreviewOptions
from fuelclient.plan.study import Study
from fuelclient.similar import Similar

WORDS = st.text("ab-é1", max_size=12) | st.sampled_from(["controller", "a" * 30, "compute", "primary-controller"])


@given(WORDS, st.lists(WORDS, max_size=12))
def test_the_nearest_is_pythons(word: str, names: list[str]) -> None:
    wanted = difflib.get_close_matches(word, sorted(set(names)), n=1, cutoff=0.6)
    assert Similar(names).nearest(word) == (wanted[0] if wanted else "")


def test_few_names_are_compared_letter_by_letter(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[str] = []

    class Matcher(difflib.SequenceMatcher[str]):
        def ratio(self) -> float:
            compared.append("")
            return super().ratio()

    monkeypatch.setattr(difflib, "SequenceMatcher", Matcher)
    tasks = [{"id": f"task-{number}", "type": "skipped", "requires": [f"tusk-{number}"]} for number in range(2000)]
    hints = [finding.hint for finding in Study(snapshot(layers_from({"release": tasks})), PreviewOptions()).findings]
    assert "Did you mean task-7?" in hints
    assert len(hints) >= 2000
    assert len(compared) <= 200 * 40


def test_long_words_have_no_nearest_name() -> None:
    assert not Similar(["a" * 300, "b"]).nearest("a" * 299)
