"""Deploying, provisioning and resetting on a real master: its own paths, and what the original client prints."""

from __future__ import annotations

import shlex

import pytest
from command_line import Done, fuel2
from recordings import TOKEN, Replay, commands
from refusals import require_named

pytestmark = pytest.mark.corpus


@pytest.fixture(autouse=True)
def _token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OS_TOKEN", TOKEN)


def run(replay: Replay, line: str) -> Done:
    """Run a command line of `fuel2` against a replay."""
    with replay.served() as url:
        return fuel2("--server", url, *shlex.split(line)[1:])


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("fuel2 env deploy 1", "clusters/1/changes"),
        ("fuel2 env redeploy 1", "clusters/1/changes/redeploy"),
        ("fuel2 env nodes deploy -e 1 -n 2", "clusters/1/deploy/"),
    ],
)
def test_the_masters_own_paths_are_used(line: str, path: str) -> None:
    recorded = commands()[line]
    replay = recorded.replay()
    done = run(replay, line)
    assert (done.code, done.out) == (recorded.exit, recorded.stdout), done
    assert [asked.split("?")[0] for asked in replay.asked if asked.startswith("PUT")] == [f"PUT {path}"]


def test_provision() -> None:
    done = run(Replay(418, 419), "fuel2 env nodes provision -e 1 -n 1 2 3")
    sentence = "Provisioning task with id 25 for the nodes 1, 2, 3 within the environment 1 has been started.\n"
    assert (done.code, done.out) == (0, sentence), done


def test_a_forced_deployment_is_a_redeployment() -> None:
    replay = Replay(587)
    done = run(replay, "fuel2 env deploy 1 --force")
    assert (done.code, done.out) == (0, "Deployment task with id 84 for the environment 1 has been started.\n"), done


def test_reset() -> None:
    done = run(Replay(648), "fuel2 env reset 1")
    assert (done.code, done.out) == (0, "Reset task with id 112 for the environment 1 has been started.\n"), done


def test_a_refusal_keeps_the_reason() -> None:
    done = run(Replay("runs: refusals while one runs"), "fuel2 env reset 1")
    assert (done.code, done.out) == (6, "")
    assert "Can't reset environment '1' when running deployment task exists." in done.err


@pytest.mark.parametrize(
    ("line", "option"),
    [
        ("fuel2 env deploy 1 --trace", "--trace"),
        ("fuel2 env deploy 1 --executor ssh", "--executor"),
        ("fuel2 env reset 1 --dry-run", "--dry-run"),
        ("fuel2 env reset 1 --noop", "--noop"),
        ("fuel2 env nodes provision --env 1 --nodes 1 --dry-run", "--dry-run"),
        ("fuel2 env nodes provision --env 1 --nodes 1 --noop", "--noop"),
    ],
)
def test_an_option_that_the_master_would_ignore_is_refused(line: str, option: str) -> None:
    replay = Replay("deploy, redeploy, deploy selected nodes")
    done = run(replay, line)
    assert done.code == 2, done
    require_named(done.err, [option])
    assert not [asked for asked in replay.asked if asked.startswith("PUT")]


@pytest.mark.parametrize("verb", ["deploy", "provision"])
def test_foreign_nodes_are_refused_before_the_request(verb: str) -> None:
    replay = Replay("deploy, redeploy, deploy selected nodes")
    done = run(replay, f"fuel2 env nodes {verb} --env 1 --nodes 2 6")
    assert done.code == 5, done
    require_named(done.err, ["6"])
    assert not [asked for asked in replay.asked if asked.startswith("PUT")]
