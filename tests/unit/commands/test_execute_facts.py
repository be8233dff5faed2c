"""`env deployment-facts ...` and what runs see of them; `graph simulate`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from command_line import CommandLine
from executions import TOLERANT, Executions, executions, shell


@pytest.fixture
def env(tmp_path: Path) -> Executions:
    """Environment 1 with three compute nodes."""
    return executions(tmp_path)


@pytest.fixture
def fuel2(env: Executions) -> CommandLine:
    return CommandLine(env.engine)


def written(directory: Path, **texts: str) -> Path:
    """Files of facts below `directory`, named by their parts."""
    place = directory / "deployment_1"
    place.mkdir(exist_ok=True)
    for name, text in texts.items():
        (place / f"{name.removeprefix('of_')}.yaml").write_text(text, encoding="utf-8")
    return place


def test_uploaded_facts_reach_the_tasks(env: Executions, fuel2: CommandLine, tmp_path: Path) -> None:
    place = written(tmp_path, cluster="word: common\n", of_2="word: own\n", compute_3="{word: third, list: [1, 2]}\n")
    done = fuel2.ok("env", "deployment-facts", "upload", "--env", 1, "-d", tmp_path, "-f", "yaml")
    assert done.out == "Deployment facts for the environment 1 were uploaded successfully.\n"
    env.graph(shell("a", {"yaql_exp": f"'echo ' + $.word + ' >> {env.notes}'"}))
    fuel2.ok("graph", "execute", "--env", 1, "--wait")
    assert sorted(env.noted()) == ["common", "own", "third"]

    refused = fuel2("env", "deployment-facts", "download", "-e", 1, "-d", tmp_path, "--no-clobber")
    assert (refused.code, (place / "compute_3.yaml").exists()) == (6, True)
    other = tmp_path / "other"
    other.mkdir()
    done = fuel2.ok("env", "deployment-facts", "download", "-e", 1, "-d", other, "-f", "yaml")
    assert done.out == f"User-defined deployment facts for the environment 1 were downloaded to {other}/deployment_1\n"
    assert sorted(path.name for path in (other / "deployment_1").iterdir()) == ["2.yaml", "3.yaml", "common.yaml"]
    assert (other / "deployment_1" / "2.yaml").read_text(encoding="utf-8") == "word: own\nuid: '2'\n"

    fuel2.ok("env", "deployment-facts", "download", "-e", 1, "-d", other, "-n", 3, "--force")
    assert sorted(path.name for path in (other / "deployment_1").iterdir()) == ["3.yaml", "common.yaml"]
    fuel2.ok("env", "deployment-facts", "upload", "-e", 1, "-d", other)
    assert env.backend.facts.get(1).nodes["3"] == {"word": "third", "list": [1, 2]}


def test_parts_without_a_file_stay(env: Executions, fuel2: CommandLine, tmp_path: Path) -> None:
    place = written(tmp_path, common="a: 1\n", of_1="b: 1\n")
    fuel2.ok("env", "deployment-facts", "upload", "-e", 1, "-d", tmp_path)
    (place / "common.yaml").unlink()
    written(tmp_path, of_1="b: 2\n")
    fuel2.ok("env", "deployment-facts", "upload", "-e", 1, "-d", tmp_path)
    found = env.backend.facts.get(1)
    assert (found.common, found.nodes) == ({"a": 1}, {"1": {"b": 2}})
    done = fuel2.ok("env", "deployment-facts", "delete", 1)
    assert done.out == "Deployment facts for the environment 1 were deleted successfully.\n"
    assert env.backend.facts.get(1).is_empty
    assert fuel2("env", "deployment-facts", "download", "-e", 1, "-d", tmp_path, "--force").code == 5


def test_the_default_facts_can_be_uploaded(env: Executions, fuel2: CommandLine, tmp_path: Path) -> None:
    done = fuel2.ok("env", "deployment-facts", "get-default", "-e", 1, "-d", tmp_path, "-f", "json")
    assert done.out.startswith("Default deployment facts for the environment 1 were downloaded to ")
    assert (tmp_path / "deployment_1" / "2.json").exists()
    before = env.backend.facts.effective(1)
    fuel2.ok("env", "deployment-facts", "upload", "-e", 1, "-d", tmp_path, "-f", "json")
    assert env.backend.facts.effective(1) == before


def test_without_a_split_each_node_has_everything(env: Executions, fuel2: CommandLine, tmp_path: Path) -> None:
    place = written(tmp_path, common="{word: common, deep: {a: 1, b: 1}}", of_2="deep: {b: 2}", of_3="word: third")
    fuel2.ok("env", "deployment-facts", "upload", "-e", 1, "--dir", tmp_path)
    line = ("env", "deployment-facts", "download", "-e", 1, "--dir", tmp_path, "--force", "-f", "yaml")
    fuel2.ok(*line, "--no-split")
    assert sorted(path.name for path in place.iterdir()) == ["2.yaml", "3.yaml"]
    read = yaml.safe_load((place / "2.yaml").read_text(encoding="utf-8"))
    assert read == {"word": "common", "deep": {"a": 1, "b": 2}, "uid": "2"}
    fuel2.ok(*line, "--no-split", "-n", 3)
    assert [path.name for path in place.iterdir()] == ["3.yaml"]
    assert fuel2(*line, "--no-split", "-n", 1).code == 5
    fuel2.ok("env", "deployment-facts", "delete", 1)
    fuel2.ok("env", "deployment-facts", "get-default", "-e", 1, "-d", tmp_path, "-f", "json", "--no-split", "--force")
    default = json.loads((place / "1.json").read_text(encoding="utf-8"))
    assert (default["uid"], default["roles"], default["cluster"]["name"]) == ("1", ["compute"], "prod")
    assert not (place / "common.json").exists()


def test_common_facts_alone_are_no_file_of_a_node(fuel2: CommandLine, tmp_path: Path) -> None:
    written(tmp_path, common="word: common")
    fuel2.ok("env", "deployment-facts", "upload", "-e", 1, "-d", tmp_path)
    done = fuel2("env", "deployment-facts", "download", "-e", 1, "-d", tmp_path, "--force", "--no-split")
    assert (done.code, "--no-split" in done.err) == (5, True)
    assert (tmp_path / "deployment_1" / "common.yaml").exists()


@pytest.mark.parametrize(
    ("texts", "code", "message"),
    [
        ({"of_9": "a: 1\n"}, 5, "Node 9 of environment 1 does not exist."),
        ({"common": "- a\n"}, 7, "common.yaml: facts must be a mapping"),
        ({"common": "a: 1\n", "cluster": "a: 1\n"}, 6, "the facts of common"),
        ({"of_1": "{uid: '2', a: 1}\n"}, 7, "those of 2, not of 1"),
        ({"of_1": "a: 1\n", "compute_1": "a: 2\n"}, 6, "the facts of 1"),
        ({}, 5, "*.yaml does not exist."),
    ],
)
def test_what_are_no_facts(
    env: Executions, fuel2: CommandLine, tmp_path: Path, texts: dict[str, str], code: int, message: str
) -> None:
    written(tmp_path, **texts)
    done = fuel2("env", "deployment-facts", "upload", "-e", 1, "-d", tmp_path)
    assert (done.code, message in done.err) == (code, True), done.err
    assert env.backend.facts.get(1).is_empty


def test_a_simulation_says_what_a_failure_would_cost(env: Executions, fuel2: CommandLine) -> None:
    env.graph(shell("a", env.note("a")), shell("b", requires=["a"]))
    done = fuel2("graph", "simulate", "--env", 1, "--node", 1, "--fail", "a/1", "-f", "json")
    assert (done.code, {row["verdict"] for row in done.json}) == (8, {"error"})
    assert [(one["task"], one["node"], one["status"], one["because"]) for one in done.json] == [
        ("a", 1, "error", ""),
        ("b", 1, "skipped", "a@1"),
    ]
    assert "Graph default would end: error." in done.err
    whole = fuel2.ok("graph", "simulate", "--env", 1, "-f", "json")
    assert [(one["start"], one["end"]) for one in whole.json if one["node"] == 2] == [(0.0, 1.0), (1.0, 2.0)]
    assert "It would take 2.0 seconds: 0 of 6 durations" in whole.err
    assert env.noted() == []
    env.graph(TOLERANT, shell("a"), shell("b", requires=["a"]))
    tolerated = fuel2.ok("graph", "simulate", "--env", 1, "--fail", "a/1")
    assert "Graph default would end: ready." in tolerated.err
    assert fuel2("graph", "simulate", "--env", 1, "--fail", "c/1").code == 5


def test_a_simulation_knows_durations_by_graph_type(env: Executions, fuel2: CommandLine) -> None:
    """Tasks of one name in graphs of two types are two tasks."""
    for kind in ("short", "long"):
        env.graph(shell("a"), graph_type=kind)
    env.run("short")

    short, long = (fuel2.ok("graph", "simulate", "-e", 1, "-t", kind).err for kind in ("short", "long"))
    assert "3 of 3 durations come from earlier runs." in short
    env.graph(shell("a"), shell("new", requires=["a"]), shell("b", requires=["new"]), graph_type="short")
    failed = fuel2("graph", "simulate", "-e", 1, "-t", "short", "--fail", "new/1", "--node", 1).err
    assert "1 of 2 durations come from earlier runs, the others are assumed" in failed
    assert "It would take 1.0 seconds: 0 of 3 durations" in long


def test_a_simulation_is_drawn(env: Executions, fuel2: CommandLine) -> None:
    env.graph(shell("a"), shell("b", requires=["a"]))
    drawn = fuel2.ok("graph", "simulate", "--env", 1, "--node", 1, "--fail", "a/1", "--dot").out
    assert drawn.splitlines() == [
        "digraph {",
        '  "Task[a/1]" [label="a/1", style=filled, fillcolor=red];',
        '  "Task[b/1]" [label="b/1", style=filled, fillcolor=orange];',
        '  "Task[a/1]" -> "Task[b/1]";',
        "}",
    ]
    assert fuel2("graph", "simulate", "--env", 1, "--fail", "c/1", "--dot").code == 5


UNSURE = {"yaql_exp": "$.rack.is_new"}


@pytest.fixture
def unsure(env: Executions) -> Executions:
    """Three tasks: the condition of a and the command of b read facts that the environment does not have."""
    env.graph(
        shell("a", env.note("a"), condition=UNSURE),
        shell("b", {"yaql_exp": f"'echo ' + $.rack.word + ' >> {env.notes}'"}, requires=["a"]),
        shell("c", env.note("c")),
    )
    return env


def test_a_dry_run_names_what_is_unknown_and_goes_on(unsure: Executions, fuel2: CommandLine) -> None:
    done = fuel2.ok("graph", "execute", "--env", 1, "--node", 1, "--dry-run", "--format", "json")
    shown = [(row["task"], row["runs"], row["reason"], row["unknown"]) for row in done.json[0]["instances"]]
    assert shown == [
        ("a", False, "unknown", "$.rack.is_new"),
        ("c", True, "", ""),
        ("b", False, "unknown", "$.rack.word"),
    ]
    assert "1 task instance would run, 0 would be skipped, 2 unknown," in done.err
    assert "Unknown: $.rack.word (1 task instance)." in done.err
    table = fuel2.ok("graph", "execute", "--env", 1, "--node", 1, "--dry-run").out
    assert table.count("unknown ($.rack.") == 2
    simulated = fuel2.ok("graph", "simulate", "--env", 1, "--node", 1, "-f", "json")
    assert [row["reason"] for row in simulated.json] == ["unknown: $.rack.is_new", "unknown: $.rack.word", ""]
    assert "Unknown: $.rack.word (1 task instance)." in simulated.err


def test_a_run_stops_before_its_first_task_with_the_list(unsure: Executions, fuel2: CommandLine) -> None:
    done = fuel2("graph", "execute", "--env", 1, "--wait")
    assert done.code == 7
    assert {
        "a@1 and 2 more: condition: unknown: $.rack.is_new",
        "b@1 and 2 more: parameters: unknown: $.rack.word",
    } <= {line.partition("error: ")[2].partition(" [")[0] for line in done.err.splitlines()}
    assert (unsure.noted(), unsure.backend.runs.list()) == ([], [])
    assert fuel2("graph", "execute", "--env", 1, "--unknown", "run", "--wait").code == 7


def test_skipping_what_is_unknown(unsure: Executions, fuel2: CommandLine) -> None:
    fuel2.ok("graph", "execute", "--env", 1, "--node", 1, "--unknown", "skip", "--wait")
    assert unsure.noted() == ["c"]
    assert unsure.outcomes(2)["b@1"] == ("skipped", "unknown")


def test_assumed_facts_decide_and_are_remembered(unsure: Executions, fuel2: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "assumed.yaml"
    path.write_text("rack: {is_new: true, word: assumed}\nuid: never\n", encoding="utf-8")
    dry = fuel2.ok("graph", "execute", "--env", 1, "--assume-facts", path, "--dry-run", "--format", "json").json[0]
    assert {row["unknown"] for row in dry["instances"]} == {""}
    fuel2.ok("graph", "execute", "--env", 1, "--node", 2, "--assume-facts", path, "--wait")
    assert sorted(unsure.noted()) == ["a", "assumed", "c"]
    seen = unsure.backend.runs.deployment_info(1)
    assert (seen.common["rack"]["word"], seen.nodes["2"]["uid"]) == ("assumed", "2")
    assert "rack" not in unsure.backend.facts.default(1).common


@pytest.mark.parametrize(
    ("text", "rest", "code"),
    [("- a\n", (), 7), ("{common: 1}\n", (), 7), (None, (), 5), ("a: 1\n", ("--unknown", "guess"), 2)],
    ids=["no-node", "no-mapping", "no-file", "no-decision"],
)
def test_assumptions_that_cannot_be(
    unsure: Executions, fuel2: CommandLine, tmp_path: Path, text: str | None, rest: tuple[str, ...], code: int
) -> None:
    path = tmp_path / "assumed.yaml"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    done = fuel2("graph", "execute", "--env", 1, "--assume-facts", path, *rest)
    assert done.code == code, done.err
    assert not unsure.backend.runs.list()


def test_where_a_fact_comes_from(env: Executions, fuel2: CommandLine, tmp_path: Path) -> None:
    line = ("env", "deployment-facts", "get-default", "--env", 1, "-d", tmp_path, "--explain")
    assert fuel2.ok(*line, "cluster.name").out == "cluster.name (common): computed from the environment itself\n"
    assert fuel2.ok(*line, "online").out == "online (node 1, 2, 3): computed from the state of the node\n"
    assert fuel2.ok(*line, "online", "--nodes", 2).out == "online (node 2): computed from the state of the node\n"
    assert fuel2(*line, "clustr").code == 5
    assert not list(tmp_path.glob("deployment_*"))


def test_a_preview_shows_what_facts_decide(unsure: Executions, fuel2: CommandLine) -> None:
    unsure.graph(
        shell("a", condition={"yaql_exp": "$.uid = '1'"}),
        shell("b", condition=UNSURE),
        shell("c", requires={"yaql_exp": "['d']"}),
        shell("d", condition="false"),
        shell("e"),
    )
    rows = {row["task"]: row for row in fuel2.ok("graph", "preview", "--env", 1, "-f", "json").json}
    assert rows["a"]["verdicts"] == ["run", "skip", "skip"]
    assert rows["b"]["verdicts"] == ["unknown: $.rack.is_new"] * 3
    assert (rows["c"]["requires"], rows["c"]["first_generation"]) == (["d"], 1)
    line = ("graph", "preview", "--env", 1, "-f", "csv", "--quote", "none", "-c", "task", "-c", "verdict")
    assert fuel2.ok(*line).out.splitlines() == [
        "task,verdict", "a,skip (2 of 3)", "b,unknown: $.rack.is_new", "d,skip", "e,", "c,",
    ]  # fmt: skip
    bare = fuel2.ok("graph", "preview", "--env", 1, "--no-facts", "-f", "json")
    assert {tuple(row["verdicts"]) for row in bare.json} == {()}
    assert "1 task has computed dependencies" in bare.err


def test_a_preview_of_assumed_nodes_has_facts_of_its_own(unsure: Executions, fuel2: CommandLine) -> None:
    unsure.graph(shell("a", condition={"yaql_exp": "$.uid in $.network_metadata.nodes.values().uid"}))
    (row,) = fuel2.ok("graph", "preview", "--env", 1, "--assume", "compute=2", "-f", "json").json
    assert row["verdicts"] == ["run", "run"]


def test_a_preview_goes_on_where_expressions_fail(unsure: Executions, fuel2: CommandLine) -> None:
    broken = {"yaql_exp": "len(7)"}
    unsure.graph(shell("a", condition=broken), shell("b", requires=broken))
    done = fuel2("graph", "preview", "--env", 1, "-f", "json")
    assert done.code == 7  # an error is among the findings
    assert [row["verdicts"][0] for row in done.json] == ["unknown", "run"]
    assert [[f["code"] for f in row["findings"]] for row in done.json] == [["G034"], ["G034"]]
