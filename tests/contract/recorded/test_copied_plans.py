"""A copy of a deployed environment of a real master plans what its master would, also after a change in the copy."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from building import RELEASE, tasks_from
from recorded_expansion import recorded
from recorded_facts import leaves, whole

from fuelclient.backends.copies import all_inputs
from fuelclient.backends.local import LocalBackend
from fuelclient.environment.differences import EnvironmentCopy, PastRun
from fuelclient.environment.networks import network_configuration
from fuelclient.environment.plans import plan
from fuelclient.errors import InvalidGraph
from fuelclient.facts.compute import computed
from fuelclient.facts.given import effective_facts
from fuelclient.model.fact import NO_FACTS, DeploymentFacts
from fuelclient.model.graph import DEFAULT_TYPE, Layer
from fuelclient.model.node import Node, NodeStatus
from fuelclient.model.run import CHILD, HistoryRow, Run, RunRequest
from fuelclient.model.status import InstanceStatus, RunStatus
from fuelclient.plan.inputs import Inputs, Memory
from fuelclient.plan.work import InstanceKind

pytestmark = pytest.mark.corpus

REQUEST = RunRequest(1, (DEFAULT_TYPE,), dry_run=True)
ADDED, MISSING = 0.1, 0.02
DEBUG = {"common": {"debug": {"value": True}}}


def facts_of(case: str) -> DeploymentFacts:
    facts = recorded(case)["facts"]
    return DeploymentFacts(facts["common"], facts["nodes"])


def deployed(case: str, facts: DeploymentFacts, uploaded: DeploymentFacts = NO_FACTS) -> EnvironmentCopy:
    """A recorded environment as it is read from its master after a run in which everything succeeded that was to run.

    A master states no disks, interfaces or other attributes of nodes from which its facts follow.
    """
    record, environment = recorded(case), whole(case)[0]
    nodes = (replace(node, status=NodeStatus.READY, attributes={}) for node in environment.nodes)
    environment = replace(environment, nodes=tuple(nodes))
    skipped = {(task, uid) for task, uid, _ in record["expected"]["skipped"]}
    ran = [(task, uid) for task, uid, _ in record["expected"]["vertices"] if (task, uid) not in skipped]
    seen = effective_facts(facts, uploaded)
    memory = Memory({1: seen}, dict.fromkeys(ran, 1))
    layers = {DEFAULT_TYPE: (Layer(replace(RELEASE, id=environment.release.id), tasks_from(record["tasks"])),)}
    rows = [
        HistoryRow(1, DEFAULT_TYPE, task, int(uid) if uid.isdigit() else uid, InstanceStatus.READY, "puppet")
        for task, uid in ran
    ]
    run = Run(1, "1", 1, CHILD, RunStatus.READY, RunRequest(1, (DEFAULT_TYPE,)), DEFAULT_TYPE, parent_id=2)
    inputs = Inputs(environment, layers, seen, memory)
    past = (PastRun(run, seen, tuple(rows)),)
    return EnvironmentCopy(inputs, network_configuration(environment), {}, past, has_parts=False, uploaded=uploaded)


def planned(inputs: Inputs) -> dict[str, str]:
    """What becomes of each task instance, by its name; of a plan that cannot be made, the reasons."""
    try:
        made = plan(inputs, replace(REQUEST, cluster_id=inputs.environment.cluster.id), DEFAULT_TYPE)
    except InvalidGraph as error:
        return {str(finding): "fails" for finding in error.findings}
    work, real = made.work, InstanceKind.REAL
    names = [(vertex, work.name(vertex)) for vertex in range(work.size)]
    return {
        name: made.unknown.get(vertex) or ("runs" if work.kinds[vertex] is real else str(work.passed_because(vertex)))
        for vertex, name in names
    }


def distorted(value: Any, chance: random.Random, missing: float) -> Any:
    """Facts in another order, some of which are missing, and others that only this master has."""
    if not isinstance(value, Mapping):
        return value
    items = [(name, distorted(below, chance, missing)) for name, below in value.items() if chance.random() >= missing]
    items += [("of-this-master", chance.random())] if chance.random() < ADDED else []
    return dict(chance.sample(items, len(items)))


def ordered(facts: DeploymentFacts) -> list[tuple[str, Any]]:
    return [*leaves(facts.common), *(leaf for uid in sorted(facts.nodes) for leaf in leaves(facts.nodes[uid], uid))]


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[LocalBackend]:
    with closing(LocalBackend(str(tmp_path / "copy.db"))) as made:
        yield made


@pytest.mark.parametrize(("case", "instances"), [("1", 528), ("2", 272)])
def test_a_copy_runs_what_its_master_would(engine: LocalBackend, case: str, instances: int) -> None:
    copy = deployed(case, facts_of(case))
    wanted = planned(copy.inputs)
    assert len(wanted) == instances
    assert sum(reason == "runs" for reason in wanted.values()) < instances / 10
    assert planned(all_inputs(engine, engine.copies.store(copy).cluster_id)) == wanted


@pytest.mark.parametrize("seed", [pytest.param(seed, marks=pytest.mark.slow if seed % 3 else ()) for seed in range(8)])
def test_whatever_the_facts_of_the_master_are(engine: LocalBackend, seed: int) -> None:
    """It lacks some that the engine computes, has others, and each mapping in an order of its own."""
    chance, facts = random.Random(seed), facts_of("1")  # noqa: S311 - not a secret
    nodes = {uid: distorted(part, chance, MISSING) for uid, part in facts.nodes.items()}
    copy = deployed("1", DeploymentFacts(distorted(facts.common, chance, missing=0), nodes))
    found = all_inputs(engine, engine.copies.store(copy).cluster_id)
    assert ordered(found.facts) == ordered(copy.inputs.facts)
    assert ordered(copy.inputs.facts) != ordered(facts)
    assert planned(found) == planned(copy.inputs)


def test_a_changed_setting_changes_what_follows_from_it(engine: LocalBackend) -> None:
    copy = deployed("1", facts_of("1"))
    copied = engine.copies.store(copy).cluster_id
    engine.clusters.set_settings(copied, {**copy.inputs.environment.own_settings, **DEBUG})
    environment, given = whole("1")
    own = {**environment.own_settings, **DEBUG}
    on_master = computed(replace(environment, own_settings=own), given).facts
    wanted = replace(copy.inputs, facts=DeploymentFacts({**facts_of("1").common, "debug": True}, facts_of("1").nodes))
    assert dict(leaves(on_master.common)).items() ^ dict(leaves(facts_of("1").common)).items() >= {(".debug", True)}

    found = all_inputs(engine, copied)

    assert ordered(found.facts) == ordered(wanted.facts)
    assert planned(found) == planned(wanted)
    running = {name for name, reason in planned(found).items() if reason == "runs"}
    assert len(running) > sum(reason == "runs" for reason in planned(copy.inputs).values()) + 20


def test_a_changed_network_changes_what_follows_from_it(engine: LocalBackend) -> None:
    copy = deployed("1", facts_of("1"))
    copied = engine.copies.store(copy).cluster_id
    document = engine.networks.configuration(copied)
    networks = [{**one, "cidr": "10.77.0.0/24"} if one["name"] == "storage" else one for one in document["networks"]]
    engine.networks.set_configuration(copied, {**document, "networks": networks})
    found, original = engine.facts.effective(copied), facts_of("1")
    assert {part["storage_network_range"] for uid, part in found.nodes.items() if uid.isdigit()} == {"10.77.0.0/24"}
    differing = dict(leaves(found.common)).items() ^ dict(leaves(original.common)).items()
    assert len(differing) > 50
    assert {str(value).rsplit(".", 1)[0] for _, value in differing} == {"10.77.0", "192.168.1"}


def test_a_node_that_is_new_in_the_copy_has_facts(engine: LocalBackend) -> None:
    copied = engine.copies.store(deployed("1", facts_of("1"))).cluster_id
    engine.nodes.create([Node(7, "node-7")])
    engine.clusters.add_nodes(copied, [7], ["compute"])
    found = engine.facts.effective(copied)
    assert found.nodes["7"]["roles"] == ["compute"]
    assert [*found.common["network_metadata"]["nodes"]] == [
        *facts_of("1").common["network_metadata"]["nodes"], "node-7"
    ]  # fmt: skip
    assert dict(found.nodes["1"]) == facts_of("1").nodes["1"]
    engine.clusters.remove_nodes(copied, [6])
    assert "6" not in engine.facts.effective(copied).nodes


def test_uploaded_facts_stay_uploaded_ones(engine: LocalBackend) -> None:
    uploaded = DeploymentFacts({"debug": "by hand"}, {"2": {"of_a_node": 1}})
    copy = deployed("1", facts_of("1"), uploaded)
    copied = engine.copies.store(copy).cluster_id
    assert engine.facts.get(copied) == uploaded
    engine.clusters.set_settings(copied, {**copy.inputs.environment.own_settings, **DEBUG})
    assert ordered(engine.facts.effective(copied)) == ordered(copy.inputs.facts)
    engine.facts.delete(copied)
    assert engine.facts.get(copied).is_empty
