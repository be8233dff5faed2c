"""The OpenAPI document against the server: requests that it allows, and requests that it does not, on every path."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from package_trees import write_package
from schemathesis.checks import not_a_server_error, positive_data_acceptance
from schemathesis.core.parameters import ParameterLocation

from fuelclient.backends import connect
from fuelclient.backends.base import Backend
from fuelclient.model.node import Node
from fuelclient.model.release import Release
from fuelclient.model.run import RunRequest
from fuelclient.server.app import application, routes
from fuelclient.server.routes import PATH_SCHEMAS, PREFIX, Route, path_variables
from fuelclient.settings import load

ROUTES = routes(auth_required=False)
MODES = schemathesis.GenerationMode
KINDS = [
    pytest.param(route, mode, id=f"{route.name} {mode.value}")
    for route in sorted(ROUTES, key=lambda one: one.method == "DELETE")
    for mode in MODES
    if mode is MODES.POSITIVE or path_variables(route.path) or route.query or route.body  # else nothing can be wrong
]
EXAMPLES = 5
"""Requests of each kind to each route: with two kinds and some 75 routes, more than 700."""

REFUSED = {"nodes/{node_id}/disks/defaults"}
"""Paths of which the engine says with 501 that only a Fuel master has them."""

KNOWN = {"graph_type": "default", "name": "compute", "level": "own"}
"""What exists, where a path does not want an id; of everything that has an id there is a number 1."""


@pytest.fixture(scope="module")
def backend(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Backend]:
    """One of everything. No node is in an environment, so that nothing that is generated ever runs anywhere."""
    directory = tmp_path_factory.mktemp("document")
    made = connect(load({"ENGINE": str(directory / "engine.db")}))
    made.releases.create([Release(0, "Mitaka", "mitaka-9.0", "Ubuntu", metadata={"roles_metadata": {"compute": {}}})])
    made.clusters.create("prod", 1)
    made.nodes.create([Node(0, "n")])
    made.plugins.install(write_package(Path(directory) / "plugin"))
    made.sequences.create(1, "seq", ["default"])
    made.runs.begin(RunRequest(1, dry_run=True))
    yield made
    made.close()


@pytest.fixture(scope="module")
def schema(backend: Backend) -> Any:
    return schemathesis.openapi.from_wsgi(f"{PREFIX}/openapi.json", application(lambda: backend))


@pytest.mark.slow
@pytest.mark.parametrize(("route", "mode"), KINDS)
def test_answers_are_what_the_document_says(schema: Any, route: Route, mode: Any) -> None:
    """Only that a good request is accepted is not asked for: no schema says which graphs can be ordered."""
    cases = schema[f"{PREFIX}/{route.path}/"][route.method].as_strategy(generation_mode=mode)

    @settings(
        max_examples=EXAMPLES, deadline=None, derandomize=True, database=None,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(case=cases, is_known=st.sampled_from((True, True, True, False)))
    def check(case: Any, is_known: bool) -> None:
        if is_known and not _is_wrong_path(case):
            case.path_parameters = {name: KNOWN.get(name, 1) for name in path_variables(route.path)}
        excluded = [positive_data_acceptance, *([not_a_server_error] if route.path in REFUSED else [])]
        case.call_and_validate(excluded_checks=excluded)

    check()


def _is_wrong_path(case: Any) -> bool:
    """Whether it is the path that the document does not allow."""
    part = case.meta.components.get(ParameterLocation.PATH)
    return part is not None and part.mode is MODES.NEGATIVE


def test_every_part_of_a_path_has_a_value_that_exists() -> None:
    assert PATH_SCHEMAS.keys() == KNOWN.keys()
