"""The replay of recordings answers as its README says."""

from __future__ import annotations

import pytest
import requests
from recordings import HOST, TOKEN, Adapter, NotRecorded, Replay, commands, line, lines

pytestmark = pytest.mark.corpus


def ask(replay: Replay, method: str, path: str, **options: object) -> requests.Response:
    """The answer of a replay below `/api/v1/`, as a program that uses requests gets it."""
    session = requests.Session()
    session.mount("http://", Adapter(replay))
    options.setdefault("headers", {"X-Auth-Token": TOKEN})
    return session.request(method, f"{HOST}/api/v1/{path}", **options)  # type: ignore[arg-type]  # what requests takes


def test_all_lines_are_read() -> None:
    assert [line.n for line in lines()] == list(range(1, 660))
    assert line(109).request_body == line(102).response_body
    assert len(line(114).response_body) == 50
    assert len(commands()) > 90


def test_a_path_is_answered_in_the_order_of_its_lines() -> None:
    replay = Replay("runs: one that fails")
    seen = [ask(replay, "GET", "transactions/60/").json()["status"] for _ in range(3)]
    assert seen == ["running", "error", "error"]
    assert replay.asked == 3 * ["GET transactions/60/"]


def test_slashes_at_the_end_do_not_matter() -> None:
    replay = Replay("clusters: create, refusals, get, update")
    assert ask(replay, "GET", "clusters/1").json() == line(85).response_body
    with pytest.raises(NotRecorded):
        ask(replay, "GET", "clusters/1/?nosuch=1")


def test_a_body_chooses_the_line() -> None:
    replay = Replay("runs: the other ways to ask for one")
    refused = ask(replay, "POST", "graphs/execute/", json={"graphs": [], "cluster": 1})
    assert (refused.status_code, refused.json()) == (400, line(525).response_body)
    with pytest.raises(NotRecorded, match="line 523"):
        ask(replay, "POST", "graphs/execute/", json={"cluster": 1})


def test_doubled_headers_and_plain_texts_arrive_unchanged() -> None:
    refused = ask(Replay("runs: stopping"), "PUT", "clusters/1/stop_deployment/")
    assert refused.status_code == 202
    replay = Replay(565)
    refused = ask(replay, "PUT", "clusters/1/stop_deployment/")
    assert refused.headers["Content-Type"] == "text/html, text/plain"
    assert refused.text == line(565).response_body
    with replay.served() as url:
        sent = requests.put(f"{url}/api/v1/clusters/1/stop_deployment/", headers={"X-Auth-Token": TOKEN}, timeout=10)
    assert sent.raw.headers.getlist("Content-Type") == ["text/html", "text/plain"]
    assert sent.content == refused.content


def test_a_read_that_the_step_lacks_is_answered_as_before_it() -> None:
    replay = Replay("runs: one that fails")
    assert (
        ask(replay, "GET", "plugins/").json()
        == max(
            (one for one in lines() if one.path == "/api/v1/plugins/" and one.method == "GET"), key=lambda one: one.n
        ).response_body
    )
    with pytest.raises(NotRecorded):
        ask(replay, "GET", "clusters/77/")


def test_the_version_needs_a_token() -> None:
    replay = Replay(85)
    assert ask(replay, "GET", "version", headers={}).status_code == 401
    assert ask(replay, "GET", "version").json() == line(6).response_body
    assert ask(replay, "GET", "clusters/1/", headers={"X-Auth-Token": "another"}).content == b""


def test_the_backend_over_a_replay_reads_environments() -> None:
    backend = Replay("clusters: create, refusals, get, update").backend()
    assert backend.clusters.get(1).name == line(85).response_body["name"]
    assert backend.version().release == "10.0"
