"""`--timeout`: a wait that ends before the run does, over every backend; graphs really run, on this machine."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command_line import RELEASE, CommandLine, Done
from server_process import serving

from fuelclient.commands.shell import FuelShell

Fuel2 = Callable[..., Done]
GRAPH = """
- {{id: slow, type: shell, version: 2.0.0, roles: [compute],
   parameters: {{cmd: "until [ -e {directory}/go ]; do sleep 0.05; done", timeout: 100}}}}
"""
WAITED = re.compile(
    r"^Run 1 has not ended within .* it goes on. `fuel2 --(engine|server) \S+ task watch 1` follows", re.M
)


@pytest.fixture
def engine(tmp_path: Path) -> CommandLine:
    """Environment 1 with a compute node of this machine, whose one task waits for the file `go`."""
    fuel2 = CommandLine(tmp_path / "engine.db")
    fuel2.ok("release", "import", "-", stdin=RELEASE)
    fuel2.ok("env", "create", "prod", "--release", 1)
    document = GRAPH.format(directory=tmp_path)
    fuel2.ok("graph", "upload", "--env", 1, "--type", "default", "--file", "-", stdin=document)
    fuel2.ok("node", "create", "node-1", "--executor", "local", "--env", 1, "--roles", "compute")
    return fuel2


@pytest.fixture(params=["local", "server"])
def fuel2(engine: CommandLine, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Fuel2]:
    """The command line on the engine, or on a server over it."""
    if request.param == "local":
        yield engine
        return
    pytest.importorskip("flask", reason="the server comes with the extra [server]")
    with serving(tmp_path) as server:

        def asked(*arguments: object) -> Done:
            out, err = io.StringIO(), io.StringIO()
            words = ["--server", server.url.removesuffix("/api/v1/"), *map(str, arguments)]
            return Done(FuelShell(io.StringIO(), out, err).run(words), out.getvalue(), err.getvalue())

        yield asked


def test_a_wait_that_takes_too_long_leaves_the_run_alone(fuel2: Fuel2, tmp_path: Path) -> None:
    done = fuel2("graph", "execute", "--env", 1, "--wait", "--timeout", 1)
    assert done.code == 12, done
    assert done.out == "Deployment task with id 1 for the environment 1 has been started.\n"
    assert WAITED.search(done.err)

    watched = fuel2("task", "watch", 1, "--timeout", "1s")
    assert (watched.code, watched.out) == (12, "")
    assert WAITED.search(watched.err)

    (tmp_path / "go").touch()
    assert fuel2("task", "watch", 1, "--timeout", "2m").code == 0


def test_a_limit_is_a_wish_to_wait(fuel2: Fuel2, tmp_path: Path) -> None:
    (tmp_path / "go").touch()
    done = fuel2("graph", "execute", "--env", 1, "--timeout", "2h", "--format", "json")
    assert done.code == 0, done
    assert done.json["status"] == "ready"
    assert "Run 1 ended: ready." in done.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--timeout", "0"], "'0' is not a duration; write 90, 90s, 30m, 2h or 7d"),
        (["--timeout", "1w"], "'1w' is not a duration"),
        (["--timeout", ""], "'' is not a duration"),
        (["--timeout", "-1"], "'-1' is not a duration"),
        (["--timeout", "9" * 30], "is not a duration"),
        (["--timeout", "5", "--no-wait"], "--timeout limits the wait that --no-wait turns off"),
    ],
)
def test_limits_that_are_none(
    engine: CommandLine, capsys: pytest.CaptureFixture[str], words: list[str], told: str
) -> None:
    done = engine("graph", "execute", "--env", 1, *words)
    assert done.code == 2
    assert told in done.err + capsys.readouterr().err
    assert engine.ok("task", "list", "-f", "json").json == []
