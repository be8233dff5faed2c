"""Our server against the recordings of a real master: statuses, kinds of bodies, keys, and the words of refusals.

`tests/cases/server-story` has every difference with its reason; one that has gone, or is not there, is an error.
"""

from __future__ import annotations

from typing import Any

import pytest
from case_files import all_cases
from story import Story

pytestmark = pytest.mark.corpus


def stated() -> list[dict[str, Any]]:
    return [group for case in all_cases("server-story") for group in case["groups"]]


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
