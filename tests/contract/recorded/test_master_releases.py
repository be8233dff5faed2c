"""Importing releases into a real master."""

from __future__ import annotations

import json

import pytest
from command_line import fuel2
from recordings import TOKEN, Replay, line

pytestmark = pytest.mark.corpus


@pytest.fixture(autouse=True)
def _token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OS_TOKEN", TOKEN)


def test_the_ids_of_a_fixture_are_not_sent() -> None:
    """The recorded request with the id of another release ends with 500; the one without it creates the release."""
    fixture = line(26).request_body
    assert (line(26).status, fixture["id"]) == (500, 1)
    replay = Replay(27)
    with replay.served() as url:
        done = fuel2("--server", url, "release", "import", "-", "-f", "json", stdin=json.dumps(fixture))
    assert done.code == 0, done
    assert [(row["id"], row["name"]) for row in done.json] == [(4, "Newton copy")]
    assert [asked for asked in replay.asked if asked.startswith("POST")] == ["POST releases/"]
