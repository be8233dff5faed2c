"""Laws of whole plans: the same inputs give the same plan, and the same plan the same trace."""

from __future__ import annotations

from building import snapshot as taken
from hash_seeds import same_answer
from hypothesis import assume, given
from hypothesis import strategies as st
from properties.strategies import OWNERS, fleets, graphs

from fuelclient.errors import InvalidGraph
from fuelclient.expressions.evaluation import Expressions
from fuelclient.insight.forecast import simulate
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.graph import Layer, MergedTask
from fuelclient.model.node import Node
from fuelclient.model.run import RunRequest
from fuelclient.plan.plan import Plan, plan


def planned(tasks: list[MergedTask], nodes: dict[int, list[str]]) -> Plan:
    members = [Node(uid, f"n{uid}", 1, roles=tuple(tags), executor="local") for uid, tags in nodes.items()]
    parts: dict[str, dict[str, object]] = {uid: {} for uid in (*map(str, nodes), "master", "null")}
    snapshot = taken([Layer(OWNERS[0], tuple(task.task for task in tasks))], members)
    return plan(snapshot, RunRequest(1), Expressions(DeploymentFacts({}, parts)))


@given(graphs(), fleets, st.integers(0, 40))
def test_the_same_plan_gives_the_same_trace(tasks: list[MergedTask], nodes: dict[int, list[str]], failing: int) -> None:
    """Whatever order the nodes come in."""
    try:
        one = planned(tasks, nodes)
    except InvalidGraph:
        assume(False)
    other = planned(list(tasks), dict(reversed(nodes.items())))

    assert one.digest == other.digest
    durations = [1 + vertex % 3 for vertex in range(one.work.size)]
    assert simulate(one.work, durations, {failing}) == simulate(other.work, durations, {failing})


_PLANS = """
from building import snapshot
from properties.crowded import PRIMARY, ROLES, layers
from fuelclient.expressions.evaluation import Expressions
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.node import Node
from fuelclient.model.run import RunRequest
from fuelclient.plan.plan import plan
from fuelclient.insight.forecast import simulate

nodes = [Node(n, f"node-{n}", 1, pending_roles=(f"role-{n % 9}",), executor="local") for n in range(1, 13)]
parts = {**{str(n): {"uid": str(n)} for n in range(1, 13)}, "master": {"uid": "m"}, "null": {}}
found = snapshot(layers(), nodes, ROLES, PRIMARY)
made = plan(found, RunRequest(1), Expressions(DeploymentFacts({}, parts)))
print(made.digest, len(made.rendered), len(made.details))
for moment in simulate(made.work, [1] * made.work.size, {40, 60}).moments:
    print(moment)
"""


def test_hash_seeds_do_not_show() -> None:
    """Neither in the digest, on which a resumed run depends, nor in what runs when."""
    assert len(same_answer(_PLANS)) > 10_000
