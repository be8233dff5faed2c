"""What the facts of an environment need to stay the same is chosen once and stored."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest
from building import tasks_from
from executions import executions
from hash_seeds import same_answer
from networked import networked

from fuelclient.engine import Engine
from fuelclient.engine.inventory.facts import Facts
from fuelclient.model.node import Node
from fuelclient.model.status import RunStatus
from fuelclient.store import facts
from fuelclient.store.database import Database

COMPUTED = """
import json, sys
from fuelclient.engine import Engine
from fuelclient.engine.inventory.facts import Facts
facts = Engine(sys.argv[1]).facts.default(1)
print(json.dumps([facts.common, facts.nodes], indent=1))
"""


def path_of(directory: Path) -> str:
    return str(directory / "engine.db")


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    """Two environments; the first has three controllers and a compute node."""
    made = Engine(path_of(tmp_path))
    made.releases.create([networked()])
    made.clusters.create("one", 1)
    made.clusters.create("two", 1)
    roles = ("controller", "controller", "controller", "compute")
    made.nodes.create([Node(0, f"n{n}", 1, pending_roles=(role,)) for n, role in enumerate(roles)])
    return made


def test_secrets_of_both_blocks_are_random_and_stay(engine: Engine, tmp_path: Path) -> None:
    first, second = engine.facts.default(1).common, engine.facts.default(2).common
    for section, name in (("heat", "db_password"), ("storage", "key")):
        assert first[section][name] != second[section][name]
    engine.close()
    again = Engine(path_of(tmp_path))
    assert again.facts.default(1).common == first
    assert "heat" not in again.clusters.settings(1)
    again.close()


def test_processes_with_different_hashes_agree(engine: Engine, tmp_path: Path) -> None:
    engine.close()
    answer = json.loads(same_answer(COMPUTED, path_of(tmp_path)))
    assert answer[0]["network_metadata"]["vips"]["management"]["ipaddr"] == "192.168.0.5"


def test_a_node_more_or_less_changes_no_other_address(engine: Engine) -> None:
    before = engine.facts.default(1)
    engine.nodes.create([Node(0, "more", 1, pending_roles=("compute",))])
    more = engine.facts.default(1)
    assert more.common["network_metadata"]["vips"] == before.common["network_metadata"]["vips"]
    for uid in "1234":
        assert more.nodes[uid] == before.nodes[uid]
    assert more.nodes["5"]["network_scheme"]["endpoints"]["br-mgmt"] == {"IP": ["192.168.0.6/24"]}

    engine.clusters.remove_nodes(1, [2])
    fewer = engine.facts.default(1)
    assert fewer.nodes["3"] == before.nodes["3"]
    assert "node-2" not in fewer.common["network_metadata"]["nodes"]
    engine.nodes.create([Node(0, "last", 1, pending_roles=("compute",))])
    endpoints = engine.facts.default(1).nodes["6"]["network_scheme"]["endpoints"]
    assert endpoints["br-mgmt"] == {"IP": ["192.168.0.2/24"]}


def test_old_environment_gets_secrets_on_its_first_facts(engine: Engine, tmp_path: Path) -> None:
    engine.facts.default(1)
    with closing(Database(path_of(tmp_path))) as database:
        with database.write() as connection:
            connection.execute("UPDATE clusters SET generated = NULL, addresses = NULL")
        password = engine.facts.default(1).common["heat"]["db_password"]
        with database.read() as connection:
            assert facts.kept(connection, 1).generated == {"heat": {"db_password": password}}


def test_facts_are_computed_although_the_file_cannot_be_written(engine: Engine, tmp_path: Path) -> None:
    """They are the same each time, and those of the first process that can write are kept."""
    engine.close()
    path = path_of(tmp_path)
    with closing(Database(path)) as writing, writing.write(), closing(Database(path, busy_seconds=0.05)) as reading:
        read = Facts(reading)
        before = read.default(1)
        assert before == read.default(1)
    with closing(Database(path)) as free:
        assert Facts(free).default(1) == before


def test_a_second_run_sees_no_change(tmp_path: Path) -> None:
    env = executions(tmp_path, nodes=2, release=networked())
    env.graph(
        *tasks_from(
            [
                {
                    "id": name,
                    "type": "shell",
                    "version": "2.0.0",
                    "roles": ["compute"],
                    "condition": {"yaql_exp": f"changed({what})"},
                    "parameters": {"cmd": "true", "timeout": 60, "retries": 0},
                }
                for name, what in (
                    ("vips", "$.network_metadata.vips"),
                    ("scheme", "$.network_scheme"),
                    ("secret", "$.heat"),
                    ("status", "$.cluster.status"),
                )
            ]
        )
    )
    first, second, third = (env.run() for _ in range(3))
    assert {run.status for run in (first, second, third)} == {RunStatus.READY}
    assert {status for status, _ in env.outcomes(first.id).values()} == {"ready"}
    ran = [{name for name, (status, _) in env.outcomes(run.id).items() if status == "ready"} for run in (second, third)]
    assert ran == [{"status@1", "status@2"}, set()]
