"""Our server against the recordings of a real master: statuses, kinds of bodies, keys, and the words of refusals.

`tests/cases/server-story` has every difference with its reason; one that has gone, or is not there, is an error.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from story import Story

pytestmark = pytest.mark.corpus

CASES = sorted((Path(__file__).parents[2] / "cases" / "server-story").glob("*.yaml"))


def stated() -> list[dict[str, Any]]:
    return [group for path in CASES for group in yaml.safe_load(path.read_text(encoding="utf-8"))["groups"]]


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    told = Story(tmp_path_factory.mktemp("story"))
    told.tell()
    return told


def test_server_answers_recorded_requests_like_the_master(story: Story) -> None:
    wanted = {request: set(differs) for group in stated() for request, differs in group["requests"].items()}
    assert story.differences == wanted
    assert story.told > 500


def test_every_difference_has_one_reason() -> None:
    requests = [request for group in stated() for request in group["requests"]]
    assert len(requests) == len(set(requests))
    assert all(group["because"] for group in stated())
