"""An environment and the inputs of its plans are the same values, whichever backend fetched them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, event, given, settings
from hypothesis import strategies as st

pytest.importorskip("flask", reason="the server comes with the extra [server]")

from in_process_runs import InProcessRuns
from package_trees import MITAKA, role, task, write_package
from wsgi_transport import WsgiAdapter

from fuelclient.backends.base import Backend
from fuelclient.backends.connected import connected
from fuelclient.backends.local import LocalBackend
from fuelclient.environment.plans import plans
from fuelclient.errors import FuelError, InvalidDocument, InvalidGraph
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.graph import GraphDocument, Level, OwnerRef
from fuelclient.model.node import Node
from fuelclient.model.release import Release, Role, Tag
from fuelclient.model.run import RunRequest
from fuelclient.model.task import Source, Task
from fuelclient.server.app import application
from fuelclient.settings.master import Master
from fuelclient.store.database import Database

ROLES = ("controller", "compute")
TYPES = ("default", "custom")
OLD: Mapping[str, Any] = {
    "os": "ubuntu", "version": "2015.1-8.0", "mode": ["ha"], "deployment_tasks_path": "old.yaml",
    "node_roles_path": "old_roles.yaml",
}  # fmt: skip
"""A release record for another release than that of the environments, with files of its own."""

ALWAYS = Task(
    "always",
    {
        "type": "shell",
        "version": "2.0.0",
        "roles": ["/.*/"],
        "parameters": {"cmd": "true", "timeout": 60, "retries": 0},
    },
    Source("r.yaml", 1),
)
"""A task that succeeds on every node, so that runs leave something to remember."""

flags = st.booleans()
values = st.none() | flags | st.integers(-3, 3) | st.floats(-2, 2) | st.sampled_from(["x", "é", "a b", ""])
trees: st.SearchStrategy[Any] = st.recursive(
    values,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("klm"), inner, max_size=3),
    max_leaves=5,
)
sections = st.dictionaries(
    st.sampled_from(["common", "storage", "odd"]),
    st.dictionaries(
        st.sampled_from(["debug", "size", "metadata"]), st.fixed_dictionaries({"value": trees}), max_size=3
    ),
    max_size=3,
)
described = st.fixed_dictionaries(
    {},
    optional={
        "has_primary": flags,
        "tags": st.lists(st.sampled_from(["db", "web"]), unique=True, max_size=2),
        "fault_tolerance": st.sampled_from(["10%", 2]),
        "description": st.just("A role"),
    },
)


@st.composite
def graphs(draw: st.DrawFn, prefix: str) -> tuple[Task, ...]:
    """Tasks that run, each with the lines it was written on."""
    tasks = []
    for number in range(draw(st.integers(0, 3))):
        attributes = {
            "type": draw(st.sampled_from(["shell", "stage", "skipped"])),
            "version": draw(st.sampled_from(["1.0.0", "2.0.0"])),
            "roles": draw(st.sampled_from([["controller"], ["compute"], ["/.*/"]])),
            "parameters": {"cmd": "true", "timeout": 9, "note": draw(trees)},
            **draw(st.fixed_dictionaries({}, optional={"condition": flags, "requires": st.just(["always"])})),
        }
        lines = {name: 10 + place for place, name in enumerate(attributes)}
        tasks.append(Task(f"{prefix}{number}", attributes, Source(f"{prefix}.yaml", number + 1, lines)))
    return tuple(tasks)


@st.composite
def nodes(draw: st.DrawFn) -> list[Node]:
    return [
        Node(
            number,
            f"node-{number}",
            1,
            draw(st.sampled_from(["ready", "ready", "provisioned", "error"])),
            pending_roles=tuple(draw(st.lists(st.sampled_from(ROLES), unique=True, min_size=1))),
            ip=draw(st.sampled_from(["", "10.20.0.9"])),
            mac=draw(st.sampled_from(["", "52:54:00:00:00:01"])),
            online=draw(st.sampled_from([True, True, True, False])),
            executor="local",
            attributes=draw(st.dictionaries(st.sampled_from(["meta", "hostname"]), values, max_size=2)),
            labels=draw(st.dictionaries(st.sampled_from(["rack", "row"]), st.none() | st.just("3"), max_size=2)),
        )
        for number in range(1, draw(st.integers(1, 3)) + 1)
    ]


def _release(data: st.DataObject) -> Release:
    roles = {name: data.draw(described) for name in ROLES}
    tags = data.draw(st.dictionaries(st.sampled_from(["db", "web"]), st.fixed_dictionaries({"has_primary": flags})))
    volumes = {"volumes_roles_mapping": {"compute": [{"id": "os", "allocate_size": "min"}]}, "volumes": [{"id": "os"}]}
    metadata = {
        "roles_metadata": roles, "tags_metadata": tags, "volumes_metadata": volumes,
        "attributes_metadata": {"editable": data.draw(sections)}, "x": data.draw(trees),
    }  # fmt: skip
    return Release(0, "Generated", "mitaka-9.0", "Ubuntu", metadata=metadata)


def _install(backend: Backend, directory: Path, data: st.DataObject) -> None:
    """Install plugins, some of which bring other files for other releases, and enable them."""
    for name in data.draw(st.sampled_from([(), ("alfa",), ("alfa", "beta")])):
        by_release = data.draw(flags)
        files = {
            "deployment_tasks.yaml": [task(f"{name}-task", role=["compute"])],
            "node_roles.yaml": {f"{name}-role": role(**data.draw(described))},
            "environment_config.yaml": {
                "attributes": {
                    "level": {
                        "value": data.draw(st.sampled_from(["x", "é", True])),
                        "label": "Level",
                        "type": "text",
                        "weight": 1,
                    }
                }
            },
            **({"old.yaml": [task(f"{name}-old")], "old_roles.yaml": {f"{name}-old": role()}} if by_release else {}),
        }
        releases = [OLD, MITAKA] if by_release and data.draw(flags) else [MITAKA, OLD] if by_release else [MITAKA]
        path = write_package(directory / name, name, releases=releases, files=files)
        with suppress(FuelError):
            backend.plugins.enable(backend.plugins.install(path).plugin.id, 1)


def _change(backend: Backend, data: st.DataObject) -> None:
    """Give the environment roles, tags, settings, facts and graphs of its own, as far as the engine takes them."""
    cluster = OwnerRef(Level.CLUSTER, 1)
    if data.draw(flags):
        backend.roles.create(
            cluster, Role("own", ("own",), {"name": "Own", "description": "x", **data.draw(described)})
        )
        backend.tags.create(cluster, Tag("mine", {"has_primary": data.draw(flags)}))
    with suppress(InvalidDocument):  # a setting that the release does not have
        backend.clusters.set_settings(1, data.draw(sections))
    for graph_type in TYPES:
        for level, prefix in ((Level.RELEASE, "r"), (Level.CLUSTER, "c")):
            with suppress(InvalidGraph):
                always = (ALWAYS,) if level is Level.RELEASE else ()
                document = GraphDocument((*always, *data.draw(graphs(prefix))))
                backend.graphs.upload(OwnerRef(level, 1), document, graph_type)
    members = [node.id for node in backend.nodes.list(1)]
    if data.draw(flags):
        backend.networks.set_configuration(1, {"networks": [{"name": "own", "cidr": "10.9.0.0/24"}]})
        backend.networks.create_vip(1, "own", "10.9.0.2", namespace=data.draw(st.sampled_from([None, "haproxy"])))
        backend.nodes.set_disks(members[0], [{"id": "sda", "x": data.draw(trees)}])
        backend.nodes.set_interfaces(members[0], backend.nodes.default_interfaces(members[0]))
    parts = {str(node): {"x": data.draw(trees)} for node in members if data.draw(flags)}
    backend.facts.put(1, DeploymentFacts({"common": data.draw(trees)}, parts))


def _run_once(engine: str) -> None:
    """Execute the default graph in this process, so that later plans remember a run."""
    with closing(Database(engine)) as database:
        try:
            InProcessRuns(database).begin(RunRequest(1))
        except FuelError as error:
            event(f"no run: {type(error).__name__}")


@contextmanager
def _over_http(engine: str) -> Iterator[Backend]:
    app = application(lambda: LocalBackend(engine))
    client = connected(Master("http://127.0.0.1:8000"), adapter=WsgiAdapter(app.wsgi_app))
    yield client
    client.close()
    app.extensions["fuelclient"].close()


@given(data=st.data())
@settings(max_examples=settings().max_examples * 2 // 5, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@pytest.mark.slow
def test_an_environment_is_the_same_over_http(data: st.DataObject) -> None:
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        engine = str(directory / "engine.db")
        local = stack.enter_context(closing(LocalBackend(engine)))
        local.releases.create([_release(data)])
        local.clusters.create("prod", 1)
        _install(local, directory, data)  # before there are nodes: plugins of deployed environments stay as they are
        local.nodes.create(data.draw(nodes()))
        _change(local, data)
        if data.draw(st.sampled_from([True, True, False])):
            _run_once(engine)
        remote = stack.enter_context(_over_http(engine))

        assert remote.clusters.environment(1) == local.clusters.environment(1)
        known = {graph.type for graph in local.graphs.list(1)}
        types = [graph_type for graph_type in TYPES if graph_type in known]
        request = RunRequest(1, tuple(types) or ("default",), force=data.draw(flags))
        here, there = local.runs.inputs(request), remote.runs.inputs(request)

        assert there == here
        event(f"plugins: {len(here.environment.plugins)}")
        event(f"remembered: {bool(here.memory and here.memory.last)}, durations: {bool(here.durations)}")
        event(f"own roles: {bool(here.environment.own_metadata)}")
        with suppress(FuelError):
            digests = [plan.digest for plan in plans(here, request)]
            assert [plan.digest for plan in plans(there, request)] == digests
