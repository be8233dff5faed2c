"""Where facts come from."""

from __future__ import annotations

from dataclasses import replace

import pytest
from networked import networked

from fuelclient.errors import NotFound
from fuelclient.facts.compute import computed
from fuelclient.facts.given import Given
from fuelclient.facts.paths import origins
from fuelclient.model.cluster import Cluster
from fuelclient.model.environment import Environment
from fuelclient.model.fact import NO_FACTS, DeploymentFacts
from fuelclient.model.node import Node
from fuelclient.model.plugin import Plugin

PLUGIN = Plugin(3, "watch", "1.2.0", metadata={"attributes_metadata": {"level": {"value": 2}}})
TARGET = Environment(
    Cluster(1, "e", 1),
    networked(),
    (PLUGIN,),
    (Node(1, "n1", 1, pending_roles=("controller",)), Node(2, "n2", 1, attributes={"rack": "r1"})),
    {"storage": {"osd_pool_size": {"value": "5"}}},
)
FACTS = computed(TARGET, Given()).facts


def told(path: str, uploaded: DeploymentFacts = NO_FACTS) -> dict[str, str]:
    return {origin.part: origin.text for origin in origins(TARGET, FACTS, uploaded, path)}


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("debug", "the setting common.debug, a default of the release"),
        ("heat.enabled", "the setting additional_components.heat, a default of the release"),
        ("heat.db_password", "generated at random once (password) and stored"),
        ("storage.key", "the setting storage.key: generated at random once (uuid4) and stored"),
        ("storage.osd_pool_size", "the setting storage.osd_pool_size, changed in this environment"),
        ("storage.pg_num", "computed from the partitions for Ceph"),
        ("syslog.server", "a value of the master (ip)"),
        ("watch.level", "the setting watch.level, a default of plugin watch"),
        ("$.network_metadata.vips", "virtual addresses"),
        ("mp", "a constant"),
    ],
)
def test_a_common_fact(path: str, words: str) -> None:
    assert words in told(path)["common"]


def test_a_fact_of_nodes() -> None:
    assert set(told("network_scheme")) == {"1", "2"}
    assert told("rack") == {"2": "the attribute rack of the node"}
    assert set(told("roles")) == {"1", "2", "master"}


def test_an_uploaded_fact() -> None:
    uploaded = DeploymentFacts({"debug": 1, "own": {"x": 1}}, {"1": {"fqdn": "a"}})
    assert told("debug", uploaded) == {"common": "uploaded"}
    assert told("own.x", uploaded) == {"common": "uploaded"}
    fqdn = told("fqdn", uploaded)
    assert (fqdn["1"], "uploaded" in fqdn["2"]) == ("uploaded", False)


def test_every_computed_fact_has_an_origin() -> None:
    whole = replace(TARGET, nodes=TARGET.nodes[:1], plugins=())
    made = computed(whole, Given()).facts
    for path in {*made.common, *made.nodes["1"]}:
        assert all(origin.text for origin in origins(whole, made, NO_FACTS, path)), path


def test_a_fact_that_does_not_exist() -> None:
    with pytest.raises(NotFound) as caught:
        told("storge.pg_num")
    assert "storage" in caught.value.hint
