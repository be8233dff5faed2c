"""A server in process over a real engine, and a client of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("flask", reason="the server needs the extra `server`")

from executions import Executions, executions
from http_api import Api
from openapi_answers import documented

from fuelclient.backends.local import LocalBackend
from fuelclient.model.release import Release
from fuelclient.server.app import application


@pytest.fixture
def env(tmp_path: Path) -> Iterator[Executions]:
    """Environment 1 with three compute nodes on this machine."""
    made = executions(tmp_path)
    yield made
    made.backend.close()


@pytest.fixture
def mitaka(env: Executions) -> int:
    """The id of another environment, whose release plugins of the tests support."""
    settings = {"editable": {"common": {"debug": {"type": "checkbox", "value": False}}}}
    roles: dict[str, object] = {"controller": {}, "compute": {}}
    metadata = {"roles_metadata": roles, "attributes_metadata": settings}
    (release,) = env.backend.releases.create([Release(0, "Mitaka", "mitaka-9.0", "Ubuntu", metadata=metadata)])
    return env.backend.clusters.create("mitaka", release.id).id


@pytest.fixture
def api(env: Executions) -> Iterator[Api]:
    app = documented(application(lambda: LocalBackend(str(env.engine))))
    yield Api(app)
    app.extensions["fuelclient"].close()
