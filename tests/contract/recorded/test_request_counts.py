"""No command sends more than one request more than the original client, and each asks for one token."""

from __future__ import annotations

from pathlib import Path

import pytest
from recordings import Replay
from request_counts import COUNTED, CREDENTIALS, LAYERS, requests_of, sent

from fuelclient.model.graph import Level, OwnerRef

pytestmark = pytest.mark.corpus


@pytest.fixture(autouse=True)
def _credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize("text", COUNTED, ids=lambda text: text.removeprefix("fuel2 "))
def test_requests(text: str, tmp_path: Path) -> None:
    done = requests_of(text, tmp_path)
    assert done.done.code == 0, done
    assert 1 <= done.ours <= done.theirs + 1, done
    assert done.tokens == 1, done


@pytest.mark.parametrize(("layer", "theirs"), LAYERS.items())
def test_layers_that_are_not_shown_are_not_read(layer: str, theirs: int, tmp_path: Path) -> None:
    done = sent(f"fuel2 graph list -e 1 {layer}", Replay(345, 349), theirs, tmp_path)
    assert done.done.code == 0, done
    assert 1 <= done.ours <= theirs + 1, done


def test_no_environment_is_asked_for_the_name_of_a_plugin() -> None:
    replay = Replay("plugins: sync, list, get, enable, refusals, links, delete")
    owner = replay.backend().graphs.owner(OwnerRef(Level.PLUGIN, 2))
    assert owner.label == "plugin detach-rabbitmq-1.1.2"
    assert [request for request in replay.asked if not request.endswith(" version")] == ["GET plugins/2/"]
