"""What runs are given: facts, and sequences of graphs."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from executions import Executions, shell
from refusals import missing, refused

from fuelclient.errors import Conflict, InvalidGraph, UsageError
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.finding import Finding
from fuelclient.model.node import Node


def test_uploaded_facts_override_computed_ones(env: Executions) -> None:
    facts = env.backend.facts
    assert facts.get(1).is_empty

    facts.put(1, DeploymentFacts({"cluster": {"mode": "mine"}}, {"2": {"disk": 7}}))

    assert facts.get(1) == DeploymentFacts({"cluster": {"mode": "mine"}}, {"2": {"disk": 7}})
    effective = facts.effective(1)
    assert effective.common["cluster"] == {**facts.default(1).common["cluster"], "mode": "mine"}
    assert effective.common["cluster"]["id"] == 1
    assert (effective.nodes["2"]["disk"], effective.nodes["2"]["roles"]) == (7, ["compute"])
    assert set(effective.nodes) == {"null", "master", "1", "2", "3"}
    facts.put(1, DeploymentFacts({}, {"3": {"disk": 8}}))
    assert facts.get(1) == DeploymentFacts({}, {"2": {"disk": 7}, "3": {"disk": 8}})
    with missing("node", "9 of environment 1"):
        facts.put(1, DeploymentFacts({}, {"9": {}}))
    facts.delete(1)
    assert facts.get(1).is_empty


def removed(env: Executions) -> None:
    env.backend.clusters.remove_nodes(1, [3])
    env.backend.clusters.add_nodes(1, [3], ["compute"])


def deleted(env: Executions) -> None:
    env.backend.nodes.delete([3], force=True)
    env.backend.nodes.create([Node(3, "another", 1, pending_roles=("compute",))])


def away(env: Executions) -> None:
    env.backend.clusters.create("other", 1)
    for before, after in ((1, 2), (2, 1)):
        env.backend.clusters.remove_nodes(before, [3])
        env.backend.clusters.add_nodes(after, [3], ["compute"])
        assert "disk" not in env.backend.facts.effective(after).nodes["3"]


@pytest.mark.parametrize("leave_and_return", [removed, deleted, away])
def test_uploaded_facts_of_a_node_go_with_it(env: Executions, leave_and_return: Callable[[Executions], None]) -> None:
    facts = env.backend.facts
    facts.put(1, DeploymentFacts({"all": 1}, {"2": {"disk": 7}, "3": {"disk": 8}, "master": {"disk": 9}}))
    leave_and_return(env)
    assert facts.get(1) == DeploymentFacts({"all": 1}, {"2": {"disk": 7}, "master": {"disk": 9}})
    assert "disk" not in facts.effective(1).nodes["3"]


def test_a_run_needs_a_decision_for_what_is_not_known(env: Executions) -> None:
    env.graph(shell("a", env.note("a"), condition={"yaql_exp": "$.rack.is_new"}), shell("b", env.note("b")))
    with pytest.raises(InvalidGraph) as caught:
        env.begin(node_ids=(1,))
    assert [finding.code for finding in caught.value.findings if isinstance(finding, Finding)] == ["G036"]

    skipping = env.run(node_ids=(1,), unknown="skip")
    assert env.noted() == ["b"]
    assert env.outcomes(skipping.id)["a@1"] == ("skipped", "unknown")
    assumed = DeploymentFacts({"rack": {"is_new": True}}, {"1": {"rack": {"name": "r1"}}})
    deciding = env.run(node_ids=(1,), assumed=assumed)
    assert sorted(env.noted()) == ["a", "b", "b"]
    assert env.backend.runs.deployment_info(deciding.id).nodes["1"]["rack"] == {"name": "r1"}


def test_sequences_are_kept(env: Executions) -> None:
    sequences = env.backend.sequences
    made = sequences.create(1, "all", ["provision", "default"])

    assert sequences.get(made.id) == made
    assert (made.release_id, made.name, made.graph_types) == (1, "all", ("provision", "default"))
    with refused(Conflict, "release 1", "sequence all"):
        sequences.create(1, "all", ["default"])
    with refused(UsageError, "sequence", "graph type"):
        sequences.create(1, "none", [])
    with missing("release", 9):
        sequences.create(9, "x", ["default"])
    assert sequences.update(made.id, name="some").graph_types == made.graph_types
    assert sequences.update(made.id, graph_types=["a"]).name == "some"
    with pytest.raises(UsageError, match=r"Nothing to update\."):
        sequences.update(made.id)
    assert [one.name for one in sequences.list(release_id=1)] == ["some"]
    assert sequences.list(cluster_id=1) == sequences.list()
    sequences.delete(made.id)
    with missing("sequence", made.id):
        sequences.get(made.id)
