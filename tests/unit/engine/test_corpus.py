"""Graphs of real releases and plugins come out of the store as they went in, with every file and line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from corpus import corpus

from fuelclient import files
from fuelclient.engine import Engine
from fuelclient.errors import InvalidGraph
from fuelclient.model.graph import GraphDocument, Level, OwnerRef
from fuelclient.model.release import Release, roles_in
from fuelclient.serializers.graph import document_from, documents_from, layer_to
from fuelclient.serializers.release import release_to, releases_from

pytestmark = pytest.mark.corpus


def release_graph(version: str) -> GraphDocument:
    root = corpus("fuel-library", version, "deployment", "puppet")
    return documents_from([files.load(path) for path in files.task_files(str(root))], owner_label="release")


def round_trip(engine: Engine, document: GraphDocument, graph_type: str, owner: OwnerRef) -> None:
    engine.graphs.upload(owner, document, graph_type)
    found = engine.graphs.get(owner, graph_type)
    assert found.tasks == document.tasks
    assert layer_to(found.tasks) == layer_to(document.tasks)
    for stored, stated in zip(found.tasks, document.tasks, strict=True):
        assert list(stored.attributes) == list(stated.attributes)
        assert (stored.source.file, stored.source.line) == (stated.source.file, stated.source.line)
        assert stored.source.lines == stated.source.lines
        assert stored.source.line > 0
        assert stored.legacy == stated.legacy


@pytest.mark.parametrize("version", ["9.0", "newton"])
def test_release_graphs(tmp_path: Path, version: str) -> None:
    engine = Engine(str(tmp_path / "engine.db"))
    (release,) = engine.releases.create([Release(0, "n", version)])
    document = release_graph(version)
    assert len(document.tasks) == {"9.0": 191, "newton": 202}[version]
    round_trip(engine, document, "default", OwnerRef(Level.RELEASE, release.id))
    engine.close()


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """An engine with newton's graph, and environment 1 of it."""
    made = Engine(str(tmp_path / "engine.db"))
    (release,) = made.releases.create([Release(0, "n", "newton")])
    made.graphs.upload(OwnerRef(Level.RELEASE, release.id), release_graph("newton"))
    made.clusters.create("prod", release.id)
    yield made
    made.close()


def test_graphs_of_plugins_and_users_over_newton(engine: Engine) -> None:
    paths = [
        *corpus("plugins").rglob("*tasks.yaml"),
        *corpus("plugins-branches").rglob("*tasks.yaml"),
        *corpus("custom-graphs").rglob("*.yaml"),
    ]
    for number, path in enumerate(sorted(paths)):
        document = document_from(files.load(str(path)), owner_label=path.parent.name)
        round_trip(engine, document, f"t{number}", OwnerRef(Level.CLUSTER, 1))
    assert len(engine.graphs.list(1, [Level.CLUSTER])) == len(paths) + 1 > 30


@pytest.mark.parametrize("directory", ["dup-ids", "malformed-cross-depends", "odd-stage"])
def test_graphs_with_errors_leave_the_store_as_it_was(engine: Engine, directory: str) -> None:
    (path,) = corpus("odd", directory).rglob("*tasks.yaml")
    before = engine.graphs.list()
    document = document_from(files.load(str(path)), owner_label=directory)
    with pytest.raises(InvalidGraph) as caught:
        engine.graphs.upload(OwnerRef(Level.CLUSTER, 1), document, "odd")
    assert all(f"{path}:" in str(finding) for finding in caught.value.findings)
    assert engine.graphs.list() == before


@pytest.mark.parametrize("version", ["9.0", "newton"])
def test_releases_of_a_fixture(tmp_path: Path, version: str) -> None:
    path = corpus("fuel-web", version, "nailgun", "nailgun", "fixtures", "openstack.yaml")
    releases = releases_from(files.load(str(path)))
    engine = Engine(str(tmp_path / "engine.db"))
    engine.releases.create(releases)
    stored = engine.releases.list()
    engine.close()
    assert {release.version: release_to(replace(release, id=0)) for release in stored} == {
        release.version: release_to(replace(release, id=0)) for release in releases
    }
    for release in releases:
        (same,) = [one for one in stored if one.version == release.version and one.name == release.name]
        assert json.dumps(same.metadata) == json.dumps(release.metadata)
        assert "controller" in roles_in(same.metadata)
