"""The language that selects tasks."""

from __future__ import annotations

import pytest
from command_line import CommandLine
from questioned import questioned_engine

from fuelclient.backends.local import LocalBackend
from fuelclient.insight.selection import BadQuery, select
from fuelclient.plan.study import Study


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    return questioned_engine(tmp_path_factory.mktemp("questioned"))


@pytest.fixture(scope="module")
def studied(engine: CommandLine) -> Study:
    backend = LocalBackend(str(engine.engine))
    made = Study(backend.graphs.snapshot(1))
    backend.close()
    return made


def names(studied: Study, query: str) -> set[str]:
    return {studied.merged.tasks[index].id for index in select(studied, query)}


@pytest.mark.parametrize(
    ("query", "selected"),
    [
        ("keystone", {"keystone"}),
        ("plugin1:pre_deployment#2", {"plugin1:pre_deployment#2"}),
        ("/^h/", {"heat", "horizon"}),
        ("/^(data|cac)/ heat", {"database", "cache", "heat"}),
        ("1+keystone", {"keystone", "database", "cache", "netconfig"}),
        ("keystone+1", {"keystone", "heat", "horizon", "agent"}),
        ("keystone+", {"keystone", "heat", "horizon", "agent", "deploy_end"}),
        ("2+database", {"database", "netconfig", "globals"}),
        ("globals..keystone", {"globals", "netconfig", "database", "cache", "keystone"}),
        ("keystone..globals", set()),
        ("role:compute", {"globals", "netconfig", "agent"}),
        ("layer:cluster", {"keystone"}),
        ("layer:plugin2,stage:pre_deployment/>=0,!stage:pre_deployment/=0", {"plugin2:pre_deployment#2"}),
        ("stage:pre_deployment/<-100", {"plugin2:pre_deployment#3"}),
        ("stage:pre_deployment/-99.9", {"plugin1:pre_deployment#4"}),
        ("state:overridden", {"keystone"}),
        ("type:stage,!/^deploy/", {"pre_deployment_start", "pre_deployment_end"}),
        ("(heat horizon agent),role:compute", {"agent"}),
        ("!(!heat,!horizon)", {"heat", "horizon"}),
        ("state:unplaced", set()),
    ],
)
def test_queries(studied: Study, query: str, selected: set[str]) -> None:
    assert names(studied, query) == selected


@pytest.mark.parametrize(
    ("query", "at"),
    [
        ("keystone,", 9), ("2+keystne+1", 2), ("role:foo", 5), ("(heat", 0), ("heat)", 4), ("heat /(/", 5),
        ("stage:nope/1", 6), ("heat , , agent", 7), ("heat +", 5), ("globals..nothing", 9), ("layer:", 6), ("  ", 0),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_at_its_place(studied: Study, query: str, at: int) -> None:
    with pytest.raises(BadQuery) as refused:
        select(studied, query)
    assert refused.value.at == at


def test_laws_of_sets(studied: Study) -> None:
    everything = {task.id for task in studied.merged.tasks}
    queries = ("role:controller", "layer:release", "/e/", "+keystone", "stage:deploy")
    for one in queries:
        assert names(studied, f"!({one})") == everything - names(studied, one)
        for other in queries:
            assert names(studied, f"{one} {other}") == names(studied, one) | names(studied, other)
            assert names(studied, f"{one},{other}") == names(studied, one) & names(studied, other)


def test_the_caret_is_below_the_place(engine: CommandLine) -> None:
    done = engine("graph", "query", "2+keystne+1", "--env", 1)
    assert (done.code, done.out) == (2, "")
    lines = done.err.splitlines()
    caret = next(number for number, line in enumerate(lines) if line.strip() == "^")
    assert lines[caret - 1][lines[caret].index("^") :] == "keystne+1"
    assert "Did you mean keystone?" in done.err


def test_each_selected_task_says_why(engine: CommandLine) -> None:
    answer = engine.ok("graph", "query", "1+keystone,role:controller", "--env", 1, "-f", "json").json
    because = {row["task"]: row["because"] for row in answer["selected"]}
    assert because["netconfig"] == ["1 before keystone", "role:controller"]
    assert because["keystone"] == ["named keystone", "role:controller"]


def test_results_of_a_run(studied: Study) -> None:
    results = {"keystone": {"error", "ready"}, "netconfig": {"ready"}}
    ids = {index: task.id for index, task in enumerate(studied.merged.tasks)}
    for query, found in (
        ("result:error", {"keystone"}),
        ("result:ready,!result:error", {"netconfig"}),
        ("result:skipped", set()),
    ):
        assert {ids[index] for index in select(studied, query, results)} == found
    with pytest.raises(BadQuery):
        select(studied, "result:error")
    with pytest.raises(BadQuery):
        select(studied, "result:failed", results)
