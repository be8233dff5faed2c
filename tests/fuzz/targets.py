"""What is fuzzed: for each name, seeds and a function that may raise nothing but the errors of this package."""

from __future__ import annotations

import gzip
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from archive_samples import cpio, inside, rpm_bytes, tar, tar_file
from command_line import GRAPH, OVERRIDE, RELEASE, tiny_engine
from http_api import Api
from package_trees import WATCHER, write_package

from fuelclient import redact
from fuelclient.errors import InvalidDocument, NotFound, UsageError
from fuelclient.expressions import legacy, yaql_engine
from fuelclient.expressions.facts import Facts, Views
from fuelclient.expressions.render import Master, Words, formatted
from fuelclient.files import json_text, yaml_text
from fuelclient.graph.match import matches, pattern_error
from fuelclient.insight import query
from fuelclient.model.cluster import Cluster
from fuelclient.model.graph import GraphDocument, Layer, Level, Owner, OwnerRef
from fuelclient.model.node import Node
from fuelclient.model.release import Role
from fuelclient.model.snapshot import Snapshot
from fuelclient.model.task import Task
from fuelclient.plan import select
from fuelclient.plan.study import Study
from fuelclient.plugins.archive import extract
from fuelclient.plugins.load import read_package
from fuelclient.serializers import run
from fuelclient.serializers.graph import document_from

Execute = Callable[[bytes], None]

EXPECTED = (InvalidDocument, UsageError)
"""What an input may end in. Other errors of the package would mean that what is fuzzed was not even reached."""

FACTS = Facts({"a": {"b": [1, "x", None]}, "password": "secret", "roles": ["controller"]}, {"1": {"uid": "1"}})
MODELS: dict[str, Any] = {"settings": {"on": {"value": True}, "names": ["a", 1]}, "cluster": {"mode": "ha"}}


@dataclass(frozen=True)
class Target:
    """Seeds, and what makes the function that executes one input; it gets a directory of its own."""

    seeds: tuple[bytes, ...]
    make: Callable[[Path], Execute]

    @contextmanager
    def execute(self) -> Iterator[Execute]:
        directory = Path(tempfile.mkdtemp(prefix="fuel2-fuzz-"))
        try:
            yield self.make(directory)
        finally:
            shutil.rmtree(directory, ignore_errors=True)


def _text(function: Callable[[str], object]) -> Callable[[Path], Execute]:
    def execute(data: bytes) -> None:
        with suppress(*EXPECTED):
            function(data.decode("utf-8", "replace"))

    return lambda _: execute


def _tasks(text: str) -> None:
    document_from(yaml_text.parse(text, "tasks.yaml"), owner_label="fuzz")


def _yaql(text: str) -> None:
    yaql_engine.parse(text).value(Views(FACTS).at("t", 1))


def _legacy(text: str) -> None:
    legacy.parse(text).evaluate(MODELS, strict=False)


def _format(text: str) -> None:
    formatted(text, Words(Views(FACTS).at("t", 1), Master()))


def _pattern(text: str) -> None:
    if not pattern_error(f"/{text}/"):
        matches(f"/{text}/", "primary-controller")


def _redact(text: str) -> None:
    redact.masked_text(redact.scrubbed(text, ("secret",)))


def _studied(*ids: str) -> Study:
    """Return a chain of tasks on two nodes."""
    tasks = tuple(
        Task(task_id, {"type": "shell", "roles": ["web"], "requires": list(ids[:number][-1:])})
        for number, task_id in enumerate(ids)
    )
    layer = Layer(Owner(Level.RELEASE, 1), tasks)
    nodes = tuple(Node(number, f"node-{number}", 1, roles=("web",)) for number in (1, 2))
    return Study(Snapshot(Cluster(1, "c", 1), (layer,), nodes, {"web": Role("web", ("web",))}))


def _subgraph(_: Path) -> Execute:
    expansion = _studied("t0", "t:1", "t2/1", "t3").expansion
    known = {task.id for task in expansion.tasks}

    def execute(data: bytes) -> None:
        text = data.decode("utf-8", "replace")
        with suppress(*EXPECTED, NotFound):
            select.instances_inside(expansion, [select.subgraph_from(line, known) for line in text.split("\n")])
        assert run.subgraph_from(run.subgraph_to(text)) == text.removesuffix(":")

    return execute


def _query(_: Path) -> Execute:
    studied = _studied(*(f"t{number}" for number in range(6)))

    def execute(data: bytes) -> None:
        text = data.decode("utf-8", "replace")
        with suppress(*EXPECTED):
            query.parse(text, ("type", "layer"))
        with suppress(*EXPECTED):
            query.select(studied, text)
        with suppress(*EXPECTED):
            read = query.parse(text, ("type", "node"), query.Rows.TASKS)
            read.on(studied, dict)
            assert query.parse(read.written, ("type", "node"), query.Rows.TASKS).tree == read.tree

    return execute


def _package(file: str) -> Callable[[Path], Execute]:
    def make(directory: Path) -> Execute:
        write_package(directory, files=WATCHER)

        def execute(data: bytes) -> None:
            (directory / file).write_bytes(data)
            with suppress(*EXPECTED):
                read_package(directory)

        return execute

    return make


