"""The routes for sequences of graphs."""

from __future__ import annotations

from typing import Any

from fuelclient.errors import Conflict, NotFound
from fuelclient.model.run import RunRequest
from fuelclient.serializers.sequence import sequence_to
from fuelclient.server.errors import HttpError, refusing
from fuelclient.server.routes import Call, Query, QueryType, Route, caller
from fuelclient.server.runs import begin
from fuelclient.server.schemas import NAME, NUMBER, RUN_FLAGS, SEQUENCE, SEQUENCE_GRAPHS, TASK_RUN, closed, listed


def list_all(call: Call) -> Any:
    release, cluster = call.query.get("release"), call.query.get("cluster")
    return list(map(sequence_to, call.backend.sequences.list(release_id=release, cluster_id=cluster)))


def create(call: Call) -> Any:
    name, release_id = call.body["name"], call.body["release"]
    exists_text = f'Sequence with name "{name}" already exist for release {release_id}.'  # Nailgun's words
    no_release_text = f"Object 'Release' with UID={release_id} is not found in DB"
    with refusing(Conflict, 409, exists_text), refusing(NotFound, 404, no_release_text, noun="release"):
        return sequence_to(call.backend.sequences.create(release_id, name, _graph_types(call)))


def update(call: Call) -> Any:
    name, types = call.body.get("name"), _graph_types(call) if "graphs" in call.body else None
    return sequence_to(call.backend.sequences.update(call.id("sequence_id"), name=name, graph_types=types))


def execute(call: Call) -> Any:
    sequence = call.backend.sequences.get(call.id("sequence_id"))
    cluster = call.backend.clusters.get(call.body["cluster"])
    if cluster.release_id != sequence.release_id:
        error = NotFound(
            "sequence", f"{sequence.id} for environment {cluster.id}",
            hint=f"It belongs to release {sequence.release_id}, the environment to release {cluster.release_id}.",
        )  # fmt: skip
        raise HttpError(404, error, f"Sequence '{sequence.name}' is not found for cluster {cluster.name}")
    fields = {"force": "force", "dry_run": "dry_run", "noop": "noop_run", "trace": "debug"}
    flags = {field: call.body.get(name, False) for field, name in fields.items()}
    return begin(call, RunRequest(cluster.id, sequence.graph_types, **flags))


def _graph_types(call: Call) -> list[str]:
    return [item["type"] for item in call.body["graphs"]]


_PATH = "sequences/{sequence_id}"
_UPDATE = {**closed(name=NAME, graphs=SEQUENCE_GRAPHS), "minProperties": 1}
_FILTERS = (
    Query("release", QueryType.NUMBER, "only sequences of this release"),
    Query("cluster", QueryType.NUMBER, "only sequences of the release of this environment"),
)

ROUTES = (
    Route("GET", "sequences", list_all, "List sequences", {200: listed(SEQUENCE)}, _FILTERS),
    Route("POST", "sequences", create, "Create a sequence", {201: SEQUENCE},
          body=closed(("name", "release", "graphs"), name=NAME, release=NUMBER, graphs=SEQUENCE_GRAPHS)),
    Route("GET", _PATH, caller(lambda backend: backend.sequences.get, sequence_to), "Show a sequence", {200: SEQUENCE}),
    Route("PUT", _PATH, update, "Change a sequence", {200: SEQUENCE}, body=_UPDATE),
    Route("PATCH", _PATH, update, "Change a sequence", {200: SEQUENCE}, body=_UPDATE),
    Route("DELETE", _PATH, caller(lambda backend: backend.sequences.delete), "Delete a sequence", {204: None}),
    Route("POST", f"{_PATH}/execute", execute, "Run the graphs of a sequence", {202: TASK_RUN},
          body=closed(("cluster",), cluster=NUMBER, **RUN_FLAGS)),
)  # fmt: skip
