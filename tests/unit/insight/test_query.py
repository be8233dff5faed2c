"""The language that selects tasks and rows."""

from __future__ import annotations

import pytest
from command_line import CommandLine
from hypothesis import given
from hypothesis import strategies as st
from questioned import questioned_engine

from fuelclient.backends.local import LocalBackend
from fuelclient.graph.match import matches
from fuelclient.insight.query import BadQuery, Rows, Term, named, parse, select
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
        ("/^(data|cac)/ or heat", {"database", "cache", "heat"}),
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
        ("(heat or horizon or agent),role:compute", {"agent"}),
        ("heat or agent,role:compute", {"heat", "agent"}),
        ("h* and not heat", {"horizon"}),
        ("key[a-t]to?e", {"keystone"}),
        ("1+key*", {"keystone", "database", "cache", "netconfig"}),
        ("plugin?:*#3", {"plugin1:pre_deployment#3", "plugin2:pre_deployment#3"}),
        ("HEA*", set()),
        ("role:compute|controller,h*", {"heat", "horizon"}),
        ("layer:cluster|plugin2,!/^plugin/", {"keystone"}),
        ('layer:"cluster"|plugin2,!/^plugin/', {"keystone"}),
        ('"heat"', {"heat"}),
        ('"keystone".."heat"', {"keystone", "heat"}),
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
        ("heat agent", 5), ("heat,(cache !agent)", 12), ("heat+agent", 5), ("or", 0), ("heat or", 7), ("not", 3),
        ('heat,"agent', 5), ('"role:compute"', 1), ("role:compute|foo", 13), ("(" * 99 + "heat", 50), ("node=1", 0),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_at_its_place(studied: Study, query: str, at: int) -> None:
    with pytest.raises(BadQuery) as refused:
        select(studied, query)
    assert refused.value.at == at


@pytest.mark.parametrize(
    ("query", "first", "second"),
    [
        ("heat agent", "heat", "agent"),
        ("cache,heat !(a or b),c", "heat", "!(a or b)"),
        ("not heat 1+db", "not heat", "1+db"),
    ],
)
def test_a_blank_is_refused_with_both_spellings(studied: Study, query: str, first: str, second: str) -> None:
    with pytest.raises(BadQuery) as refused:
        select(studied, query)
    assert refused.value.hint == f"Write '{first} or {second}' (either) or '{first},{second}' (both)."


def test_a_function_is_told_the_signs_for_neighbours(studied: Study) -> None:
    with pytest.raises(BadQuery) as refused:
        select(studied, "upstream(heat)")
    assert str(refused.value).startswith(
        "The query has a function, and there are none. Write '+x' for x and all before"
    )
    assert refused.value.at == len("upstream")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("host !probe", "*host*,!*probe*"),
        ("heat hea HEAT", "heat,*hea*,*HEAT*"),
        ("host or not probe", "*host* or !*probe*"),
        ("(a b) or c, d", "(*a*,*b*) or (*c*,*d*)"),
        ('key* "two words" 1+db a..b /^x/', 'key*,"two words",1+db,a..b,/^x/'),
        ("rack:pre node=1 Layer:plugin|cluster", "*rack:pre*,node=1,*Layer:plugin|cluster*"),
        ('node="two words', 'node="two words"'),
        ("role:", ""), ("!", ""), ("a or", "*a*"), ("(a", "*a*"), ("a)", "*a*"), ('a "b', "*a*"), (" , ", ""), ("", ""),
        ("or", "*or*"), ("not", "*not*"), ("a and", "*a*"), ("node=", ""), ("!()", ""),
    ],
)  # fmt: skip
def test_a_filter_is_read_as_it_is_written(text: str, written: str) -> None:
    read = parse(text, ["node"], Rows.TASKS, {"heat"})
    assert read.written == written
    assert parse(written, ["node"], Rows.TASKS, {"heat"}) == read


@pytest.mark.parametrize(
    "text", ["+db", "a..b", "/var/", "/(/", "/a", "compute+cinder", "x=1", ")(", "role:x", '"', ",,", "((("]
)
def test_nothing_is_wrong_in_a_filter_of_rows_that_are_no_tasks(text: str) -> None:
    read = parse(text, ["node"])
    assert parse(read.written, ["node"]) == read


def test_an_unknown_column_is_told_where_rows_are_tasks() -> None:
    with pytest.raises(BadQuery) as refused:
        parse("heat node=1", ["task", "layer"], Rows.TASKS)
    assert (refused.value.at, "task, layer" in refused.value.hint) == (5, True)


@given(st.text(min_size=1, max_size=12) | st.sampled_from(["or", "a..b", "role:x", "a b", "2+", "x*"]))
def test_every_id_can_be_named(name: str) -> None:
    tree = parse(named(name)).tree
    assert isinstance(tree, Term)
    assert tree.values == (name,) if tree.kind == "id" else matches(tree.base, name)


def test_laws_of_sets(studied: Study) -> None:
    everything = {task.id for task in studied.merged.tasks}
    queries = ("role:controller", "layer:release", "/e/", "+keystone", "stage:deploy")
    for one in queries:
        assert names(studied, f"!({one})") == everything - names(studied, one)
        for other in queries:
            assert names(studied, f"{one} or {other}") == names(studied, one) | names(studied, other)
            for joint in (",", " and "):
                assert names(studied, f"{one}{joint}{other}") == names(studied, one) & names(studied, other)


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
        ("result:error|ready", {"keystone", "netconfig"}),
        ("result:skipped", set()),
    ):
        assert {ids[index] for index in select(studied, query, lambda: results)} == found
    with pytest.raises(BadQuery):
        select(studied, "result:error")
    with pytest.raises(BadQuery):
        select(studied, "result:failed", lambda: results)
