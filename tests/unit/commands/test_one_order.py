"""Every question about a graph, and what is selected to run, rests on the dependencies that a preview and a run have:
those that are expressions count, too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine, tiny_engine
from corpus import corpus
from tui_driving import newton_engine

from fuelclient.backends.local import LocalBackend
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
    assert selected.err.count("are selected") == 1, run
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


def test_a_selection_says_what_it_leaves_out(tmp_path: Path) -> None:
    fuel2 = tiny_engine(tmp_path)
    nodes = "".join(f"- {{name: more-{number}, roles: [compute], executor: noop}}\n" for number in range(300))
    fuel2.ok("node", "import", "-", "--env", 1, stdin=nodes)
    fuel2.ok("graph", "upload", "--env", 1, "--type", "computed", "--file", "-", stdin=COMPUTED)

    done = fuel2.ok("graph", "execute", "--env", 1, "--type", "computed", "--dry-run", "--select", "+bb")

    assert "The computed dependencies of 1 task are left out.\n1 task of 3 are selected." in done.err


@pytest.mark.corpus
@pytest.mark.parametrize("last", ["cluster", "netconfig", "hiera_default_route"])
def test_newton_has_one_order(newton: CommandLine, last: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(corpus())
    rows = previewed(newton, "default")
    first = "primary-cluster" if last == "cluster" else next(row["task"] for row in rows)
    if first not in before(rows, last):
        first = sorted(before(rows, last) - {last})[0]
    check(newton, "default", last, first)
