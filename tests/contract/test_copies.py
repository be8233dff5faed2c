"""Copies of environments, read through every backend and stored in an engine file of their own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from refusals import refused

from fuelclient.backends.base import Backend
from fuelclient.backends.copies import all_inputs, copy_of
from fuelclient.backends.local import LocalBackend
from fuelclient.environment.differences import environment_differences
from fuelclient.errors import Conflict, Unsupported
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.graph import GraphDocument, Level, OwnerRef
from fuelclient.model.node import Node
from fuelclient.model.release import Release
from fuelclient.model.task import Task

RELEASE = Release(
    0, "Newton", "newton-10.0", "Ubuntu",
    metadata={
        "roles_metadata": {"controller": {"has_primary": True}, "compute": {}},
        "attributes_metadata": {
            "editable": {"common": {"debug": {"type": "checkbox", "value": False}}},
            "generated": {"mysql": {"root_password": {"generator": "password", "generator_arg": 24}}},
        },
        "networks_metadata": {
            "neutron": {"networks": [{"name": "management", "cidr": "192.168.0.0/24", "notation": "cidr"}]}
        },
        "network_roles_metadata": [
            {"id": "mgmt/vip", "default_mapping": "management", "properties": {"vip": [{"name": "management"}]}}
        ],
    },
)  # fmt: skip
CONF = Task("conf", {"type": "shell", "version": "2.0.0", "roles": ["compute"], "parameters": {"cmd": "true"}})
SECRET = "0nly-here"  # noqa: S105 (a made-up one)


@pytest.fixture
def full(backend: Backend, env: int, release: OwnerRef) -> Backend:
    """The environment with nodes, graphs of two types, settings, networks, a VIP, facts, and documents of a node."""
    backend.nodes.create(
        [
            Node(4, "node-4", env, "ready", roles=("controller",), pending_roles=("compute",), ip="10.20.0.4"),
            Node(7, "node-7", env, labels={"rack": "b"}, pending_roles=("compute",), ip="10.20.0.7"),
        ]
    )
    owner = OwnerRef(Level.CLUSTER, env)
    backend.graphs.upload(release, GraphDocument((CONF,)))
    backend.graphs.upload(owner, GraphDocument((Task("conf", {"parameters": {"timeout": 9}}),), "prod fixes"))
    backend.graphs.upload(owner, GraphDocument((CONF,), metadata={"on_error": {"type": "stop"}}), "upgrade")
    backend.clusters.set_settings(env, {"common": {"debug": {"type": "checkbox", "value": True}}})
    configuration: Any = backend.networks.configuration(env)
    configuration["networks"][0].update(cidr="10.9.0.0/24", ip_ranges=[["10.9.0.1", "10.9.0.254"]])
    backend.networks.set_configuration(env, configuration)
    backend.networks.create_vip(env, "mine", "10.9.0.99")
    backend.nodes.set_disks(4, [{"id": "sda", "size": 5000, "volumes": []}])
    backend.facts.put(env, DeploymentFacts({"mysql": {"root_password": SECRET}}, {"7": {"extra": [1, None]}}))
    return backend


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[LocalBackend]:
    """An engine file that holds nothing yet."""
    made = LocalBackend(str(tmp_path / "copy.db"))
    yield made
    made.close()


def is_empty(engine: LocalBackend) -> bool:
    return not (engine.clusters.list() or engine.releases.list() or engine.nodes.list() or engine.graphs.list())


def test_a_copy_is_what_its_original_is(full: Backend, env: int, engine: LocalBackend) -> None:
    copied = engine.copies.store(copy_of(full, env)).cluster_id
    here, there = all_inputs(engine, copied), all_inputs(full, env)
    assert here.facts == there.facts
    assert here.facts.common["mysql"]["root_password"] == SECRET
    assert here.layers.keys() == there.layers.keys() == {"default", "upgrade"}
    for graph_type, layers in there.layers.items():
        assert [(layer.tasks, dict(layer.metadata)) for layer in here.layers[graph_type]] == [
            (layer.tasks, dict(layer.metadata)) for layer in layers
        ]
    assert engine.clusters.settings(copied) == full.clusters.settings(env)
    assert engine.networks.configuration(copied) == full.networks.configuration(env)
    assert engine.nodes.disks(4) == full.nodes.disks(4)
    names = {(graph.owner.level, graph.type): graph.name for graph in full.graphs.list(env)}
    assert {(graph.owner.level, graph.type): graph.name for graph in engine.graphs.list(copied)} == names
    assert environment_differences(here, there) == ()


def test_copied_nodes_keep_ids_but_runs_do_not_reach_them(full: Backend, env: int, engine: LocalBackend) -> None:
    copied = engine.copies.store(copy_of(full, env)).cluster_id
    originals = {node.id: node for node in full.nodes.list(env)}
    assert originals[4].reached_by == "ssh"
    for node in engine.nodes.list(copied):
        original = originals.pop(node.id)
        assert (node.roles, node.pending_roles, node.status) == (
            original.roles, original.pending_roles, original.status,
        )  # fmt: skip
        assert node.labels == original.labels
        assert node.reached_by == "noop"
    assert not originals


def test_a_changed_setting_of_a_copy_reaches_its_facts(full: Backend, env: int, engine: LocalBackend) -> None:
    copied = engine.copies.store(copy_of(full, env)).cluster_id
    assert engine.facts.effective(copied).common["debug"] is True
    engine.clusters.set_settings(copied, {"common": {"debug": {"type": "checkbox", "value": False}}})
    assert engine.facts.effective(copied).common["debug"] is False
    found = environment_differences(all_inputs(engine, copied), all_inputs(full, env))
    assert {(difference.part, difference.path) for difference in found} >= {
        ("settings", "debug.value"), ("facts", "debug"),
    }  # fmt: skip


def test_an_equal_release_is_used_again(full: Backend, env: int, engine: LocalBackend) -> None:
    second = full.clusters.create("second", full.clusters.get(env).release_id).id
    engine.copies.store(copy_of(full, env))
    copied = engine.copies.store(copy_of(full, second))
    assert len(engine.releases.list()) == 1
    assert environment_differences(all_inputs(engine, copied.cluster_id), all_inputs(full, second)) == ()


@pytest.mark.parametrize("graph_type", ["default", "only-here"])
def test_a_different_release_is_refused_with_what_differs(
    full: Backend, env: int, engine: LocalBackend, graph_type: str
) -> None:
    (stored,) = engine.releases.create([RELEASE])
    engine.graphs.upload(OwnerRef(Level.RELEASE, stored.id), GraphDocument((CONF,)))
    other = Task("other", {"type": "stage"})
    engine.graphs.upload(OwnerRef(Level.RELEASE, stored.id), GraphDocument((CONF, other)), graph_type)
    with refused(Conflict, "release", f"type {graph_type}", "--to-engine"):
        engine.copies.store(copy_of(full, env))
    assert not engine.clusters.list()
    assert not engine.nodes.list()


def test_a_taken_node_id_is_refused_and_nothing_is_stored(full: Backend, env: int, engine: LocalBackend) -> None:
    engine.nodes.create([Node(7, "mine")])
    with refused(Conflict, "7", "--to-engine"):
        engine.copies.store(copy_of(full, env))
    assert [node.id for node in engine.nodes.list()] == [7]
    engine.nodes.delete([7])
    assert is_empty(engine)


def test_a_taken_name_needs_another_one(full: Backend, env: int, engine: LocalBackend) -> None:
    (stored,) = engine.releases.create([RELEASE])
    engine.graphs.upload(OwnerRef(Level.RELEASE, stored.id), GraphDocument((CONF,)))
    engine.clusters.create("prod", stored.id)
    copy = copy_of(full, env)
    with refused(Conflict, "prod", "--name"):
        engine.copies.store(copy)
    copied = engine.copies.store(copy, "trial")
    assert engine.clusters.get(copied.cluster_id).name == "trial"


@pytest.mark.parametrize(
    ("networks", "count", "named"),
    [
        pytest.param([{"name": "management", "cidr": "no network"}], 0, "not copied", id="refused"),
        pytest.param(
            [{"name": "management", "cidr": f"10.{rack}.0.0/24", "ip_ranges": [[f"10.{rack}.0.1", f"10.{rack}.0.254"]]}
             for rack in (1, 2)],
            1, "management", id="of two racks",
        ),
    ],
)  # fmt: skip
def test_unsupported_networks_are_listed_and_kept_in_facts(
    full: Backend, env: int, engine: LocalBackend, networks: Any, count: int, named: str
) -> None:
    copy = replace(copy_of(full, env), networks={"networks": networks}, has_parts=False)
    copied = engine.copies.store(copy)
    (part,) = [part for part in copied.parts if part.part == "networks"]
    assert part.count == count
    assert named in part.note
    facts, wanted = engine.facts.effective(copied.cluster_id), copy.inputs.facts
    assert facts.common["network_metadata"] == wanted.common["network_metadata"]
    assert facts.nodes["4"]["network_scheme"] == wanted.nodes["4"]["network_scheme"]


def test_only_an_engine_takes_a_copy(kind: str, full: Backend) -> None:
    if kind != "local":
        with pytest.raises(Unsupported):
            full.copies.graphs(1)
