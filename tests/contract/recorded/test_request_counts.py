"""No command that lists, uploads, downloads or executes sends more than twice the requests of the original client."""

from __future__ import annotations

from pathlib import Path

import pytest
from recordings import TOKEN
from request_counts import COUNTED, FACTOR, requests_of

pytestmark = pytest.mark.corpus


@pytest.mark.parametrize("text", COUNTED, ids=lambda text: text.removeprefix("fuel2 "))
def test_requests(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OS_TOKEN", TOKEN)
    ours, theirs, done = requests_of(text, tmp_path)
    assert done.code == 0, done
    assert 1 <= ours <= FACTOR * theirs
