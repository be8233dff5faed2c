"""No command that lists, uploads, downloads or executes sends more than twice the requests of the original client."""

from __future__ import annotations

from pathlib import Path

import pytest
from recordings import TOKEN, Replay
from request_counts import COUNTED, FACTOR, requests_of

from fuelclient.model.graph import Level, OwnerRef

pytestmark = pytest.mark.corpus


@pytest.mark.parametrize("text", COUNTED, ids=lambda text: text.removeprefix("fuel2 "))
def test_requests(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OS_TOKEN", TOKEN)
    ours, theirs, done = requests_of(text, tmp_path)
    assert done.code == 0, done
    assert 1 <= ours <= FACTOR * theirs


def test_no_environment_is_asked_for_the_name_of_a_plugin() -> None:
    replay = Replay("plugins: sync, list, get, enable, refusals, links, delete")
    owner = replay.backend().graphs.owner(OwnerRef(Level.PLUGIN, 2))
    assert owner.label == "plugin detach-rabbitmq-1.1.2"
    assert [request for request in replay.asked if not request.endswith(" version")] == ["GET plugins/2/"]
