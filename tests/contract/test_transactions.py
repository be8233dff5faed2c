"""What every backend does with executions, sequences and facts; graphs really run, on nodes of this machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from executions import TOLERANT, Executions, executions, shell, stage

from fuelclient.errors import Conflict, InvalidGraph, NotFound, UsageError
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.finding import Finding
from fuelclient.model.node import Node
from fuelclient.model.task import Task
from fuelclient.model.transaction import EventKind, ExecutionRequest, HistoryFilter


class TransactionContract:
    """The behaviour that front ends rely on."""

    def make(self, tmp_path: Path) -> Executions:
        """A backend with an environment of three compute nodes."""
        raise NotImplementedError

    @pytest.fixture
    def env(self, tmp_path: Path) -> Iterator[Executions]:
        made = self.make(tmp_path)
        yield made
        made.backend.close()

    # A run

    def test_a_graph_runs_to_its_end(self, env: Executions) -> None:
        env.graph(
            stage("start"),
            shell("a", env.note("a"), requires=["start"]),
            shell("b", f"{env.note('b')}; echo said; echo complained >&2", cross_depends=[{"name": "a"}]),
        )

        found = env.run()

        assert (found.status, found.progress, found.name) == ("ready", 100, "deploy")
        assert found.message == "All 7 task instances ended."
        assert [(one.graph_type, one.status, one.name) for one in found.children] == [
            ("default", "ready", "deployment")
        ]
        assert env.noted() == ["a"] * 3 + ["b"] * 3
        assert env.outcomes(found.id)["b@3"] == ("ready", "")
        assert env.outcomes(found.id)["start@None"] == ("skipped", "sync_point")
        assert env.statuses() == {1: "ready", 2: "ready", 3: "ready"}
        node = env.backend.nodes.get(1)
        assert (node.roles, node.pending_roles, node.pending_addition) == (("compute",), (), False)
        assert env.backend.clusters.get(1).status == "operational"
        logs = env.backend.transactions.logs(found.id, "b", "2")
        assert (logs.output, logs.errors, logs.return_code) == ("said\n", "complained\n", 0)

    def test_followers_read_what_happened_in_its_order(self, env: Executions) -> None:
        env.graph(shell("a"), shell("b", requires=["a"]))
        found = env.run(node_ids=(2,))

        events = env.backend.transactions.events(found.id)
        told = [(one.task, one.node, one.status) for one in events if one.kind is EventKind.INSTANCE]

        assert told == [("a", 2, "running"), ("a", 2, "ready"), ("b", 2, "running"), ("b", 2, "ready")]
        assert [one.id for one in events] == sorted({one.id for one in events})
        last = events[-1]
        assert (last.transaction_id, last.kind, last.status, last.progress) == (found.id, "transaction", "ready", 100)
        middle = events[3].id
        assert env.backend.transactions.events(found.id, after=middle, limit=2) == events[4:6]
        assert env.backend.transactions.events(found.children[0].id, after=last.id) == []

    def test_a_failure_without_tolerance_ends_the_run(self, env: Executions) -> None:
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
        (row,) = env.backend.transactions.history(found.id, HistoryFilter(statuses=("error",)))
        assert row.return_code == 7
        blamed = env.backend.transactions.history(found.id, HistoryFilter(nodes=("1",), tasks=("b",)))
        assert [row.because for row in blamed] == ["a@1"]
        assert env.statuses() == {1: "error", 2: "stopped", 3: "stopped"}
        assert env.backend.nodes.get(1).error_type == "deploy"
        assert env.backend.clusters.get(1).status == "partially_deployed"

    def test_a_group_tolerates_failures(self, env: Executions) -> None:
        env.backend.facts.put(1, DeploymentFacts({}, {"2": {"broken": True}}))
        cmd = {"yaql_exp": "switch($.get(broken, false) => 'exit 1', true => 'exit 0')"}
        env.graph(TOLERANT, shell("a", cmd), shell("b", requires=["a"]))

        found = env.run()

        assert found.status == "ready"
        assert "Tolerated failures: a@2." in found.message
        assert env.statuses() == {1: "ready", 2: "error", 3: "ready"}
        assert env.outcomes(found.id)["b@3"] == ("ready", "")

    def test_a_strategy_limits_a_task(self, env: Executions) -> None:
        cmd = f"{env.note('begin')}; sleep 0.05; {env.note('end')}"
        parameters = {"cmd": cmd, "retries": 0, "strategy": {"type": "one_by_one"}}
        env.graph(shell("a", parameters=parameters))

        env.run()

        assert env.noted() == ["begin", "end"] * 3

    def test_a_failure_that_the_task_ignores_stops_nothing(self, env: Executions) -> None:
        env.graph(shell("a", "false", fail_on_error=False), shell("b", requires=["a"]))

        found = env.run()

        assert found.status == "ready"
        assert env.outcomes(found.id)["a@1"] == ("skipped", "failure_ignored")
        assert env.outcomes(found.id)["b@1"] == ("ready", "")

    # What is asked for

    def test_a_run_is_limited_to_nodes_tasks_and_subgraphs(self, env: Executions) -> None:
        chain = [
            shell(name, env.note(name), requires=before) for name, before in (("a", []), ("b", ["a"]), ("c", ["b"]))
        ]
        env.graph(*chain)

        assert env.outcomes(env.run(node_ids=(2,)).id).keys() == {"a@2", "b@2", "c@2"}
        found = env.run(task_names=("b",), node_ids=(1,))
        assert env.outcomes(found.id) == {
            "a@1": ("skipped", "filtered"), "b@1": ("ready", ""), "c@1": ("skipped", "filtered"),
        }  # fmt: skip
        found = env.run(subgraphs=("b/1-2:",), node_ids=(1, 2))
        assert env.outcomes(found.id)["a@2"] == ("skipped", "subgraph")
        assert env.outcomes(found.id)["c@2"] == ("ready", "")

    def test_nodes_that_wait_to_be_added_take_part_as_soon_as_they_are_provisioned(self, env: Executions) -> None:
        """Imported nodes of this machine are that from the beginning (DESIGN: D23); others wait for an operating
        system, and only a graph with a filter of its own, such as provisioning, runs on them."""
        env.backend.nodes.create(
            [Node(0, "bare", status="discover", cluster_id=1, pending_roles=("compute",), executor="local")]
        )
        env.graph(shell("a"))
        env.graph(shell("b"), graph_type="provision", metadata={"node_filter": "$.pending_addition"})
        before = [(node.status, node.pending_addition, node.pending_roles) for node in env.backend.nodes.list(1)]

        plans = env.backend.transactions.plan(ExecutionRequest(1, ("default", "provision")))

        assert before == [("provisioned", True, ("compute",))] * 3 + [("discover", True, ("compute",))]
        assert [plan.nodes for plan in plans] == [(1, 2, 3), (1, 2, 3, 4)]

    def test_nodes_whose_deployment_failed_are_deployed_again(self, env: Executions) -> None:
        env.graph(shell("a", "exit 1"))
        env.run(node_ids=(2,))
        assert env.backend.nodes.get(2).error_type == "deploy"

        (plan,) = env.backend.transactions.plan(ExecutionRequest(1, ("default",)))

        assert plan.nodes == (1, 2, 3)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"graph_types": ("defualt",)}, r"Graph type defualt does not exist\. Did you mean default\?"),
            ({"graph_types": ("default", "othr")}, r"Graph type othr does not exist\. Did you mean other\?"),
            ({"node_ids": (7,)}, r"Node 7 of environment 1 does not exist\. Known: 1, 2, 3\."),
            ({"task_names": ("keystne",)}, r"Task keystne does not exist\. Did you mean keystone\?"),
            ({"subgraphs": ("keystne:",)}, r"Task keystne does not exist\. Did you mean keystone\?"),
            ({"subgraphs": ("keystone/9",)}, r"Task instance keystone/9 does not exist\. .*runs on 1, 2, 3\."),
            ({"cluster_id": 9}, r"Environment 9 does not exist"),
        ],
    )
    def test_what_does_not_exist_is_an_error(self, env: Executions, options: dict[str, object], message: str) -> None:
        env.graph(shell("keystone"))
        env.graph(shell("later"), graph_type="other")
        request = ExecutionRequest(**{"cluster_id": 1, **options})  # type: ignore[arg-type]  # as the cases say

        with pytest.raises(NotFound, match=message):
            env.backend.transactions.begin(request)

        assert env.backend.transactions.list() == []

    def test_a_graph_that_places_nothing_is_refused(self, env: Executions) -> None:
        env.graph(shell("a", roles=["storage"]), stage("b"))

        with pytest.raises(InvalidGraph, match="places nothing"):
            env.begin()
        assert env.begin(dry_run=True).status == "ready"

    def test_what_cannot_run_is_refused_with_all_reasons(self, env: Executions) -> None:
        env.graph(
            Task("erase", {"type": "erase_node", "roles": ["compute"]}),
            Task("wrong", {"type": "shell", "roles": ["compute"], "parameters": {"cmd": "true", "timeout": "soon"}}),
        )

        with pytest.raises(InvalidGraph) as caught:
            env.begin()

        errors = {one.task for one in caught.value.findings if isinstance(one, Finding) and one.is_error}
        assert errors == {"erase", "wrong"}
        assert env.backend.transactions.list() == []

    # Several graphs

    def test_graphs_run_one_after_another_each_on_what_the_one_before_left(self, env: Executions) -> None:
        env.graph(shell("a", env.note("a")), graph_type="first")
        env.graph(shell("b", env.note("b")), graph_type="second", metadata={"node_filter": "$.status = ready"})

        found = env.run("first", "second", "first")

        assert found.status == "ready"
        assert found.message == "All 3 graphs ended."
        assert [one.graph_type for one in found.children] == ["first", "second", "first"]
        assert env.noted() == ["a"] * 3 + ["b"] * 3 + ["a"] * 3
        assert [row.graph_type for row in env.rows(found.id)] == ["first"] * 3 + ["second"] * 3 + ["first"] * 3

    def test_the_first_graph_that_fails_ends_the_chain(self, env: Executions) -> None:
        env.graph(shell("a", "false"), graph_type="first")
        env.graph(shell("b", env.note("b")), graph_type="second")

        found = env.run("first", "second")

        assert found.status == "error"
        assert found.message.startswith("Graph first: Failed: a@1, a@2, a@3.")
        assert [(one.status, one.message) for one in found.children][1] == ("error", "Aborted")
        assert env.noted() == []
        assert env.rows(found.children[1].id) == []

    # Facts of earlier runs

    def test_what_succeeded_and_has_not_changed_is_skipped_the_next_time(self, env: Executions) -> None:
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

    # Runs that change nothing

    def test_a_dry_run_only_plans(self, env: Executions) -> None:
        env.graph(shell("a", env.note("a")))
        before = env.backend.nodes.list(1)

        found = env.begin(dry_run=True)

        assert (found.status, found.dry_run, found.progress) == ("ready", True, 100)
        assert found.message == "Dry run: 3 task instances would run, 0 would be skipped. Nothing was run."
        assert env.noted() == []
        assert env.backend.nodes.list(1) == before
        assert [(row.task, row.node, row.status) for row in env.rows(found.id)] == []
        (plan,) = env.backend.transactions.plan(ExecutionRequest(1))
        assert [(one.task, one.node, one.runs) for one in plan.instances] == [
            ("a", 1, True),
            ("a", 2, True),
            ("a", 3, True),
        ]

    def test_a_noop_run_tells_and_changes_nothing(self, env: Executions) -> None:
        env.graph(shell("a", env.note("a")), shell("b", "if", requires=["a"]))
        before, status = env.backend.nodes.list(1), env.backend.clusters.get(1).status

        found = env.run(noop=True)

        assert found.status == "ready"
        assert env.noted() == []
        assert env.backend.nodes.list(1) == before
        assert env.backend.clusters.get(1).status == status
        assert env.outcomes(found.id)["a@1"] == ("ready", "")
        assert "script" in env.rows(found.id)[0].summary

    def test_a_simulation_tells_what_a_failure_would_do(self, env: Executions) -> None:
        env.graph(TOLERANT, shell("a"), shell("b", requires=["a"]))

        (found,) = env.backend.transactions.simulate(ExecutionRequest(1), ["a/2"])

        assert found.verdict == "ready"
        assert {(one.task, one.node): str(one.status) for one in found.instances}["b", 2] == "skipped"
        assert found.makespan == 2 * found.assumed_seconds
        assert found.known == 0
        with pytest.raises(NotFound, match=r"Task instance a/9 does not exist"):
            env.backend.transactions.simulate(ExecutionRequest(1), ["a/9"])

    # Stop

    def test_a_stop_lets_what_runs_end_and_starts_nothing_more(self, env: Executions) -> None:
        env.graph(
            shell("a", f"{env.note('a')}; sleep 1; {env.note('done')}"), shell("b", env.note("b"), requires=["a"])
        )
        env.graph(shell("c", env.note("c")), graph_type="later")
        begun = env.begin("default", "later")
        env.until(begun.id, lambda _: len(env.noted()) == 3)

        env.backend.transactions.stop_cluster(1)
        found = env.ended(begun.id)

        assert (found.status, found.stop) == ("error", "graceful")
        assert "Stopped by user." in found.message
        assert [one.message for one in found.children][1] == "Aborted"
        assert sorted(env.noted()) == ["a"] * 3 + ["done"] * 3
        assert env.outcomes(found.id)["a@1"] == ("ready", "")
        assert env.outcomes(found.id)["b@1"] == ("skipped", "stopped")
        assert env.statuses() == {1: "stopped", 2: "stopped", 3: "stopped"}
        assert env.backend.clusters.get(1).status == "stopped"
        with pytest.raises(Conflict, match=r"Nothing to stop - deployment is not running on environment '1'\."):
            env.backend.transactions.stop_cluster(1)

    def test_a_kill_ends_what_runs(self, env: Executions) -> None:
        env.graph(shell("a", f"{env.note('a')}; sleep 50; {env.note('done')}"))
        begun = env.begin()
        env.until(begun.id, lambda _: len(env.noted()) == 3)

        env.backend.transactions.stop(begun.id)
        env.backend.transactions.stop(begun.id, kill=True)
        found = env.ended(begun.id)

        assert (found.status, found.stop) == ("error", "kill")
        assert env.noted() == ["a"] * 3
        assert env.outcomes(found.id)["a@1"][0] == "error"

    def test_one_transaction_runs_on_an_environment_at_a_time(self, env: Executions) -> None:
        env.graph(shell("a", "sleep 0.5"))
        begun = env.begin()

        with pytest.raises(
            Conflict, match=rf"Transaction {begun.id} runs on environment 1 already\..*stop-deployment 1"
        ):
            env.begin()
        with pytest.raises(Conflict, match="runs already"):
            env.backend.transactions.resume(begun.id)
        with pytest.raises(Conflict, match="runs"):
            env.backend.transactions.delete(begun.id, force=True)
        env.ended(begun.id)
        with pytest.raises(Conflict, match="has ended already"):
            env.backend.transactions.stop(begun.id)
        env.run()

    # What is left

    def test_histories_are_filtered(self, env: Executions) -> None:
        env.graph(
            stage("s"), shell("a"), shell("b", condition=False), shell("nowhere", roles=["storage"]), TOLERANT,
        )  # fmt: skip
        found = env.run()
        history = env.backend.transactions.history

        assert [(row.task, row.node, row.status, row.time_start) for row in history(found.id)][-1] == (
            "nowhere", "-", "skipped", None,
        )  # fmt: skip
        assert len(history(found.id)) == 8
        assert {row.task for row in history(found.id, HistoryFilter(nodes=("1",)))} == {"a", "b"}
        assert {row.task for row in history(found.id, HistoryFilter(nodes=("null",)))} == {"s"}
        assert {row.task for row in history(found.id, HistoryFilter(statuses=("skipped",)))} == {"s", "b", "nowhere"}
        assert {row.node for row in history(found.id, HistoryFilter(tasks=("nowhere", "s")))} == {None, "-"}
        assert history(found.id)[1].definition["parameters"]["cmd"] == "true"
        with pytest.raises(
            UsageError, match="Statuses parameter could be only: pending, ready, running, error, skipped"
        ):
            history(found.id, HistoryFilter(statuses=("NOTEXISTING",)))

    def test_a_transaction_is_deleted_with_everything_of_it(self, env: Executions) -> None:
        env.graph(shell("a", "echo x"))
        found = env.run()
        files = Path(f"{env.engine}.runs")
        assert any(files.iterdir())

        with pytest.raises(Conflict, match=f"is a part of {found.id}"):
            env.backend.transactions.delete(found.children[0].id)
        env.backend.transactions.delete(found.id)

        assert env.backend.transactions.list() == []
        assert not any(files.iterdir())
        with pytest.raises(NotFound, match=f"Transaction {found.id} does not exist"):
            env.backend.transactions.get(found.id)

    def test_an_environment_is_deleted_with_its_executions_unless_one_runs(self, env: Executions) -> None:
        env.graph(shell("slow", f"{env.note('began')}; until [ -e {env.directory}/go ]; do sleep 0.05; done"))
        begun = env.begin()
        env.until(begun.id, lambda _: env.noted())

        with pytest.raises(Conflict, match=rf"Transaction {begun.id} runs on environment 1\..*task stop {begun.id}"):
            env.backend.clusters.delete(1, force=True)
        (env.directory / "go").touch()
        assert env.ended(begun.id).status == "ready"
        with pytest.raises(Conflict, match="operational environment"):
            env.backend.clusters.delete(1)
        env.backend.clusters.delete(1, force=True)

        assert env.backend.transactions.list() == []
        assert [node.cluster_id for node in env.backend.nodes.list()] == [None] * 3
        assert not any(Path(f"{env.engine}.runs").iterdir())

    def test_transactions_are_listed_by_what_they_are(self, env: Executions) -> None:
        env.graph(shell("a"))
        env.graph(shell("b", "false"), graph_type="bad")
        ready, failed = env.run(), env.run("bad")

        everything = env.backend.transactions.list(cluster_id=1)
        assert [(one.name, one.parent_id) for one in everything] == [
            ("deploy", None), ("deployment", ready.id), ("deploy", None), ("deployment", failed.id),
        ]  # fmt: skip
        found = env.backend.transactions.list(statuses=("error",), names=("deploy",))
        assert [one.id for one in found] == [failed.id]
        with pytest.raises(UsageError, match="'broken' is no status"):
            env.backend.transactions.list(statuses=("broken",))

    # Facts and sequences

    def test_facts_are_the_environments_with_the_uploaded_ones_over_them(self, env: Executions) -> None:
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
        with pytest.raises(NotFound, match="Node 9 of environment 1 does not exist"):
            facts.put(1, DeploymentFacts({}, {"9": {}}))
        facts.delete(1)
        assert facts.get(1).is_empty

    def test_sequences_are_kept(self, env: Executions) -> None:
        sequences = env.backend.sequences
        made = sequences.create(1, "all", ["provision", "default"])

        assert sequences.get(made.id) == made
        assert (made.release_id, made.name, made.graph_types) == (1, "all", ("provision", "default"))
        with pytest.raises(Conflict, match="Release 1 has a sequence all already"):
            sequences.create(1, "all", ["default"])
        with pytest.raises(UsageError, match="at least one graph type"):
            sequences.create(1, "none", [])
        with pytest.raises(NotFound, match="Release 9 does not exist"):
            sequences.create(9, "x", ["default"])
        assert sequences.update(made.id, name="some").graph_types == made.graph_types
        assert sequences.update(made.id, graph_types=["a"]).name == "some"
        with pytest.raises(UsageError, match=r"Nothing to update\."):
            sequences.update(made.id)
        assert [one.name for one in sequences.list(release_id=1)] == ["some"]
        assert sequences.list(cluster_id=1) == sequences.list()
        sequences.delete(made.id)
        with pytest.raises(NotFound, match=f"Sequence {made.id} does not exist"):
            sequences.get(made.id)


class TestLocal(TransactionContract):
    """The embedded engine."""

    def make(self, tmp_path: Path) -> Executions:
        return executions(tmp_path)
