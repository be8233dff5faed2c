"""The pictures in the documentation are those that the tests take."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_picture_in_the_docs_equals_the_taken_one(copied: str, original: str) -> None:
    shown = (ROOT / "docs" / copied).read_bytes()
    taken = (ROOT / "tests" / "snapshots" / "pictures" / f"{original}.svg").read_bytes()
    assert shown == taken, f"docs/{copied} is not {original}.svg: `make renew` takes both"


def test_a_picture_of_the_documentation_is_shown_in_its_guide(copied: str, original: str) -> None:
    assert f"]({copied})" in (ROOT / "docs" / "tui.md").read_text(encoding="utf-8"), f"nobody sees {original}"
