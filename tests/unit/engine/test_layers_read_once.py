"""The layers of a graph that one command reads twice come from one reading, until something is written."""

from __future__ import annotations

from pathlib import Path

from command_line import CommandLine

from fuelclient.backends.local import LocalBackend
from fuelclient.model.graph import GraphDocument, Layer, Level, OwnerRef
from fuelclient.model.run import RunRequest


def layers_of(backend: LocalBackend) -> tuple[Layer, ...]:
    return tuple(backend.runs.inputs(RunRequest(1, graph_types=("default",))).layers["default"])


def test_layers_are_read_once_until_something_is_written(tmp_path: Path) -> None:
    engine = tmp_path / "engine.db"
    CommandLine(engine).ok("demo")
    backend = LocalBackend(str(engine))
    before = layers_of(backend)
    with backend.reading():
        layers = layers_of(backend)
        assert layers == before
        assert layers[0] is not before[0]
        assert all(again is once for again, once in zip(layers_of(backend), layers, strict=True))
        backend.graphs.upload(OwnerRef(Level.CLUSTER, 1), GraphDocument((), "own"), "default")
        assert layers_of(backend)[-1].tasks == ()
        assert layers[-1].tasks != ()
    backend.close()
