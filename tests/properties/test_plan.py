"""Laws of whole plans: the same inputs give the same plan, and the same plan the same trace."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from building import snapshot as taken
from hypothesis import assume, given
from hypothesis import strategies as st
from properties.strategies import OWNERS, fleets, graphs

from fuelclient.engine.planning import Expressions
from fuelclient.errors import InvalidGraph
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.graph import Layer, MergedTask
from fuelclient.model.node import Node
from fuelclient.model.transaction import ExecutionRequest
from fuelclient.plan.plan import Plan, plan
from fuelclient.plan.simulate import simulate


def planned(tasks: list[MergedTask], nodes: dict[int, list[str]]) -> Plan:
    members = [Node(uid, f"n{uid}", 1, roles=tuple(tags), executor="local") for uid, tags in nodes.items()]
    parts: dict[str, dict[str, object]] = {uid: {} for uid in (*map(str, nodes), "master", "null")}
    snapshot = taken([Layer(OWNERS[0], tuple(task.task for task in tasks))], members)
    return plan(snapshot, ExecutionRequest(1), Expressions(DeploymentFacts({}, parts)))


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
from building import STAGES, layer, plugin, roles, snapshot, tasks_from, RELEASE
from fuelclient.engine.planning import Expressions
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.node import Node
from fuelclient.model.transaction import ExecutionRequest
from fuelclient.plan.plan import plan
from fuelclient.plan.simulate import simulate

tags = [f"tag-{number}" for number in range(9)]
release = [
    {"id": f"task-{n}", "type": "shell", "roles": [tags[n % 9], "/tag-[3-5]/", "primary-tag-0"],
     "requires": ["deploy_start", "/task-[0-%d]$/" % (n % 7)] if n > 9 else [], "required_for": ["deploy_end"],
     "condition": {"yaql_exp": "$.uid != '%d'" % (n % 12)},
     "parameters": {"cmd": "run", "strategy": {"type": "parallel", "amount": 1 + n % 3}},
     "cross-depends": [{"name": "/task-[01]$/", "role": tags[1:4]}] if n > 9 else [{"yaql_exp": "[]"}]}
    for n in range(30)
]
groups = [{"id": f"group-{n}", "type": "group", "roles": tags[n : n + 2], "tasks": [f"task-{n}"]} for n in range(8)]
legacy = [{"stage": f"pre_deployment/{n % 3}", "type": "shell", "role": tags[n % 9]} for n in range(9)]
layers = [
    layer(RELEASE, *tasks_from([*STAGES, *release, *groups])),
    layer(plugin("zeta"), *tasks_from(legacy, "zeta")), layer(plugin("alfa"), *tasks_from(legacy, "alfa")),
]
known = roles(**{f"role-{n}": tags[n:n + 3] for n in range(9)})
nodes = [Node(n, f"node-{n}", 1, pending_roles=(f"role-{n % 9}",), executor="local") for n in range(1, 13)]
parts = {**{str(n): {"uid": str(n)} for n in range(1, 13)}, "master": {"uid": "m"}, "null": {}}
found = snapshot(layers, nodes, known, ["tag-0", "tag-2", "tag-7"])
made = plan(found, ExecutionRequest(1), Expressions(DeploymentFacts({}, parts)))
print(made.digest, len(made.rendered), len(made.details))
for moment in simulate(made.work, [1] * made.work.size, {40, 60}).moments:
    print(moment)
"""


def test_hash_seeds_do_not_show() -> None:
    """Neither in the digest, on which a resumed run depends, nor in what runs when."""
    root = Path(__file__).resolve().parents[2]
    answers = []
    for number in ("1", "2", "3"):
        environment = {**os.environ, "PYTHONHASHSEED": number, "PYTHONPATH": f"{root}{os.pathsep}{root / 'tests'}"}
        done = subprocess.run(
            [sys.executable, "-c", _PLANS], env=environment, capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode == 0, done.stderr
        answers.append(done.stdout)

    assert len(answers[0]) > 10_000
    assert answers[0] == answers[1] == answers[2]
