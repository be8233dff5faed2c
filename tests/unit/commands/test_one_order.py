"""Every question about a graph, and what is selected to run, rests on the dependencies that a preview and a run have:
those that are expressions count, too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine, tiny_engine
from corpus import corpus
from recorded_expansion import CASES, filled, recorded
from tui_driving import newton_engine

from fuelclient.backends.local import LocalBackend
from fuelclient.backends.studies import study_of
from fuelclient.commands.graph.sides import Side
from fuelclient.environment.plans import plan
from fuelclient.errors import CycleDetected
from fuelclient.model.run import RunRequest
from fuelclient.plan.expand import Expansion
from fuelclient.plan.preview import PreviewOptions
from fuelclient.tui.requests import AskGraph

SHELL = "type: shell, version: 2.1.0, roles: [compute], parameters: {cmd: 'true', timeout: 9}"
COMPUTED = f"""
- {{id: aa, {SHELL}}}
- {{id: bb, {SHELL}}}
- {{id: cc, {SHELL}, requires: [{{yaql_exp: "'aa'"}}], required_for: [{{yaql_exp: "'bb'"}}]}}
"""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    fuel2 = tiny_engine(tmp_path_factory.mktemp("small"))
    fuel2.ok("graph", "upload", "--env", 1, "--type", "computed", "--file", "-", stdin=COMPUTED)
    return fuel2


@pytest.fixture(scope="module")
def newton(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    return CommandLine(newton_engine(tmp_path_factory.mktemp("newton")))


def previewed(fuel2: CommandLine, graph_type: str, *options: object) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = fuel2.ok(
        "graph", "preview", "--env", 1, "--type", graph_type, *options, "-f", "json"
    ).json
    return rows


def asked(fuel2: CommandLine, graph_type: str, *question: object) -> Any:
    return fuel2.ok("graph", *question, "--env", 1, "--type", graph_type, "-f", "json").json


def before(rows: list[dict[str, Any]], task: str) -> set[str]:
    """Return the task and all that precede it in a preview."""
    requires = {row["task"]: row["requires"] for row in rows}
    found, waiting = set(), [task]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += [one if isinstance(one, str) else one["task"] for one in requires.get(name, ())]
    return found


def check(fuel2: CommandLine, graph_type: str, last: str, first: str) -> None:
    rows = previewed(fuel2, graph_type)
    order = [row["task"] for row in rows]
    wanted = before(rows, last)
    assert first in wanted

    assert [row["task"] for row in asked(fuel2, graph_type, "order")["order"]] == order
    assert {row["task"] for row in asked(fuel2, graph_type, "query", f"+{last}")["selected"]} == wanted
    assert asked(fuel2, graph_type, "why", last, first)["ordered"] is True
    assert last in {row["task"] for row in asked(fuel2, graph_type, "impact", first)["waiting"]}
    selected = fuel2.ok(
        "graph", "execute", "--env", 1, "--type", graph_type, "--dry-run", "--select", f"+{last}", "--force"
    )
    run = fuel2.ok("task", "list", "-f", "json").json
    assert selected.err.count("Selected: ") == 1, run
    assert f"{len(wanted)} tasks of" in selected.err
    backend = LocalBackend(str(fuel2.engine))
    assert [row.task for row in AskGraph(1, graph_type).read(backend).study.rows] == order
    backend.close()


def test_computed_dependencies_count_in_every_answer(small: CommandLine) -> None:
    assert [row["task"] for row in previewed(small, "computed")] == ["aa", "cc", "bb"]
    check(small, "computed", "bb", "aa")


def test_they_count_on_assumed_nodes_too(small: CommandLine) -> None:
    assume = ("--assume", "compute=3")
    rows = previewed(small, "computed", *assume)
    assert [row["task"] for row in rows] == ["aa", "cc", "bb"]
    assert [row["task"] for row in asked(small, "computed", "order", *assume)["order"]] == ["aa", "cc", "bb"]


@pytest.mark.parametrize("number", [301, pytest.param(1000, marks=pytest.mark.slow)])
def test_they_count_on_many_nodes(tmp_path: Path, number: int) -> None:
    fuel2 = tiny_engine(tmp_path)
    nodes = "".join(f"- {{name: more-{one}, roles: [compute], executor: noop}}\n" for one in range(number))
    fuel2.ok("node", "import", "-", "--env", 1, stdin=nodes)
    fuel2.ok("graph", "upload", "--env", 1, "--type", "computed", "--file", "-", stdin=COMPUTED)

    check(fuel2, "computed", "bb", "aa")


def test_a_preview_of_a_selection_counts_them(small: CommandLine) -> None:
    rows = previewed(small, "computed", "--select", "+bb")
    assert [row["task"] for row in rows] == ["aa", "cc", "bb"]
    assert [row["task"] for row in previewed(small, "computed", "--select", "+bb", "--no-facts")] == ["bb"]


@pytest.mark.corpus
@pytest.mark.slow
@pytest.mark.parametrize("assume", ["controller=3,compute=285,cinder=13", "controller=3,compute=900,cinder=97"])
def test_newton_has_one_order_on_assumed_nodes(newton: CommandLine, assume: str) -> None:
    rows = previewed(newton, "default", "--assume", assume)
    order = asked(newton, "default", "order", "--assume", assume)["order"]
    assert [row["task"] for row in order] == [row["task"] for row in rows]
    assert asked(newton, "default", "why", "cluster", "primary-cluster", "--assume", assume)["ordered"] is True
    selected = asked(newton, "default", "query", "+cluster", "--assume", assume)["selected"]
    assert {row["task"] for row in selected} == before(rows, "cluster")


@pytest.mark.corpus
@pytest.mark.parametrize("last", ["cluster", "netconfig", "hiera_default_route"])
def test_newton_has_one_order(newton: CommandLine, last: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(corpus())
    rows = previewed(newton, "default")
    first = "primary-cluster" if last == "cluster" else next(row["task"] for row in rows)
    if first not in before(rows, last):
        first = sorted(before(rows, last) - {last})[0]
    check(newton, "default", last, first)


def test_an_answer_says_which_dependencies_it_leaves_out(small: CommandLine) -> None:
    unknown = COMPUTED.replace("'bb'", "$.no.such")
    small.ok("graph", "upload", "--env", 1, "--type", "unknown", "--file", "-", stdin=unknown)
    done = small.ok("graph", "query", "+bb", "--env", 1, "--type", "unknown")
    assert "The computed dependencies of 1 task are left out." in done.err


@pytest.mark.parametrize(
    "line", ["why ok odd", "impact ok", "order", "query ok", "stats", "render", "preview", "validate -f text"]
)
def test_a_dependency_that_cannot_be_computed_is_told_by_every_question(small: CommandLine, line: str) -> None:
    graph = f"""
    - {{id: ok, {SHELL}}}
    - {{id: odd, {SHELL}, requires: [ok], required_for: {{yaql_exp: "len(7)"}}}}
    """
    small.ok("graph", "upload", "--env", 1, "--type", "odd", "--file", "-", stdin=graph)

    done = small("graph", *line.split(), "--env", 1, "--type", "odd")

    assert done.code == (7 if line.startswith(("preview", "validate")) else 0)
    told = 'task odd: a dependency in required_for cannot be computed: The YAQL expression "len(7)" has no value'
    assert [text in done.out + done.err for text in (told, "[G034]")] == [True, True]
    assert (done.out + done.err).count(told) == 1


def test_an_upload_warns_of_a_cycle_that_they_close(small: CommandLine) -> None:
    closing = COMPUTED.replace("{id: aa,", "{id: aa, requires: [bb],")
    result = small.ok("graph", "upload", "--env", 1, "--type", "closing", "--file", "-", stdin=closing)
    assert "G050" in result.err
    assert small("graph", "preview", "--env", 1, "--type", "closing").code == 7
    assert "G050" in small("graph", "validate", "--env", 1, "--type", "closing").out


def pairs(expansion: Expansion) -> set[tuple[str, str]]:
    return {(expansion.name(before), expansion.name(after)) for before, after in expansion.edges.pairs()}


def check_pairs(backend: LocalBackend, graph_type: str) -> None:
    """Check that a plan, a preview, a question, a comparison and the terminal UI have the same instances, pairs of
    predecessor and successor, and order."""
    request = RunRequest(1, (graph_type,), force=True, unknown="run", dry_run=True)
    refusal = study_of(backend, backend.graphs.snapshot(1, graph_type)).problem
    if refusal:
        with pytest.raises(CycleDetected) as caught:
            plan(backend.runs.inputs(request), request, graph_type)
        assert caught.value.message == refusal
        return
    made = plan(backend.runs.inputs(request), request, graph_type)
    snapshot, options = backend.graphs.snapshot(1, graph_type), PreviewOptions(made.node_ids)
    doors = {
        "preview": study_of(backend, snapshot, options, conditions=True),
        "question": study_of(backend, snapshot, options),
        "comparison": Side("env:1", snapshot).study(options, backend),
    }
    if set(made.node_ids) == {node.id for node in snapshot.nodes}:
        doors["terminal UI"] = AskGraph(1, graph_type).read(backend).study
    wanted = pairs(made.expansion)
    names = sorted(map(made.expansion.name, range(made.expansion.size)))
    for door, study in doors.items():
        assert sorted(map(study.expansion.name, range(study.expansion.size))) == names, door
        assert pairs(study.expansion) == wanted, door
        ranks = {study.expansion.name(vertex): rank for vertex, rank in enumerate(study.ordered.generation)}
        assert ranks == {made.expansion.name(vertex): rank for vertex, rank in enumerate(made.order.generation)}, door


@pytest.mark.corpus
@pytest.mark.parametrize("name", CASES)
def test_every_door_has_the_pairs_of_a_plan_on_recordings(tmp_path: Path, name: str) -> None:
    case = recorded(name)
    backend = filled(tmp_path, case)
    check_pairs(backend, case["options"]["graph_type"])
    backend.close()


def test_every_door_has_the_pairs_of_a_plan(small: CommandLine, tmp_path: Path) -> None:
    demo = CommandLine(tmp_path / "demo.db")
    demo.ok("demo")
    for engine, graph_type in ((small.engine, "computed"), (demo.engine, "default")):
        backend = LocalBackend(str(engine))
        check_pairs(backend, graph_type)
        backend.close()


@pytest.mark.corpus
def test_every_door_has_the_pairs_of_a_plan_on_newton(newton: CommandLine) -> None:
    backend = LocalBackend(str(newton.engine))
    check_pairs(backend, "default")
    backend.close()
