"""Environments, and what plans are computed from, as a whole: for our own clients. Nailgun has no such paths."""

from __future__ import annotations

from typing import Any

from fuelclient.model.graph import DEFAULT_TYPE
from fuelclient.model.run import RunRequest
from fuelclient.serializers.environment import environment_to, inputs_to
from fuelclient.server.routes import Call, Kind, Query, Route
from fuelclient.server.schemas import MAPPING, opened


def environment(call: Call) -> Any:
    return environment_to(call.backend.clusters.environment(call.id("cluster_id")))


def inputs(call: Call) -> Any:
    """What the graphs of the types are planned from; with `force`, nothing that ran before is remembered."""
    graph_types = tuple(call.only.get("graph_types", ())) or (DEFAULT_TYPE,)
    return inputs_to(
        call.backend.runs.inputs(RunRequest(call.id("cluster_id"), graph_types, force=call.truth("force")))
    )


_ENVIRONMENT = opened(("cluster", "release"), cluster=MAPPING, release=MAPPING)
_INPUTS = opened(("environment", "layers", "facts"), environment=MAPPING, layers=MAPPING, facts=MAPPING)
_QUERY = (
    Query("graph_types", Kind.WORDS, "default: default"),
    Query("force", Kind.TRUTH, "as if nothing had ever run"),
)

ROUTES = (
    Route("GET", "clusters/{cluster_id}/environment", environment,
          "An environment with everything it is made of; Nailgun has none", {200: _ENVIRONMENT}),
    Route("GET", "clusters/{cluster_id}/inputs", inputs, "What plans are computed from; Nailgun has none",
          {200: _INPUTS}, _QUERY),
)  # fmt: skip
