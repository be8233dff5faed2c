"""Connections that are cut while a client uploads or the server answers: a request is carried out or it is not."""

from __future__ import annotations

import json
import os
import random
import socket
import struct
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import requests
from command_line import tiny_engine
from processes import eventually
from server_process import Serving, serving

from fuelclient.engine import Engine
from fuelclient.errors import NotFound
from fuelclient.model.graph import Level, OwnerRef
from fuelclient.store.health import examine

pytest.importorskip("flask", reason="the server comes with the extra [server]")

SEED = int(os.environ.get("FAULTS_SEED", "20261123"))
CUTS = [pytest.param(number, marks=[pytest.mark.slow] if number >= 12 else []) for number in range(200)]
TASKS = [{"id": f"new-{number}", "type": "stage", "x_note": "x" * 500} for number in range(200)]
RESET = struct.pack("ii", 1, 0)
"""A connection that ends with a reset, as if the client's machine had died."""


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_engine(tmp_path_factory.mktemp("cut")).engine


@pytest.fixture(scope="module")
def server(engine: Path) -> Iterator[Serving]:
    with serving(engine.parent) as found:
        yield found


def body(graph_type: str) -> bytes:
    return json.dumps({"name": graph_type, "tasks": TASKS}).encode()


def path(graph_type: str) -> str:
    return f"/api/v1/clusters/1/deployment_graphs/{graph_type}/"


def stored(engine: Path, graph_type: str) -> list[str] | None:
    """Return the tasks of the environment's graph of this type, None if it has none."""
    with closing(Engine(str(engine))) as opened, suppress(NotFound):
        return [task.id for task in opened.graphs.get(OwnerRef(Level.CLUSTER, 1), graph_type).tasks]
    return None


@pytest.mark.parametrize("number", CUTS)
def test_cut_upload_is_stored_whole_or_not_at_all(engine: Path, server: Serving, number: int) -> None:
    """One in three is sent as a whole, and cut before its answer; every second one ends with a reset."""
    graph_type, address = f"cut-{number}", urlsplit(server.url)
    chance = random.Random(f"{SEED} {number}")  # noqa: S311
    content = body(graph_type)
    head = f"POST {path(graph_type)} HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Type: application/json\r\n"
    sent = f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content
    length = len(sent) if number % 3 == 0 else chance.randrange(1, len(sent))

    with socket.create_connection((address.hostname, address.port), timeout=60) as connection:
        connection.sendall(sent[:length])
        if number % 2:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    if length == len(sent) and not number % 2:
        assert eventually(lambda: stored(engine, graph_type))

    whole = [task["id"] for task in TASKS]
    assert stored(engine, graph_type) in ((None, whole) if length == len(sent) else (None,))
    again = requests.post(
        f"http://{address.netloc}{path(graph_type)}", data=content, timeout=60,
        headers={"Content-Type": "application/json"},
    )  # fmt: skip
    assert again.status_code in (200, 409), again.text  # stored already
    assert stored(engine, graph_type) == whole
    state = examine(str(engine))
    assert (state.damage, state.dangling) == ((), ())
    assert "Traceback" not in server.log.read_text(encoding="utf-8")
