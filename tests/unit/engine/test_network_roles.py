"""Plugins that extend network roles: facts, network configuration and stored virtual addresses agree at any time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain, count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from networked import networked
from package_trees import write_package

from fuelclient.engine import Engine
from fuelclient.model.node import Node

NAMES: Mapping[str, Mapping[str, list[str]]] = {
    "add": {"mgmt/vip": ["extra"]},
    "clear": {"mgmt/vip": []},
    "later": {"mgmt/vip": ["management_again"]},
    "own": {"own": ["first"]},
    "own_too": {"own": ["second"], "mgmt/vip": ["third"]},
    "without": {"ex": ["no_list_to_extend"]},
}
"""The names of the virtual addresses that each plugin states, by network role."""


def expected(enabled: set[str]) -> set[str]:
    """Return the names of the virtual addresses of an environment, by plain reading of the rule."""
    roles = {"mgmt/vip": ["management"], "ex": None}
    for plugin in sorted(enabled):
        for role, names in NAMES[plugin].items():
            if role not in roles:
                roles[role] = names
            elif roles[role] is not None:
                roles[role] = [*(roles[role] or ()), *names] if names else []
    return set(chain.from_iterable(names for names in roles.values() if names))


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    directory: Path = tmp_path_factory.mktemp("engine")
    made = Engine(str(directory / "engine.db"))
    made.releases.create([networked()])
    record = {"os": "ubuntu", "version": "test-9.2", "mode": ["ha"]}
    for plugin, roles in NAMES.items():
        stated = [
            {
                "id": role,
                "default_mapping": "management",
                "properties": {"subnet": True, "gateway": False, "vip": [{"name": name} for name in names]},
            }
            for role, names in roles.items()
        ]
        path = write_package(directory / plugin, plugin, releases=[record], files={"network_roles.yaml": stated})
        made.plugins.install(path)
    yield made
    made.close()


steps = st.tuples(st.sampled_from(sorted(NAMES)), st.booleans(), st.booleans())
"""A plugin to enable or disable, whether a node comes too, and whether something looks at the facts then."""
numbers = count()


@given(st.lists(steps, min_size=1, max_size=12))
@settings(max_examples=25)
def test_plugins_come_and_go_in_any_order(engine: Engine, changes: list[tuple[str, bool, bool]]) -> None:
    ids = {plugin.name: plugin.id for plugin in engine.plugins.list()}
    env = engine.clusters.create(f"env-{next(numbers)}", 1).id
    engine.nodes.create([Node(0, f"n-{next(numbers)}", env, pending_roles=("controller",))])
    enabled: set[str] = set()
    addresses: dict[str, Any] = {}
    for plugin, with_node, with_facts in changes:
        (engine.plugins.disable if plugin in enabled else engine.plugins.enable)(ids[plugin], env)
        enabled ^= {plugin}
        if with_node:
            engine.nodes.create([Node(0, f"n-{next(numbers)}", env, pending_roles=("compute",))])
        configured: Any = engine.networks.configuration(env)
        assert set(configured["vips"]) == expected(enabled)
        assert {vip["vip_name"] for vip in engine.networks.vips(env)} <= expected(enabled)
        if not with_facts:
            continue
        vips = engine.facts.default(env).common["network_metadata"]["vips"]
        assert set(vips) == expected(enabled)
        assert {vip["vip_name"]: vip["ip_addr"] for vip in engine.networks.vips(env)} == {
            name: vip["ipaddr"] for name, vip in vips.items()
        }
        of_nodes = {
            name: node["network_roles"]["mgmt/vip"]
            for name, node in engine.facts.default(env).common["network_metadata"]["nodes"].items()
        }
        assert of_nodes.items() >= addresses.items(), "no node's address changes"
        everything = [*of_nodes.values(), *(vip["ipaddr"] for vip in vips.values())]
        assert len(everything) == len(set(everything))
        addresses = of_nodes
