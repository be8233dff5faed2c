"""The same change of an environment gets the same answer by whatever door it comes."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from package_trees import write_package
from refusals import refused

pytest.importorskip("flask", reason="the server comes with the extra [server]")

from http_api import Api
from in_process_server import served

from fuelclient.backends.base import Backend
from fuelclient.backends.local import LocalBackend
from fuelclient.errors import FuelError, InvalidDocument
from fuelclient.model.node import Node
from fuelclient.model.release import Release
from fuelclient.server.app import application

SETTINGS = {
    "on": {"type": "checkbox", "value": False, "label": "On", "weight": 1},
    "mode": {"type": "text", "value": "x", "label": "Mode", "weight": 2,
             "regex": {"source": "^[a-z]+$", "error": "letters please"}},
    "kind": {"type": "select", "value": "a", "label": "Kind", "weight": 3,
             "values": [{"data": "a", "label": "A"}, {"data": "b", "label": "B"}]},
    "two": {"type": "checkbox", "value": False, "label": "Two", "weight": 4,
            "restrictions": ["settings:monitor.on.value == true"]},
}  # fmt: skip
NETWORK = {"name": "public", "cidr": "172.16.0.0/24", "gateway": "172.16.0.1", "notation": "cidr", "use_gateway": True,
           "vlan_start": None, "map_priority": 1}  # fmt: skip
METADATA = {
    "roles_metadata": {"controller": {"conflicts": ["compute"]}, "compute": {}},
    "attributes_metadata": {"editable": {"common": {"debug": {"type": "checkbox", "value": False}}}},
    "networks_metadata": {"neutron": {"networks": [NETWORK], "config": {}}},
}
CHANGES = st.dictionaries(
    st.sampled_from(sorted(SETTINGS)),
    st.sampled_from([True, False, "x", "7", "a", "c", 3, None]),
    min_size=1,
    max_size=3,
)
numbers = itertools.count()


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An engine with an environment, two nodes and an enabled plugin with settings."""
    directory = tmp_path_factory.mktemp("rules")
    with closing(LocalBackend(str(directory / "engine.db"))) as made:
        (release,) = made.releases.create([Release(0, "R", "mitaka-9.0", "Ubuntu", metadata=METADATA)])
        env = made.clusters.create("prod", release.id).id
        made.nodes.create([Node(0, "a", env, pending_roles=("compute",)), Node(0, "b")])
        package = write_package(directory / "p", "monitor", files={"environment_config.yaml": {"attributes": SETTINGS}})
        made.plugins.enable(made.plugins.install(package).plugin.id, env)
    return directory / "engine.db"


@contextmanager
def opened(engine: Path, kind: str) -> Iterator[Backend]:
    """A copy of the engine, through one of the backends."""
    copy = engine.parent / f"copy-{next(numbers)}.db"
    shutil.copy(engine, copy)
    if kind == "local":
        with closing(LocalBackend(str(copy))) as backend:
            yield backend
    else:
        yield from served(lambda: LocalBackend(str(copy)))
    for path in engine.parent.glob(f"{copy.name}*"):
        path.unlink()


def over_rest(engine: Path, method: str, path: str, body: Any) -> tuple[bool, Any]:
    """Whether a request of Nailgun is taken, and the settings of the plugin after it."""
    copy = engine.parent / f"copy-{next(numbers)}.db"
    shutil.copy(engine, copy)
    app = application(lambda: LocalBackend(str(copy)))
    answer = Api(app).raw(method, path, body)
    with closing(LocalBackend(str(copy))) as backend:
        values = stored(backend)
    app.extensions["fuelclient"].close()
    assert answer.status_code in (200, 201, 400, 404, 409), answer.text
    return answer.status_code < 300, values


def stored(backend: Backend) -> dict[str, Any]:
    section = backend.clusters.settings(1)["monitor"]
    return {name: section[name]["value"] for name in SETTINGS}


