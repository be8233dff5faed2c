"""A server of ours that is older than its client: what it cannot do is said, or done without it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("flask", reason="the server comes with the extra [server]")

from executions import Executions, executions, shell
from refusals import refused
from wsgi_transport import WsgiAdapter

from fuelclient.backends.capabilities import OWN_ENGINE, SERVER_REVISION, of_server
from fuelclient.backends.local import LocalBackend
from fuelclient.backends.nailgun import NailgunBackend
from fuelclient.errors import InvalidDocument, Unsupported
from fuelclient.model.graph import GraphDocument, Level, OwnerRef
from fuelclient.model.run import RunRequest
from fuelclient.model.task import Source
from fuelclient.plan.inputs import Memory
from fuelclient.plan.preview import PreviewOptions, preview
from fuelclient.server import app as server_app
from fuelclient.server import graphs as server_graphs
from fuelclient.server.schemas import Schema
from fuelclient.settings.master import Credentials, Master

NEW = ("clusters/{cluster_id}/environment", "clusters/{cluster_id}/inputs", "clusters/{cluster_id}/layers")
"""Paths that servers did not have before their version stated a revision."""


@pytest.fixture
def env(tmp_path: Path) -> Iterator[Executions]:
    made = executions(tmp_path)
    made.graph(shell("a"), shell("b", requires=["a"]))
    yield made
    made.backend.close()


def client_of(env: Executions) -> Iterator[NailgunBackend]:
    app = server_app.application(lambda: LocalBackend(str(env.engine)))
    client = NailgunBackend(Master("http://127.0.0.1:8000", Credentials()), adapter=WsgiAdapter(app.wsgi_app))
    yield client
    client.close()
    app.extensions["fuelclient"].close()


@pytest.fixture
def older(env: Executions, monkeypatch: pytest.MonkeyPatch) -> Iterator[NailgunBackend]:
    """A client of a server without these paths and without a revision."""
    version = {key: value for key, value in server_app._VERSION.items() if key != "revision"}
    monkeypatch.setattr(server_app, "_VERSION", version)
    for noun in server_app._NOUNS:
        monkeypatch.setattr(noun, "ROUTES", tuple(route for route in noun.ROUTES if route.path not in NEW))
    yield from client_of(env)


@pytest.fixture
def without_places(env: Executions, monkeypatch: pytest.MonkeyPatch) -> Iterator[NailgunBackend]:
    """A client of a server of revision 2, which refuses what it does not know in an upload."""
    monkeypatch.setattr(server_app, "_VERSION", {**server_app._VERSION, "revision": 2})
    routes = tuple(replace(route, body=before_places(route.body)) for route in server_graphs.ROUTES)
    monkeypatch.setattr(server_graphs, "ROUTES", routes)
    yield from client_of(env)


def before_places(body: Schema | None) -> Schema | None:
    if body is None or "sources" not in body.get("properties", {}):
        return body
    return {**body, "properties": {name: schema for name, schema in body["properties"].items() if name != "sources"}}


def test_a_graph_is_uploaded_without_places_to_a_server_that_does_not_know_them(
    env: Executions, without_places: NailgunBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = OwnerRef(Level.CLUSTER, 1)
    written = replace(shell("c"), source=Source("site.yaml", 7))

    without_places.graphs.upload(owner, GraphDocument((written,)), "upgrade")

    (stored,) = env.backend.graphs.get(owner, "upgrade").tasks
    assert (stored.attributes, stored.source.file) == (written.attributes, "")
    capabilities = replace(without_places.capabilities, places=True)
    monkeypatch.setattr(type(without_places._session), "capabilities", capabilities)
    with refused(InvalidDocument, "sources"):
        without_places.graphs.upload(owner, GraphDocument((written,)), "upgrade")


def test_previews_and_plans_are_assembled_from_what_the_server_has(env: Executions, older: NailgunBackend) -> None:
    wanted, found = (preview(backend.graphs.snapshot(1), PreviewOptions()) for backend in (env.backend, older))
    assert [(row.task, row.nodes) for row in found.rows] == [(row.task, row.nodes) for row in wanted.rows]
    inputs = older.runs.inputs(RunRequest(1))
    assert inputs.memory == Memory(forgotten=("1", "2", "3"))  # nothing has run
    assert inputs.facts.nodes.keys() == env.backend.facts.effective(1).nodes.keys()
    run = older.runs.begin(RunRequest(1, dry_run=True))
    assert [child.graph_type for child in run.children] == ["default"]


@pytest.mark.parametrize("revision", [None, 1, "2", True])
def test_a_revision_below_the_second_lacks_environments_as_a_whole(revision: object) -> None:
    assert not of_server(revision).inputs
    assert not of_server(revision).places
    assert of_server(revision).events


def test_a_revision_below_the_fourth_changes_no_release(older: NailgunBackend) -> None:
    assert not of_server(3).dry_changes
    with refused(Unsupported, "env clone"):
        older.clusters.change_release(1, 2)
    with refused(Unsupported, "graph diff env:1"):
        older.plugins.enabling([1], 1, {})


def test_a_revision_from_the_own_one_on_is_known() -> None:
    assert of_server(SERVER_REVISION) == of_server(SERVER_REVISION + 1) == replace(OWN_ENGINE, packages=False)
