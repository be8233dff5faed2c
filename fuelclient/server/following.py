"""What our own clients need of a run beyond Nailgun's paths: its events, what tasks printed, stop, resume."""

from __future__ import annotations

from typing import Any

from fuelclient.serializers.history import event_to, logs_to
from fuelclient.server.routes import Call, Kind, Query, Route
from fuelclient.server.schemas import RUN, TRUTH, closed, listed, opened
from fuelclient.server.transactions import DETAILS, answer

_MOST = 1000
"""Events of one answer."""


def events(call: Call) -> Any:
    """The events after `after`, at most `limit`."""
    limit = min(call.only.get("limit", _MOST), _MOST)
    after = call.only.get("after", 0)
    return [event_to(one) for one in call.backend.runs.events(call.id("transaction_id"), after=after, limit=limit)]


def logs(call: Call) -> Any:
    """What the instance of `task` on `node` printed."""
    found = call.backend.runs.logs(call.id("transaction_id"), call.only["task"], call.only["node"])
    return logs_to(found)


def stop(call: Call) -> Any:
    """What runs may end, nothing more starts; with `kill` what runs is ended too."""
    kill = (call.body or {}).get("kill", False)
    return answer(call, call.backend.runs.stop(call.id("transaction_id"), kill=kill))


def resume(call: Call) -> Any:
    """A run whose runner was killed goes on."""
    again = (call.body or {}).get("rerun_interrupted", False)
    found = call.backend.runs.resume(call.id("transaction_id"), rerun_interrupted=again)
    return answer(call, found)


_ONE = "transactions/{transaction_id}"
_EVENT = opened(("id", "time", "kind", "status"), id={"type": "integer"}, time={"type": "string"})
_LOGS = opened(("task_name", "node_id", "output", "errors"), output={"type": "string"}, errors={"type": "string"})
_EVENTS = (
    Query("after", Kind.NUMBER, "the last event that is known", least=0),
    Query("limit", Kind.NUMBER, "at most so many"),
)
_LOG = (
    Query("task", Kind.WORD, "the id of the task", required=True),
    Query("node", Kind.WORD, "an id, or master", required=True),
)

ROUTES = (
    Route("GET", f"{_ONE}/events", events, "What happened, in its order", {200: listed(_EVENT)}, _EVENTS),
    Route("GET", f"{_ONE}/logs", logs, "What a task instance printed", {200: _LOGS}, _LOG),
    Route("POST", f"{_ONE}/stop", stop, "Stop a run", {202: RUN}, (DETAILS,), body=closed(kill=TRUTH),
          body_required=False),
    Route("POST", f"{_ONE}/resume", resume, "Go on with a run whose runner was killed", {202: RUN},
          (DETAILS,), body=closed(rerun_interrupted=TRUTH), body_required=False),
)  # fmt: skip
