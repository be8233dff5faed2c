"""The messages between a client and a server of this package: what they may be, and what becomes of any other."""

from __future__ import annotations

import dataclasses
import enum
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from executions import Executions, executions, shell
from refusals import refused

pytest.importorskip("flask", reason="the server comes with the extra [server]")

from faulty_master import serving
from http_api import Api
from in_process_server import served

from fuelclient.backends import messages
from fuelclient.backends.base import Backend
from fuelclient.backends.connected import connected
from fuelclient.backends.http import MESSAGE_TYPE
from fuelclient.backends.inventory import Releases, reads
from fuelclient.backends.local import LocalBackend
from fuelclient.backends.messages import only_reads
from fuelclient.engine.inventory.releases import Releases as EngineReleases
from fuelclient.errors import (
    Conflict,
    CycleDetected,
    FuelError,
    InvalidDocument,
    InvalidGraph,
    NotFound,
    NotReady,
    StalePlan,
    Unavailable,
    UnknownFact,
    Unsupported,
    UsageError,
)
from fuelclient.expressions.errors import ExpressionError
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.model.graph import GraphDocument, Level, OwnerRef
from fuelclient.model.run import RunRequest
from fuelclient.server.access import Loopback
from fuelclient.server.app import application
from fuelclient.server.errors import HttpError
from fuelclient.settings.master import Master

FINDING = Finding(Severity.ERROR, "G050", "a waits for b", Place(layer="cluster"), "a", "Change it.")


@pytest.fixture
def env(tmp_path: Path) -> Iterator[Executions]:
    made = executions(tmp_path)
    made.graph(shell("a"))
    yield made
    made.backend.close()


@pytest.fixture
def remote(env: Executions) -> Iterator[Backend]:
    yield from served(lambda: LocalBackend(str(env.engine)))


@pytest.fixture
def api(env: Executions) -> Api:
    return Api(application(lambda: env.backend))


def posted(api: Api, data: bytes) -> tuple[int, FuelError]:
    """The status of the answer to a message, and the error in it."""
    answer = api.raw("POST", "messages/", data=data, content_type=MESSAGE_TYPE)
    assert answer.mimetype == MESSAGE_TYPE
    return answer.status_code, messages.decode_error(answer.data)


def message(facet: str, method: str, spoken: int = messages.REVISION, /, **arguments: Any) -> bytes:
    return msgspec.msgpack.encode((spoken, facet, method, arguments))


def test_a_new_method_of_a_facet_works_without_another_edit(
    monkeypatch: pytest.MonkeyPatch, remote: Backend, env: Executions
) -> None:
    """It is added to the protocol and to the engine, and to nothing else."""

    @reads
    def named(self: Any, name: str, *others: str, least: int = 1) -> tuple[OwnerRef, ...]:
        wanted = {name, *others}
        return tuple(OwnerRef(Level.RELEASE, one.id) for one in self.list() if one.name in wanted and one.id >= least)

    monkeypatch.setattr(Releases, "named", named, raising=False)
    monkeypatch.setattr(EngineReleases, "named", named, raising=False)
    releases: Any = remote.releases
    assert releases.named("Tiny", "Other") == (OwnerRef(Level.RELEASE, 1),)
    assert releases.named("Tiny", least=2) == ()
    with pytest.raises(TypeError):
        releases.named()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "cannot be read"),
        (b"{}", "cannot be read"),
        (msgspec.msgpack.encode([messages.REVISION, "nodes"]), "cannot be read"),
        (message("nodes", "list", messages.REVISION + 1), f"revision {messages.REVISION}, not {messages.REVISION + 1}"),
        (message("nodes", "nope"), "There is no method nodes.nope"),
        (message("nope", "list"), "There is no method nope.list"),
        (message("nodes", "__init__"), "There is no method nodes.__init__"),
        (message("services", "snapshots"), "There is no method services"),
        (message("plugins", "install", path="/etc/passwd"), "There is no method plugins.install"),
        (message("nodes", "get"), "nodes.get needs the argument node_id"),
        (message("nodes", "get", node_id="1"), "Expected `int`, got `str`"),
        (message("nodes", "get", node_id=1, x=2), "nodes.get has no argument x"),
        (message("nodes", "get", **{"node_id": 1, "return": None}), "nodes.get has no argument return"),
        (message("nodes", "get", node_id=1, self=None), "nodes.get has no argument self"),
        (message("nodes", "create", nodes=[{"id": 1}]), "missing required field `name`"),
        (message("facts", "put", cluster_id=1, facts={"common": {"a": 1}, "nodes": 1}), "Expected `object`, got `int`"),
    ],
)
def test_a_message_that_is_none_is_refused_with_its_reason(api: Api, data: bytes, words: str) -> None:
    status, error = posted(api, data)
    assert (status, type(error)) == (400, UsageError)
    assert words in str(error)


