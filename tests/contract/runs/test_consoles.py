"""The facts of a console: those of now, those of the run before, and those that a run found."""

from __future__ import annotations

import pytest
from executions import Executions, shell
from refusals import missing

from fuelclient.backends.consoles import console_facts
from fuelclient.errors import NotFound
from fuelclient.model.fact import DeploymentFacts


def test_old_facts_are_those_of_the_last_run_that_succeeded(env: Executions) -> None:
    env.graph(shell("a"))
    assert console_facts(env.backend, 1).old is None

    env.backend.facts.put(1, DeploymentFacts({"word": "one"}))
    first = env.run().id
    env.backend.facts.put(1, DeploymentFacts({"word": "two"}))
    env.begin(dry_run=True)
    env.graph(shell("a", "false"))
    failed = env.run().id
    facts = console_facts(env.backend, 1)
    assert facts.run_id == first
    told = facts.at("1").evaluated("$.word")
    assert (told.value, told.old, told.changed) == ("two", None, True)  # the failed run left node 1 in error

    env.graph(shell("a"))
    last = env.run().id
    told = console_facts(env.backend, 1).at("1").evaluated("$.word")
    assert (told.value, told.old, told.changed) == ("two", "two", False)
    assert console_facts(env.backend, 1, before=last).run_id == first
    told = console_facts(env.backend, 1, before=last).at().evaluated("$.word")
    assert (told.value, told.old, told.changed) == ("two", "one", True)
    assert console_facts(env.backend, 1, before=failed).run_id == first
    assert console_facts(env.backend, 1, before=first).old is None


def test_nodes_and_runs_that_are_not_there(env: Executions) -> None:
    with missing("fact", "of node 9"):
        console_facts(env.backend, 1).at("9")
    with pytest.raises(NotFound):
        console_facts(env.backend, 1, before=99)
