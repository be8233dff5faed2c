"""Runs are stopped and killed, and only one runs on an environment."""

from __future__ import annotations

import pytest
from executions import Executions, shell
from refusals import refused

from fuelclient.errors import Conflict


def test_a_stop_lets_what_runs_end_and_starts_nothing_more(env: Executions) -> None:
    env.graph(shell("a", f"{env.held('began')}; {env.note('done')}"), shell("b", env.note("b"), requires=["a"]))
    env.graph(shell("c", env.note("c")), graph_type="later")
    begun = env.begin("default", "later")
    env.until(begun.id, lambda _: len(env.noted()) == 3)

    env.backend.runs.stop_cluster(1)
    env.looked(begun.id)
    env.let_go()
    found = env.ended(begun.id)

    assert (found.status, found.stop) == ("error", "graceful")
    assert "Stopped by user." in found.message
    assert [one.message for one in found.children][1] == "Aborted"
    assert sorted(env.noted()) == ["began"] * 3 + ["done"] * 3
    assert env.outcomes(found.id)["a@1"] == ("ready", "")
    assert env.outcomes(found.id)["b@1"] == ("skipped", "stopped")
    assert env.statuses() == {1: "stopped", 2: "stopped", 3: "stopped"}
    assert env.backend.clusters.get(1).status == "stopped"
    with pytest.raises(Conflict) as caught:
        env.backend.runs.stop_cluster(1)
    text = "Nothing to stop - deployment is not running on environment '1'."
    assert caught.value.message == text  # Nailgun's own text, which scripts match


def test_a_kill_ends_what_runs(env: Executions) -> None:
    env.graph(shell("a", f"{env.note('a')}; sleep 50; {env.note('done')}"))
    begun = env.begin()
    env.until(begun.id, lambda _: len(env.noted()) == 3)

    env.backend.runs.stop(begun.id)
    env.backend.runs.stop(begun.id, kill=True)
    found = env.ended(begun.id)

    assert (found.status, found.stop) == ("error", "kill")
    assert env.noted() == ["a"] * 3
    assert env.outcomes(found.id)["a@1"][0] == "error"


def test_one_run_runs_on_an_environment_at_a_time(env: Executions) -> None:
    env.graph(shell("a", env.held("began")))
    begun = env.begin()

    with refused(Conflict, f"run {begun.id}", "environment 1", "stop-deployment 1"):
        env.begin()
    with refused(Conflict, f"run {begun.id}", f"task watch {begun.id}"):
        env.backend.runs.resume(begun.id)
    with refused(Conflict, f"run {begun.id}", f"task stop {begun.id}"):
        env.backend.runs.delete(begun.id, force=True)
    env.let_go()
    env.ended(begun.id)
    with refused(Conflict, f"run {begun.id}", "ended"):
        env.backend.runs.stop(begun.id)
    env.run()