def test_a_message_is_bounded(api: Api, env: Executions) -> None:
    deep: Any = 1
    for _ in range(150):
        deep = [deep]
    status, error = posted(api, message("clusters", "set_settings", cluster_id=1, settings={"a": {"b": deep}}))
    assert (status, "nested deeper" in str(error)) == (400, True)
    deeper = b"\x91" * 100_000 + b"\x01"
    assert posted(api, deeper)[0] == 400
    many = message("clusters", "set_settings", cluster_id=1, settings={"a": [0] * 1_100_000})
    assert "holds more than" in str(posted(api, many)[1])
    small = Api(application(lambda: env.backend, body_bytes=100))
    assert small.ask("POST", "messages/", data=b"\x91" * 200, status=413)["errors"] == []


def test_whole_numbers_may_be_of_any_size(remote: Backend, env: Executions) -> None:
    for number in (2**64, -(2**63) - 1, 10**30, 2**64 - 1, -(2**63)):
        remote.clusters.set_settings(1, {"a": {"b": {"type": "number", "value": number}}})
        assert remote.clusters.settings(1)["a"]["b"]["value"] == number
        assert env.backend.clusters.settings(1) == remote.clusters.settings(1)
    with refused(UsageError, "Expected `int`"):
        remote.nodes.get(10**30)


