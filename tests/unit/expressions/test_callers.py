"""Whoever evaluates an expression without an end says which task has it and what the limit is, after asking a child
once for all nodes, and leaves no process that computes on."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine, tiny_engine
from http_api import Api
from processes import command_lines
from refusals import require_named

from fuelclient.backends.local import LocalBackend
from fuelclient.expressions import child_process, limits

ENDLESS = "range(1, 100000).limit(9000).aggregate($1 * $2)"
GRAPH = """
- id: keystone
  type: shell
  version: 2.0.0
  roles: [/.*/]
  {}: {{yaql_exp: '{}'}}
  parameters: {{cmd: 'true', timeout: 1}}
"""
LIMIT = "more than 1 seconds"

Caller = Callable[[CommandLine], str]


def command(line: str, code: int = 7) -> Caller:
    def call(fuel2: CommandLine) -> str:
        done = fuel2(*line.split())
        assert done.code == code, done
        return done.out + done.err

    return call


def request(method: str, path: str, body: Any, status: int) -> Caller:
    def call(fuel2: CommandLine) -> str:
        pytest.importorskip("flask", reason="the server comes with the extra [server]")
        from fuelclient.server.app import application

        app = application(lambda: LocalBackend(str(fuel2.engine)))
        answer = str(Api(app).ask(method, path, body, status=status))
        app.extensions["fuelclient"].close()
        return answer

    return call


def screen(*keys: str) -> Caller:
    def call(fuel2: CommandLine) -> str:
        pytest.importorskip("textual", reason="the terminal UI needs textual")
        from tui_driving import connecting, driven

        async def shown() -> str:
            async with driven(connecting(fuel2.engine), (400, 50), env=1, notifications=True) as one:
                await one.press(*keys)
                return one.text() + one.told()

        return asyncio.run(shown())

    return call


RUN = {"cluster": 1, "graphs": [{"type": "default"}], "dry_run": False, "noop_run": True, "force": False}
CALLERS = {
    "preview": ("condition", command("graph preview --env 1")),
    "validate": ("condition", command("graph validate --env 1")),
    "plan": ("condition", command("plan create plan.json --env 1 --force")),
    "run": ("condition", command("graph execute --env 1 --noop --wait")),
    "server": ("condition", request("POST", "graphs/execute/", RUN, 400)),
    "screen": ("requires", screen("6")),
    "changes": ("condition", command("env changes 1")),
    "simulate": ("condition", command("graph simulate --env 1")),
    "as a master": ("condition", command("graph preview --env 1 --as-master")),
    "why": ("requires", command("graph why netconfig keystone --env 1", 0)),
    "impact": ("requires", command("graph impact keystone --env 1", 0)),
}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The expressions that children are asked for; those of one plan have one second."""
    monkeypatch.setenv("FUEL_EXPRESSION_SECONDS", "1")
    monkeypatch.setattr(limits, "_seconds", 1)
    monkeypatch.chdir(tmp_path)
    texts: list[str] = []
    answer = child_process.answer

    def answered(text: str, *rest: Any) -> Any:
        texts.append(text)
        return answer(text, *rest)

    monkeypatch.setattr(child_process, "answer", answered)
    return texts


def children() -> set[int]:
    """The processes that evaluate expressions for this one."""
    lines = command_lines()
    return {pid for pid, line in lines if "yaql_library.serve" in line and line.split()[-1] == str(os.getpid())}


OFTEN = ("run", "server", "screen")


@pytest.mark.parametrize(
    "caller", [caller if caller in OFTEN else pytest.param(caller, marks=pytest.mark.slow) for caller in CALLERS]
)
def test_an_endless_expression_of_a_task_is_named(caller: str, asked: list[str], tmp_path: Path) -> None:
    attribute, call = CALLERS[caller]
    fuel2 = tiny_engine(tmp_path)
    graph = GRAPH.format(attribute, ENDLESS)
    fuel2.ok("graph", "upload", "--env", 1, "--type", "default", "--file", "-", stdin=graph)
    before = children()
    asked.clear()  # an upload looks for cycles
    said = call(fuel2)
    require_named(said, ("keystone", attribute, ENDLESS, LIMIT, "EXPRESSION_SECONDS"))
    assert asked == [ENDLESS], "two nodes have it"
    assert children() <= before


def test_an_endless_expression_that_is_typed_is_told(asked: list[str], tmp_path: Path) -> None:
    done = tiny_engine(tmp_path)("env", "facts", "eval", ENDLESS, "--env", 1, "--node", 1)
    assert done.code == 7
    require_named(done.err, (ENDLESS, LIMIT, "EXPRESSION_SECONDS"))
    assert asked == [ENDLESS], "its old value is not asked for"
