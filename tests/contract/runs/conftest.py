"""Environments in which graphs really run, on this machine: those of the embedded engine, and of a server of ours,
also behind a real Keystone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from executions import Executions, executions
from integration.keystone_site import Site

from fuelclient.backends.local import LocalBackend


@pytest.fixture(params=("local", "remote", pytest.param("keystone", marks=pytest.mark.slow)))
def env(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Executions]:
    """An environment of three compute nodes, seen through each backend in turn."""
    made = executions(tmp_path)
    if request.param == "local":
        yield made
    else:
        pytest.importorskip("flask", reason="the server comes with the extra [server]")
        from in_process_server import served

        guarded: tuple[Any, ...] = ()
        if request.param == "keystone":
            from fuelclient.server.access import Keystone, conf_from

            site: Site = request.getfixturevalue("keystone")
            guarded = (Keystone(conf_from(str(site.conf()))), site.credentials)
        for client in served(lambda: LocalBackend(str(made.engine)), *guarded):
            yield replace(made, backend=client)
    made.backend.close()
