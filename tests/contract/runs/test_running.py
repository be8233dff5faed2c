"""Graphs run to their ends: in order, within limits, with failures that stop them and failures that do not."""

from __future__ import annotations

from executions import TOLERANT, Executions, shell, stage

from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.run import EventKind, HistoryFilter


def test_a_graph_runs_to_its_end(env: Executions) -> None:
    env.graph(
        stage("start"),
        shell("a", env.note("a"), requires=["start"]),
        shell("b", f"{env.note('b')}; echo said; echo complained >&2", cross_depends=[{"name": "a"}]),
    )

    found = env.run()

    assert (found.status, found.progress, found.name) == ("ready", 100, "deploy")
    assert found.message == "All 7 task instances ended."
    assert [(one.graph_type, one.status, one.name) for one in found.children] == [("default", "ready", "deployment")]
    assert env.noted() == ["a"] * 3 + ["b"] * 3
    assert env.outcomes(found.id)["b@3"] == ("ready", "")
    assert env.outcomes(found.id)["start@None"] == ("skipped", "sync_point")
    assert env.statuses() == {1: "ready", 2: "ready", 3: "ready"}
    node = env.backend.nodes.get(1)
    assert (node.roles, node.pending_roles, node.pending_addition) == (("compute",), (), False)
    assert env.backend.clusters.get(1).status == "operational"
    logs = env.backend.runs.logs(found.id, "b", "2")
    assert (logs.output, logs.errors, logs.return_code) == ("said\n", "complained\n", 0)


def test_followers_read_what_happened_in_its_order(env: Executions) -> None:
    env.graph(shell("a"), shell("b", requires=["a"]))
    found = env.run(node_ids=(2,))

    events = env.backend.runs.events(found.id)
    told = [(one.task, one.node, one.status) for one in events if one.kind is EventKind.INSTANCE]

    assert told == [("a", 2, "running"), ("a", 2, "ready"), ("b", 2, "running"), ("b", 2, "ready")]
    assert [one.id for one in events] == sorted({one.id for one in events})
    last = events[-1]
    assert (last.run_id, last.kind, last.status, last.progress) == (found.id, "transaction", "ready", 100)
    middle = events[3].id
    assert env.backend.runs.events(found.id, after=middle, limit=2) == events[4:6]
    assert env.backend.runs.events(found.children[0].id, after=last.id) == []


def test_a_failure_without_tolerance_ends_the_run(env: Executions) -> None:
    env.graph(
        shell("a", "exit 7", parameters={"cmd": "exit 7", "retries": 0, "strategy": {"type": "one_by_one"}}),
        shell("b", requires=["a"]),
    )

    found = env.run()

    assert found.status == "error"
    assert "Failed: a@1." in found.message
    assert "Node 1 has zero fault tolerance." in found.message
    outcomes = env.outcomes(found.id)
    assert outcomes["a@1"] == ("error", "")
    assert outcomes["b@1"] == ("skipped", "dep_failed")
    assert outcomes["a@2"] == ("skipped", "stopped")
    (row,) = env.backend.runs.history(found.id, HistoryFilter(statuses=("error",)))
    assert row.return_code == 7
    blamed = env.backend.runs.history(found.id, HistoryFilter(nodes=("1",), tasks=("b",)))
    assert [row.because for row in blamed] == ["a@1"]
    assert env.statuses() == {1: "error", 2: "stopped", 3: "stopped"}
    assert env.backend.nodes.get(1).error_type == "deploy"
    assert env.backend.clusters.get(1).status == "partially_deployed"


def test_a_group_tolerates_failures(env: Executions) -> None:
    env.backend.facts.put(1, DeploymentFacts({}, {"2": {"broken": True}}))
    cmd = {"yaql_exp": "switch($.get(broken, false) => 'exit 1', true => 'exit 0')"}
    env.graph(TOLERANT, shell("a", cmd), shell("b", requires=["a"]))

    found = env.run()

    assert found.status == "ready"
    assert "Tolerated failures: a@2." in found.message
    assert env.statuses() == {1: "ready", 2: "error", 3: "ready"}
    assert env.outcomes(found.id)["b@3"] == ("ready", "")


def test_a_strategy_limits_a_task(env: Executions) -> None:
    cmd = f"{env.note('begin')}; sleep 0.05; {env.note('end')}"
    parameters = {"cmd": cmd, "retries": 0, "strategy": {"type": "one_by_one"}}
    env.graph(shell("a", parameters=parameters))

    env.run()

    assert env.noted() == ["begin", "end"] * 3


def test_a_failure_that_the_task_ignores_stops_nothing(env: Executions) -> None:
    env.graph(shell("a", "false", fail_on_error=False), shell("b", requires=["a"]))

    found = env.run()

    assert found.status == "ready"
    assert env.outcomes(found.id)["a@1"] == ("skipped", "failure_ignored")
    assert env.outcomes(found.id)["b@1"] == ("ready", "")


def test_graphs_run_in_turn_each_on_what_the_last_one_left(env: Executions) -> None:
    env.graph(shell("a", env.note("a")), graph_type="first")
    env.graph(shell("b", env.note("b")), graph_type="second", metadata={"node_filter": "$.status = ready"})

    found = env.run("first", "second", "first")

    assert found.status == "ready"
    assert found.message == "All 3 graphs ended."
    assert [one.graph_type for one in found.children] == ["first", "second", "first"]
    assert env.noted() == ["a"] * 3 + ["b"] * 3 + ["a"] * 3
    assert [row.graph_type for row in env.rows(found.id)] == ["first"] * 3 + ["second"] * 3 + ["first"] * 3


def test_the_first_graph_that_fails_ends_the_chain(env: Executions) -> None:
    env.graph(shell("a", f"{env.met(3)}; false"), graph_type="first")
    env.graph(shell("b", env.note("b")), graph_type="second")

    found = env.run("first", "second")

    assert found.status == "error"
    assert found.message.startswith("Graph first: Failed: a@1, a@2, a@3.")
    assert [(one.status, one.message) for one in found.children][1] == ("error", "Aborted")
    assert "b" not in env.noted()
    assert env.rows(found.children[1].id) == []


def test_unchanged_success_is_skipped_next_time(env: Executions) -> None:
    changed = {"yaql_exp": "changed($.get(wanted))"}
    env.graph(shell("a", env.note("a"), condition=changed))
    env.backend.facts.put(1, DeploymentFacts({"wanted": 1}))

    env.run()
    again = env.run()

    assert env.outcomes(again.id)["a@1"] == ("skipped", "condition")
    assert len(env.noted()) == 3
    env.run(force=True)
    assert len(env.noted()) == 6
    env.backend.facts.put(1, DeploymentFacts({"wanted": 2}))
    env.run(noop=True)
    env.run()
    assert len(env.noted()) == 9
