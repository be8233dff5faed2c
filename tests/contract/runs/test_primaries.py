"""A node stays the primary of its tags, also after runs in which it has nothing to do."""

from __future__ import annotations

from command_line import CommandLine
from executions import Executions, shell


def test_a_primary_without_a_task_stays_the_primary(env: Executions) -> None:
    env.backend.clusters.add_nodes(1, [1, 2, 3], ["controller"])
    env.graph(shell("first", roles=["primary-controller"]), graph_type="first")
    env.graph(shell("others", roles=["controller"]))

    others = env.run()

    assert set(env.outcomes(others.id)) == {"others@2", "others@3"}
    assert [node.primary_tags for node in env.backend.nodes.list(1)] == [("controller",), (), ()]
    shown = CommandLine(env.engine).ok("node", "show", 1, "-f", "json").json
    assert shown["primary_tags"] == ["controller"]
    assert env.statuses() == {1: "provisioned", 2: "ready", 3: "ready"}
    first = env.run("first")
    assert env.outcomes(first.id) == {"first@1": ("ready", "")}
    assert set(env.outcomes(env.run().id)) == {"others@2", "others@3"}
    assert [node.primary_tags for node in env.backend.nodes.list(1)] == [("controller",), (), ()]


def test_a_dry_run_makes_nobody_the_primary(env: Executions) -> None:
    env.backend.clusters.add_nodes(1, [1, 2, 3], ["controller"])
    env.graph(shell("first", roles=["primary-controller"]))

    env.begin(dry_run=True)

    assert [node.primary_tags for node in env.backend.nodes.list(1)] == [(), (), ()]


def test_uploaded_facts_keep_the_primary_that_they_name(env: Executions) -> None:
    env.backend.clusters.add_nodes(1, [1, 2, 3], ["controller"])
    env.graph(shell("first", roles=["primary-controller"]), shell("others", roles=["controller"]))
    assert env.backend.facts.default(1).nodes["1"]["roles"] == ["primary-controller"]
    assert [node.primary_tags for node in env.backend.nodes.list(1)] == [(), (), ()]  # reading decides nothing

    env.backend.facts.put(1, env.backend.facts.default(1))

    assert [node.primary_tags for node in env.backend.nodes.list(1)] == [("controller",), (), ()]
    assert set(env.outcomes(env.run(node_ids=(2, 3)).id)) == {"first@-", "others@2", "others@3"}
