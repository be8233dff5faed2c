"""Deploying environments: real runs on nodes whose tasks run on this machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import RELEASE, CommandLine, fuel2
from server_process import serving

DEPLOY = '- {{id: deploy, type: shell, version: 2.0.0, roles: ["*"], parameters: {{cmd: "echo deploy >> {notes}"}}}}\n'
PROVISION = """
node_filter: $.pending_addition or $.error_type = 'provision'
on_success: {{node_attributes: {{status: provisioned, pending_addition: false}}}}
tasks:
- {{id: install, type: shell, version: 2.0.0, roles: ["*"], parameters: {{cmd: "echo install >> {notes}"}}}}
"""
RESET = '- {{id: wipe, type: shell, version: 2.0.0, roles: ["*"], parameters: {{cmd: "echo wipe >> {notes}"}}}}\n'
FRESH = "- {name: fresh, roles: [compute], executor: local, status: discover}\n"
USED = "- {name: used, roles: [compute], executor: local, status: provisioned}\n"


@pytest.fixture
def env(tmp_path: Path) -> CommandLine:
    """Environment 1 with a default graph and no nodes."""
    fuel2 = CommandLine(tmp_path / "engine.db")
    fuel2.ok("release", "import", "-", stdin=RELEASE)
    fuel2.ok("env", "create", "prod", "--release", 1)
    upload(fuel2, "default", DEPLOY)
    return fuel2


def upload(env: CommandLine, kind: str, text: str) -> None:
    graph = text.format(notes=env.engine.parent / "notes")
    env.ok("graph", "upload", "--env", 1, "--type", kind, "--file", "-", stdin=graph)


def notes(env: CommandLine) -> list[str]:
    path = env.engine.parent / "notes"
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def has(env: CommandLine, *nodes: str) -> None:
    """The environment has these nodes."""
    env.ok("node", "import", "-", "--env", 1, stdin="".join(nodes))


def statuses(env: CommandLine) -> list[str]:
    return [row["status"] for row in env.ok("node", "list", "-f", "json").json]


def test_deploy_runs_the_default_graph(env: CommandLine) -> None:
    has(env, USED)
    done = env.ok("env", "deploy", 1, "--wait")
    assert done.out == "Deployment task with id 1 for the environment 1 has been started.\n"
    assert (notes(env), statuses(env)) == (["deploy"], ["ready"])
    assert env.ok("env", "show", 1, "-f", "value", "-c", "status").out == "operational\n"


def test_nodes_that_are_not_provisioned_are_provisioned_first(env: CommandLine) -> None:
    has(env, FRESH)
    upload(env, "provisioning", PROVISION)
    plans = env.ok("env", "deploy", 1, "-d", "--format", "json").json
    assert [plan["graph_type"] for plan in plans] == ["provisioning", "default"]
    assert notes(env) == []
    env.ok("env", "deploy", 1, "--wait")
    assert (notes(env), statuses(env)) == (["install", "deploy"], ["ready"])
    env.ok("env", "redeploy", 1, "--wait")
    assert notes(env) == ["install", "deploy", "deploy"]


def test_unprovisioned_nodes_are_left_out_without_a_graph(env: CommandLine) -> None:
    has(env, USED, FRESH)
    done = env.ok("env", "deploy", 1, "--wait")
    assert "node 2: not provisioned, and there is no provisioning graph" in done.err
    assert (notes(env), statuses(env)) == (["deploy"], ["ready", "discover"])


def test_provisioned_node_is_not_provisioned_again(env: CommandLine) -> None:
    has(env, USED, FRESH)
    upload(env, "provision", PROVISION)
    done = env("env", "deploy", 1)
    assert (done.code, done.out) == (6, "")
    assert "The provision graph would also provision nodes that are already provisioned: 1." in done.err
    assert " env nodes provision --env 1 --nodes 2`" in done.err
    env.ok("env", "nodes", "provision", "--env", 1, "--nodes", 2, "--wait")
    env.ok("env", "deploy", 1, "--wait")
    assert notes(env) == ["install", "deploy", "deploy"]


def test_a_sequence_of_the_release_says_how_to_deploy(env: CommandLine) -> None:
    has(env, USED)
    upload(env, "provision", PROVISION)
    upload(env, "more", DEPLOY.replace("deploy", "more"))
    env.ok("sequence", "create", "-r", 1, "-n", "deploy-changes", "-t", "provision", "default", "more")
    env.ok("env", "deploy", 1, "--wait")
    assert notes(env) == ["deploy", "more"]


def test_deploy_of_some_nodes(env: CommandLine) -> None:
    has(env, USED, FRESH, USED.replace("used", "other"))
    refused = env("env", "nodes", "deploy", "-e", 1, "-n", 1, 2)
    assert (refused.code, refused.out) == (6, "")
    assert "Deployment operation cannot be started. Nodes with uids [2] are not provisioned yet." in refused.err
    done = env.ok("env", "nodes", "deploy", "-e", 1, "-n", "1,3", "-f", "--wait")
    assert done.out == "Deployment task with id 1 for the nodes 1, 3 within the environment 1 has been started.\n"
    assert notes(env) == ["deploy", "deploy"]
    assert env("env", "nodes", "deploy", "-e", 1, "-n", 9).code == 5


def test_provisioning_of_some_nodes(env: CommandLine) -> None:
    has(env, FRESH)
    refused = env("env", "nodes", "provision", "-e", 1, "-n", 1)
    assert (refused.code, refused.out) == (2, "")
    assert "no graph of type provision or provisioning, which provisions nodes." in refused.err
    upload(env, "provision", PROVISION)
    done = env.ok("env", "nodes", "provision", "-e", 1, "-n", 1, "--wait")
    assert done.out == "Provisioning task with id 1 for the nodes 1 within the environment 1 has been started.\n"
    assert (notes(env), statuses(env)) == (["install"], ["provisioned"])


def test_an_environment_without_nodes_says_so_before_it_asks(env: CommandLine) -> None:
    asked = env("env", "deploy", "prod", stdin="n\n", terminal=True)
    told, target, question = asked.err.splitlines()
    assert "has no nodes: 'fuel2 " in told
    assert "env add nodes --env 1' adds some." in told
    assert question.startswith("Deploy 0 nodes of environment prod with 0 task instances? [y/N] ")
    assert (asked.code, target.startswith("Target: ")) == (11, True)
    has(env, USED)
    assert "has no nodes" not in env("env", "deploy", 1, stdin="n\n", terminal=True).err


def test_messages_name_an_environment_as_the_line_does(env: CommandLine) -> None:
    assert env("env", "reset", "prod").err.startswith("Environment prod has no graph of type reset")
    assert env("env", "reset", 1).err.startswith("Environment 1 has no graph of type reset")
    assert "--env 1 --type reset" in env("env", "reset", "prod").err


def test_reset(env: CommandLine) -> None:
    has(env, USED)
    refused = env("env", "reset", 1)
    assert (refused.code, refused.out) == (2, "")
    assert "Environment 1 has no graph of type reset, which resets nodes." in refused.err
    upload(env, "reset", RESET)
    done = env.ok("env", "reset", 1, "--force", "--wait")
    assert done.out == "Reset task with id 1 for the environment 1 has been started.\n"
    assert notes(env) == ["wipe"]


def test_a_noop_run_changes_nothing(env: CommandLine) -> None:
    has(env, USED)
    env.ok("env", "deploy", 1, "--noop", "--wait")
    assert (notes(env), statuses(env)) == ([], ["provisioned"])


@pytest.mark.parametrize("verb", ["deploy", "redeploy", "reset"])
def test_an_unknown_environment(env: CommandLine, verb: str) -> None:
    done = env("env", verb, 9)
    assert (done.code, done.out) == (5, "")
    assert "Environment 9 does not exist." in done.err


ERASE = """{filter}tasks:
- {{id: erase, type: shell, version: 2.0.0, roles: ["*"], parameters: {{cmd: "echo erase >> {notes}"}}}}
"""
DEPLOYED = "- {name: old, roles: [compute], executor: local, status: ready}\n"


def test_a_deployed_node_is_deleted_by_the_next_deployment(env: CommandLine) -> None:
    has(env, DEPLOYED, DEPLOYED.replace("old", "other"))
    upload(env, "deletion", ERASE.replace("{filter}", "node_filter: $.pending_deletion\n"))
    words = ("env", "remove", "nodes", "--env", 1, "--nodes", 2)

    done = env.ok(*words)

    assert done.out == "Nodes were removed from the environment with id=1\n"
    assert "Marked for deletion: 2. `fuel2 " in done.err
    assert "env deploy 1` deletes and frees what is marked." in done.err
    env.ok("env", "deploy", 1, "--wait")
    assert notes(env) == ["erase", "deploy"]
    assert [row["id"] for row in env.ok("node", "list", "--env", 1, "-f", "json").json] == [1]


@pytest.mark.parametrize("force", [False, True])
def test_a_deployed_node_is_freed_as_it_is(env: CommandLine, *, force: bool) -> None:
    has(env, DEPLOYED)
    if force:
        upload(env, "deletion", ERASE.replace("{filter}", "node_filter: $.pending_deletion\n"))
    done = env.ok("env", "remove", "nodes", "--env", 1, "--nodes", 1, *(["--force"] if force else []))
    assert ("Freed, but still deployed: 1." in done.err) is not force
    assert env.ok("node", "list", "--env", 1, "-f", "json").json == []


def test_a_deletion_that_would_reach_other_nodes_is_refused(env: CommandLine) -> None:
    has(env, DEPLOYED, DEPLOYED.replace("old", "other"))
    upload(env, "deletion", ERASE.replace("{filter}", ""))
    env.ok("env", "remove", "nodes", "--env", 1, "--nodes", 2)
    done = env("env", "deploy", 1, "--wait")
    assert (done.code, notes(env)) == (6, [])
    assert "The deletion graph would also delete nodes that are not marked for deletion: 1." in done.err


@pytest.mark.parametrize(
    ("stated", "missed"), [("", "1, 2"), ("node_filter: $.id = 1\n", "2"), ("node_filter: $.pending_deletion\n", "")]
)
def test_deletion_that_leaves_marked_nodes_is_refused(env: CommandLine, stated: str, missed: str) -> None:
    has(env, DEPLOYED, DEPLOYED.replace("old", "other"))
    upload(env, "deletion", ERASE.replace("{filter}", stated))
    env.ok("env", "remove", "nodes", "--env", 1, "--nodes-all")
    done = env("env", "deploy", 1, "--wait")
    assert (done.code, notes(env)) == ((6, []) if missed else (0, ["erase", "erase"]))
    said = f"The deletion graph would not delete nodes that are marked for deletion: {missed}. Give the graph"
    assert (said in done.err) == bool(missed)


@pytest.mark.parametrize("missing", ["provision", "more"])
def test_the_sequence_that_asks_for_a_missing_graph_is_named(env: CommandLine, missing: str) -> None:
    has(env, FRESH)
    for kind in {"provision", "more"} - {missing}:
        upload(env, kind, PROVISION if kind == "provision" else DEPLOY)
    env.ok("sequence", "create", "-r", 1, "-n", "deploy-changes", "-t", "provision", "default", "more")
    done = env("env", "deploy", 1)
    with serving(env.engine.parent) as server:
        remote = fuel2("--server", server.url, "env", "deploy", 1)
    assert (done.code, remote.code, notes(env)) == (5, 5, [])
    for said in (done.err, remote.err):
        assert f"Graph type {missing} does not exist, and the sequence deploy-changes of the release asks" in said
