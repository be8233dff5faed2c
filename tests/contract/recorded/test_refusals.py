"""What a real master refuses: each refusal has its own text, and the exit code of its kind."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from contract.recorded.conftest import OnMaster
from faulty_master import Request, after_version, serving
from recordings import Line, Replay, line, lines

from fuelclient.backends.base import Backend
from fuelclient.backends.connected import connected
from fuelclient.backends.http.answers import About, Response, refused
from fuelclient.commands.exits import Exit, exit_of
from fuelclient.errors import Conflict, FuelError, NotFound, Unavailable, Unsupported, UsageError
from fuelclient.model.run import RunRequest
from fuelclient.settings.master import Master

pytestmark = pytest.mark.corpus

REFUSED = [400, 403, 404, 405, 409, 500]


def error_of(recorded: Line, about: About | None = None) -> FuelError:
    """The error that a recorded answer becomes; its headers are merged as the transport merges them."""
    kind = ", ".join(value for name, value in recorded.response_headers if name == "Content-Type")
    return refused(Response(recorded.method, recorded.path, recorded.status, kind, recorded.body), about)


def stated(recorded: Line) -> str:
    """What the master says in a recorded answer, on one line."""
    body = recorded.response_body
    return " ".join((body if isinstance(body, str) else str(body["message"])).split())


@pytest.mark.parametrize("status", REFUSED)
def test_every_refusal_says_why_on_one_line(status: int) -> None:
    for recorded in lines():
        if recorded.status != status:
            continue
        told = str(error_of(recorded))
        assert "Traceback" not in told, recorded.n
        assert len(told.splitlines()) == 1, recorded.n
        assert len(told) < 1200, recorded.n
        reason = stated(recorded).partition(" Failed validating")[0].rstrip(" .")
        if reason.startswith("{"):
            continue  # JSON in JSON: see below
        if status < 500 and reason not in ("", "None"):
            assert reason in told, recorded.n


@pytest.mark.parametrize(
    ("number", "about", "error", "told"),
    [
        (565, None, Conflict, "Stopping deployment task is already launched."),
        (428, None, Conflict, "Cannot perform the actions because there are another running tasks."),
        (436, None, Conflict, "Can't reset environment '1' when running deployment task exists."),
        (146, None, Conflict, "Changing cluster on the fly is not allowed."),
        (72, None, Conflict, "Release with ID '1' is not deployable."),
        (206, None, Conflict, "Node group 'rack2' already exists in environment 3."),
        (71, None, Conflict, "Environment with this name already exists."),
        (257, None, Conflict, "Can't delete plugin which is enabled for some environment."),
        (429, None, Conflict, "You cannot delete running task manually."),
        (73, About("release", 77), NotFound, "Release 77 does not exist. Invalid release ID."),
        (143, About("node", "999"), NotFound, "Nodes with ids 999 were not found."),
        (142, About("node", "3"), UsageError, "nosuch are not valid roles for node in environment 1."),
        (525, None, UsageError, "[] is too short."),
        (283, About("graph type", "nosuch"), NotFound, "Graph with type: nosuch is not defined."),
        (606, About("sequence", "x"), NotFound, "Release 99 does not exist."),
        (12, About("thing", 1), Unsupported, "/api/v1/nosuch/ does not exist on this master"),
        (536, None, Unsupported, "This master has no GET /api/v1/graphs/execute/."),
        (405, None, Unsupported, "The plugin hooks are not supported anymore."),
        (105, None, Unavailable, "answered 500: KeyError: 'editable'. Look at its logs."),
        (523, None, Unavailable, "answered 500: TypeError: sequence item 0: expected string, int found."),
        (26, None, Unavailable, "answered 500: IntegrityError:"),
    ],
)
def test_a_refusal_is_of_its_kind(number: int, about: About | None, error: type[FuelError], told: str) -> None:
    found = error_of(line(number), about)
    assert type(found) is error
    assert told in str(found)


@pytest.mark.parametrize(
    ("number", "ask", "code"),
    [
        (86, lambda backend: backend.clusters.get(99), Exit.NOT_FOUND),
        (112, lambda backend: backend.nodes.get(999), Exit.NOT_FOUND),
        (449, lambda backend: backend.runs.get(99999), Exit.NOT_FOUND),
        (565, lambda backend: backend.runs.stop_cluster(1), Exit.CONFLICT),
        (574, lambda backend: backend.runs.stop_cluster(99), Exit.NOT_FOUND),
        (20, lambda backend: backend.releases.get(99), Exit.NOT_FOUND),
        (235, lambda backend: backend.plugins.get(999), Exit.NOT_FOUND),
        (614, lambda backend: backend.sequences.get(99), Exit.NOT_FOUND),
    ],
)
def test_the_backend_gives_them_exit_codes(number: int, ask: Callable[[Backend], Any], code: Exit) -> None:
    with pytest.raises(FuelError) as caught:
        ask(Replay(number).backend())
    assert exit_of(caught.value) == code


def test_a_refusal_reaches_the_terminal(on_master: OnMaster) -> None:
    done = on_master(Replay(566), "env", "stop-deployment", 1)
    assert (done.code, done.out) == (Exit.CONFLICT, "")
    assert "Stopping deployment task is already launched." in done.err


def test_conflict_of_state_is_not_a_missing_permission() -> None:
    with pytest.raises(Conflict, match="Release with ID '1' is not deployable"):
        Replay(77).backend().clusters.create("env-u", 1)


def slow(request: Request) -> None:
    """Never answer a request that writes."""
    if request.command == "GET":
        request.json([{"id": "deploy", "type": "shell"}])  # the merged tasks, which are checked before a run begins
        return
    for _ in request.until_stopped():
        time.sleep(0.01)


def test_a_run_that_was_not_confirmed_may_have_begun() -> None:
    with serving(after_version(slow)) as server:
        backend = connected(Master(server.url, total_timeout=2))
        with pytest.raises(Unavailable, match="may have begun") as caught:
            backend.runs.begin(RunRequest(7))
        assert "fuel2 task list --env 7" in str(caught.value)
        assert [asked.method for asked in server.asked].count("POST") == 1
        backend.close()


def test_a_run_that_was_never_asked_for_has_not_begun() -> None:
    backend = connected(Master("http://127.0.0.1:1"))
    with pytest.raises(Unavailable) as caught:
        backend.runs.begin(RunRequest(7))
    assert "may have begun" not in str(caught.value)
