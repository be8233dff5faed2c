"""The backends that keep the contract: the embedded engine, and a master over HTTP, which is our own server on such
an engine, in this process; the same once more with a real Keystone before it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from integration.cached_environments import Absent
from integration.keystone_server import installed
from integration.keystone_site import Site, peopled

from fuelclient.backends import connect
from fuelclient.backends.base import Backend
from fuelclient.backends.local import LocalBackend
from fuelclient.model.graph import Level, OwnerRef
from fuelclient.settings import load

KINDS = ("local", "remote", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("socket", "keystone")))


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """Which backend it is, for the few tests of what only one can do."""
    found: str = request.param
    return found


@pytest.fixture(scope="session")
def keystone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A Keystone with an administrator, and a user who validates tokens."""
    try:
        installed()
    except Absent as error:
        pytest.skip(f"Keystone cannot be had: {error}")
    with peopled(tmp_path_factory.mktemp("keystone")) as found:
        yield found


@pytest.fixture
def backend(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Backend]:
    """A backend that holds nothing yet."""
    engine = str(tmp_path / "engine.db")
    if kind != "local":
        pytest.importorskip("flask", reason="the server comes with the extra [server]")
        from in_process_server import served, served_on_a_socket

        if kind == "remote":
            yield from served(lambda: LocalBackend(engine))
            return
        if kind == "socket":
            yield from served_on_a_socket(lambda: LocalBackend(engine))
            return
        from fuelclient.server.access import Keystone, conf_from

        site: Site = request.getfixturevalue("keystone")
        yield from served(lambda: LocalBackend(engine), Keystone(conf_from(str(site.conf()))), site.credentials)
        return
    made = connect(load({"ENGINE": engine}, {"HOME": str(tmp_path)}))
    yield made
    made.close()


@pytest.fixture
def release(backend: Backend, request: pytest.FixtureRequest) -> OwnerRef:
    """What the test's module calls RELEASE, stored."""
    (stored,) = backend.releases.create([request.module.RELEASE])
    return OwnerRef(Level.RELEASE, stored.id)


@pytest.fixture
def cluster(backend: Backend, release: OwnerRef) -> OwnerRef:
    """The environment prod of that release."""
    return OwnerRef(Level.CLUSTER, backend.clusters.create("prod", release.id).id)


@pytest.fixture
def env(cluster: OwnerRef) -> int:
    """The id of that environment."""
    return cluster.id