ERRORS = [
    NotFound("environment", 9, known=["1", "2"]),
    NotFound("task", "x", hint="None."),
    Conflict("It runs.", findings=[FINDING], hint="Wait."),
    UsageError("What?", hint="So."),
    InvalidGraph("The graph is not stored.", findings=[FINDING]),
    CycleDetected("A ring.", cycle=["a@1", "b@1"], findings=[FINDING], drawings=["a -> b"]),
    StalePlan("Changed."),
    Unsupported("No.", hint="Go elsewhere."),
    NotReady("Not ready.", findings=[FINDING], hint="Wait."),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_is_raised_again_as_it_was(error: FuelError) -> None:
    found = messages.decode_error(messages.encode_error(error))
    assert (type(found), str(found), found.args) == (type(error), str(error), error.args)
    for name in ("findings", "cycle", "noun", "key", "known", "hint", "drawings"):
        assert getattr(found, name, None) == getattr(error, name, getattr(found, name, None))


def test_an_unknown_fact_keeps_its_path() -> None:
    error = UnknownFact("It is not known.")
    error.path = "$.storage.pg_num"
    found = messages.decode_error(messages.encode_error(error))
    assert (type(found), found.path) == (UnknownFact, "$.storage.pg_num")  # type: ignore[attr-defined]


def test_error_of_a_lower_package_becomes_its_base() -> None:
    assert type(messages.decode_error(messages.encode_error(ExpressionError("No.", "$.a")))) is InvalidDocument


def test_what_carries_no_error_is_none() -> None:
    for data in (b"", b"<html>", msgspec.msgpack.encode({"kind": "Conflict"})):
        with refused(UsageError, "cannot be read"):
            messages.decode_error(data)
    assert type(messages.decode_error(msgspec.msgpack.encode({"kind": "SystemExit", "message": "m"}))) is FuelError


@pytest.mark.parametrize("revision", [None, messages.REVISION - 1, messages.REVISION + 1, "5"])
def test_another_revision_is_refused_with_both_versions(revision: object) -> None:
    version = {"auth_required": False, "server": "fuelclient 11.9", "release": "9.0", "revision": revision}
    with serving(lambda request: request.json(version)) as server:
        backend = connected(Master(server.url))
        with refused(Unavailable, server.url, "fuelclient 11.9", "fuelclient 12.0.0"):
            backend.nodes.list()
        assert [asked.method for asked in server.asked] == ["GET"]


def test_the_log_says_what_a_message_calls(remote: Backend, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", logger="fuelclient.server"):
        remote.clusters.list()
    assert "POST /api/v1/messages/ clusters.list 200 " in caplog.text


class _Readers(Loopback):
    """Readers only."""

    def check(self, environ: Any, *, is_open: bool, reads: bool) -> None:
        super().check(environ, is_open=is_open, reads=reads)
        if not reads:
            raise HttpError(403, "This needs the role admin.")


def test_a_reader_may_send_what_only_reads(env: Executions) -> None:
    for remote in served(lambda: LocalBackend(str(env.engine)), _Readers()):
        assert [one.id for one in remote.clusters.list()] == [1]
        assert remote.runs.inputs(RunRequest(1)).environment.cluster.id == 1
        with pytest.raises(FuelError) as caught:
            remote.graphs.upload(OwnerRef(Level.CLUSTER, 1), GraphDocument(()), "more")
        assert "This needs the role admin" in str(caught.value)
    assert "more" not in {graph.type for graph in env.backend.graphs.list(1)}


def test_every_method_that_only_reads_is_marked() -> None:
    """A method is safe to send again, and open to readers, only if its protocol says so."""
    writing = {
        f"{facet}.{name}"
        for facet in messages.facets()
        for name in messages.methods(facet)
        if not only_reads(messages.methods(facet)[name])
    }
    assert writing == {
        "clusters.add_nodes", "clusters.change_release", "clusters.create", "clusters.delete", "clusters.remove_nodes",
        "clusters.rename", "clusters.set_settings", "facts.delete", "facts.put", "graphs.delete", "graphs.upload",
        "networks.create_vip", "networks.set_configuration", "networks.set_vips", "nodes.create", "nodes.delete",
        "nodes.delete_labels", "nodes.set_attributes", "nodes.set_disks", "nodes.set_interfaces", "nodes.set_labels",
        "nodes.update", "plugins.describe", "plugins.disable", "plugins.enable", "plugins.remove", "plugins.sync",
        "releases.create", "releases.delete", "releases.set_repositories", "releases.update", "roles.create",
        "roles.delete", "roles.update", "runs.begin", "runs.delete", "runs.resume", "runs.stop", "runs.stop_cluster",
        "sequences.create", "sequences.delete", "sequences.update", "tags.create", "tags.delete", "tags.update",
    }  # fmt: skip


def described(kind: Any, seen: dict[str, str]) -> str:
    """Return the name of a type, and add the fields of each dataclass in it to `seen`."""
    for inner in typing.get_args(kind):
        described(inner, seen)
    if isinstance(kind, type) and dataclasses.is_dataclass(kind) and kind.__qualname__ not in seen:
        seen[kind.__qualname__] = ""
        hints = typing.get_type_hints(kind)
        fields = ", ".join(f"{one.name}: {described(hints[one.name], seen)}" for one in dataclasses.fields(kind))
        seen[kind.__qualname__] = f"{kind.__qualname__}({fields})"
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        seen[kind.__qualname__] = f"{kind.__qualname__}: {', '.join(str(one.value) for one in kind)}"
    return kind.__qualname__ if isinstance(kind, type) and not typing.get_args(kind) else str(kind)


GOLDEN = Path(__file__).parents[2] / "golden" / "messages.txt"


def test_what_is_said_changes_only_with_its_revision(renew: bool) -> None:
    """Raise `messages.REVISION` when this file changes: clients and servers of different revisions refuse each
    other."""
    seen: dict[str, str] = {}
    lines = []
    for facet in sorted(messages.facets()):
        for name in sorted(messages.methods(facet)):
            types = messages.types_of(facet, name)
            stated = ", ".join(f"{key}: {described(kind, seen)}" for key, kind in types.items() if key != "return")
            lines.append(f"{facet}.{name}({stated}) -> {described(types['return'], seen)}")
    text = "\n".join([f"revision {messages.REVISION}", *lines, *sorted(seen.values())]) + "\n"
    if renew:
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")