def tried(backend: Backend, change: Callable[[Backend], object]) -> tuple[bool, Any]:
    try:
        change(backend)
    except FuelError:
        return False, stored(backend)
    return True, stored(backend)


@given(CHANGES)
def test_values_of_a_plugin(engine: Path, values: dict[str, Any]) -> None:
    sections = {"monitor": {name: {"value": value} for name, value in values.items()}}
    answers = []
    for kind in ("local", "remote"):
        with opened(engine, kind) as backend:
            answers.append(tried(backend, lambda backend: backend.clusters.set_settings(1, sections)))
    answers.append(over_rest(engine, "PATCH", "clusters/1/attributes", {"editable": sections}))
    with opened(engine, "local") as backend:
        backend.plugins.disable(1, 1)

        def enable(backend: Backend) -> None:
            switched = {"monitor": {**sections["monitor"], "metadata": {"enabled": True}}}
            backend.clusters.set_settings(1, switched)

        taken, _ = tried_enabling(backend, enable)
        answers.append((taken, answers[0][1]))
    assert len({repr(answer) for answer in answers}) == 1, answers


def tried_enabling(backend: Backend, enable: Callable[[Backend], object]) -> tuple[bool, bool]:
    try:
        enable(backend)
    except FuelError:
        assert not backend.plugins.enabled(1)
        return False, False
    return True, True


@given(st.sampled_from(["node-1", "NODE-2", "node-3", "web"]), st.sampled_from(["update", "attributes"]))
def test_host_names(engine: Path, name: str, door: str) -> None:
    def change(backend: Backend) -> object:
        backend.clusters.add_nodes(1, [2], ["compute"])
        if door == "update":
            return backend.nodes.update(1, hostname=name)
        return backend.nodes.set_attributes(1, {"hostname": name})

    for kind in ("local", "remote"):
        with opened(engine, kind) as backend:
            assert tried(backend, change)[0] == (name.lower() != "node-2")


@given(st.sampled_from(["172.16.0.0", "172.16.0.1", "172.16.0.7", "172.16.0.255"]))
def test_virtual_addresses(engine: Path, address: str) -> None:
    doors: list[Callable[[Backend], object]] = [
        lambda backend: backend.networks.create_vip(1, "mine", address, network_id=2),
        lambda backend: backend.networks.set_vips(1, [{"vip_name": "mine", "ip_addr": address, "network": 2}]),
        lambda backend: backend.networks.set_configuration(1, {"vips": {"mine": {"ipaddr": address}}}),
    ]
    answers = []
    for door, kind in itertools.product(doors, ("local", "remote")):
        with opened(engine, kind) as backend:
            answers.append(tried(backend, door)[0])
    record = {"vip_name": "mine", "ip_addr": address, "network": 2}
    answers.append(over_rest(engine, "POST", "clusters/1/network_configuration/ips/vips", record)[0])
    assert set(answers) == {address == "172.16.0.7"}, answers


@pytest.mark.parametrize("kind", ["local", "remote"])
def test_a_virtual_address_stays_inside_its_network(engine: Path, kind: str) -> None:
    record = {"vip_name": "mine", "ip_addr": "10.0.0.1", "network": 2}
    moved = {"networks": [{"name": "public", "cidr": "172.17.0.0/24", "gateway": "172.17.0.1"}]}
    with opened(engine, kind) as backend:
        named = "The virtual address mine, 10.0.0.1, is not in network public (172.16.0.0/24)."
        with refused(InvalidDocument, named, "id 2"):
            backend.networks.create_vip(1, "mine", "10.0.0.1", network_id=2)
        with refused(InvalidDocument, named):
            backend.networks.set_vips(1, [record])
        backend.networks.create_vip(1, "mine", "172.16.0.7", network_id=2)
        with refused(InvalidDocument, "mine, 172.16.0.7, is not in network public (172.17.0.0/24)"):
            backend.networks.set_configuration(1, moved)
        backend.networks.set_configuration(1, {**moved, "vips": {"mine": {"ipaddr": "172.17.0.7"}}})