def _archive(name: str, wrap: Callable[[bytes], bytes]) -> Callable[[Path], Execute]:
    def make(directory: Path) -> Execute:
        def execute(data: bytes) -> None:
            (directory / name).write_bytes(wrap(data))
            target = directory / "target"
            target.mkdir()
            with suppress(*EXPECTED):
                extract(directory / name, target)
            shutil.rmtree(target, ignore_errors=True)

        return execute

    return make


_REQUESTS = (
    "clusters", "releases", "nodes", "graphs", "clusters/1/deployment_graphs/custom", "graphs/execute", "sequences",
)  # fmt: skip


def _http(directory: Path) -> Execute:
    from fuelclient.backends.local import LocalBackend
    from fuelclient.server.app import application

    engine = tiny_engine(directory).engine
    app = application(lambda: LocalBackend(str(engine)))
    client = Api(app)

    def execute(data: bytes) -> None:
        method, path = ("POST", "PUT")[len(data) % 2], _REQUESTS[sum(data) % len(_REQUESTS)]
        answer = client.raw(method, path, data=data, content_type="application/json")
        assert answer.status_code < 500, (method, path, answer.text)

    return execute


def _messages(directory: Path) -> Execute:
    from fuelclient.backends import messages
    from fuelclient.backends.local import LocalBackend
    from fuelclient.server.app import application

    engine = tiny_engine(directory).engine
    client = Api(application(lambda: LocalBackend(str(engine))))

    def execute(data: bytes) -> None:
        with suppress(*EXPECTED):
            messages.decode_call(data)
        answer = client.raw("POST", "messages/", data=data)
        assert answer.status_code < 500, answer.data
        if answer.status_code >= 400:
            messages.decode_error(answer.data)

    return execute


def _called(facet: str, method: str, **arguments: object) -> bytes:
    from fuelclient.backends import messages

    return messages.encode_call(messages.Call(facet, method, arguments, reads=False))


def _seeds(*texts: str) -> tuple[bytes, ...]:
    return tuple(text.encode() for text in texts)


def _files() -> tuple[bytes, ...]:
    with tempfile.TemporaryDirectory() as directory:
        write_package(Path(directory), files=WATCHER)
        return tuple((Path(directory) / name).read_bytes() for name in ("metadata.yaml", "deployment_tasks.yaml"))


_TAR = tar([tar_file("p-1.0/metadata.yaml", b"name: p"), tar_file("p-1.0/deployment_scripts/run.sh")])
_CPIO = cpio([inside("metadata.yaml", b"name: p"), inside("run.sh")])

TARGETS = {
    "yaml": Target(
        _seeds(GRAPH, OVERRIDE, RELEASE, "a: &x [1]\nb: *x\n"), _text(lambda text: yaml_text.parse(text, "f"))
    ),
    "json": Target(_seeds('[{"a": 1.5e3, "b": null}, "\\u00e9"]'), _text(lambda text: json_text.parse(text, "f"))),
    "tasks": Target(_seeds(GRAPH, OVERRIDE), _text(_tasks)),
    "yaql": Target(
        _seeds("$.a.b.select($ + 1).sum()", "changed($.roles) and not $.password", "$.a.get(b, []).toSet().join(',')"),
        _text(_yaql),
    ),
    "legacy": Target(
        _seeds("settings:on.value == true and cluster:mode in ['ha', 'x']", "not (a:b or 1)"), _text(_legacy)
    ),
    "format": Target(_seeds("{CN}/{a[b]!r:>10}", "{{x}} {0}"), _text(_format)),
    "pattern": Target(_seeds("^(primary-)?controller$", "[a-z]+(?!x)\\d{2,3}?", "(?i)a|b"), _text(_pattern)),
    "redact": Target(
        _seeds("A_TOKEN=abc password: 'x' -p secret https://u:p@h/", "k: {yaql_exp: $.x}"), _text(_redact)
    ),
    "query": Target(
        _seeds("t1+ & role:web - /t[23]/", "2+t3+1 t1..t4 stage:deploy/<0", "type:shell layer:release"), _query
    ),
    "subgraph": Target(_seeds("t0/1-2:t3/1", ":t:1\nt2/1/2,1", "t0:t2/1\nt3/master"), _subgraph),
    "metadata": Target(_files(), _package("metadata.yaml")),
    "package tasks": Target((_files()[1],), _package("deployment_tasks.yaml")),
    "tar": Target((_TAR,), _archive("bad.fp", lambda data: gzip.compress(data, 1, mtime=0))),
    "cpio": Target((_CPIO,), _archive("bad.rpm", lambda data: rpm_bytes(gzip.compress(data, 1, mtime=0), "gzip"))),
    "rpm": Target((rpm_bytes(gzip.compress(_CPIO, 1, mtime=0), "gzip"),), _archive("bad.rpm", bytes)),
    "http": Target(_seeds('{"name": "x", "release": 1}', '[{"id": 1}]', '{"cluster": 1, "tasks": []}'), _http),
    "messages": Target(
        (
            _called("nodes", "create", nodes=[Node(0, "n", pending_roles=("web",), attributes={"a": [1, None]})]),
            _called("clusters", "set_settings", cluster_id=1, settings={"a": {"b": {"value": 1.5}}}, force=True),
            _called("graphs", "upload", owner=OwnerRef(Level.CLUSTER, 1), document=GraphDocument((Task("t", {}),))),
            _called("roles", "of_release", release_id=1),
            _called("nodes", "set_labels", node_ids=None, labels={"rack": None}),
        ),
        _messages,
    ),
}
