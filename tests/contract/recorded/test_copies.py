"""A copy of a real master's environment: the facts that were recorded, key by key, and what is read for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from contract.recorded.conftest import OnMaster
from deployed_master import DeployedMaster
from recordings import line, lines

from fuelclient.backends.copies import all_inputs, copy_of
from fuelclient.backends.local import LocalBackend
from fuelclient.environment.differences import FACTS, EnvironmentCopy, environment_differences

pytestmark = pytest.mark.corpus


@pytest.fixture(scope="module")
def replay() -> DeployedMaster:
    return DeployedMaster()


@pytest.fixture(scope="module")
def copy(replay: DeployedMaster) -> EnvironmentCopy:
    return copy_of(replay.backend(), 1)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[LocalBackend]:
    with closing(LocalBackend(str(tmp_path / "copy.db"))) as made:
        yield made


def missing_from(facts: Any, recorded: Any, above: str = "") -> Iterator[str]:
    """Yield the paths at which facts are not those that were recorded; further ones do not matter."""
    for key, value in recorded.items():
        path = f"{above}{key}"
        if isinstance(value, dict) and isinstance(facts.get(key), dict):
            yield from missing_from(facts[key], value, f"{path}.")
        elif key not in facts or facts[key] != value or isinstance(facts[key], bool) != isinstance(value, bool):
            yield path


def test_recorded_facts_are_the_same_in_the_copy_key_by_key(copy: EnvironmentCopy, engine: LocalBackend) -> None:
    copied = engine.copies.store(copy).cluster_id
    facts = engine.facts.effective(copied)
    recorded = {part["uid"]: part for part in line(382).response_body}
    assert set(recorded) == {"common", "1", "2", "3", "master"}
    for uid, part in recorded.items():
        here = facts.common if uid == "common" else facts.nodes[uid]
        wanted = {key: value for key, value in part.items() if uid != "common" or key != "uid"}
        assert list(missing_from(here, wanted)) == []


def test_the_engine_adds_nothing(copy: EnvironmentCopy, engine: LocalBackend) -> None:
    """Not even what it computes for an interface that is not copied."""
    here = all_inputs(engine, engine.copies.store(copy).cluster_id)
    assert environment_differences(here, copy.inputs) == ()


def whole_history(run_id: int) -> list[dict[str, Any]]:
    """The history of a run as it was recorded after its end."""
    path = f"/api/v1/transactions/{run_id}/deployment_history/"
    bodies = [recorded.response_body for recorded in lines() if (recorded.path, recorded.status) == (path, 200)]
    return next(body for body in bodies if not {"pending", "running"} & {row["status"] for row in body})


def test_graphs_settings_and_networks_are_the_same_in_the_copy(copy: EnvironmentCopy, engine: LocalBackend) -> None:
    copied = engine.copies.store(copy).cluster_id
    here = all_inputs(engine, copied)
    found = [found for found in environment_differences(here, copy.inputs) if found.part != FACTS]
    assert found == []
    assert {name: len(layers) for name, layers in here.layers.items()} == {
        name: len(layers) for name, layers in copy.inputs.layers.items()
    }
    networks = engine.networks.configuration(copied)["networks"]
    by_name = {network["name"]: network for network in networks}
    for network in copy.networks["networks"]:
        assert {key: by_name[network["name"]][key] for key in ("cidr", "gateway", "ip_ranges", "vlan_start")} == {
            key: network[key] for key in ("cidr", "gateway", "ip_ranges", "vlan_start")
        }


def test_the_last_run_is_remembered_with_the_facts_that_it_saw(copy: EnvironmentCopy, engine: LocalBackend) -> None:
    copied = engine.copies.store(copy).cluster_id
    (run,) = [run for run in engine.runs.list(cluster_id=copied) if run.parent_id is not None]
    recorded = whole_history(run_id=28)
    assert run.graph_type == "small"
    assert {(row.task, str(row.node or "null"), row.time_end) for row in engine.runs.history(run.id) if row.type} == {
        (row["task_name"], row["node_id"], row["time_end"]) for row in recorded if row["status"] == "ready"
    }
    assert engine.runs.deployment_info(run.id) == copy.past[0].facts


def test_nothing_is_written_to_the_master(copy: EnvironmentCopy, replay: DeployedMaster) -> None:
    assert copy
    assert {request.split()[0] for request in replay.asked} == {"GET"}


def test_the_command_lists_what_was_copied_and_what_was_not(on_master: OnMaster, tmp_path: Path) -> None:
    done = on_master(DeployedMaster(), "env", "clone", 1, "--to-engine", "copy.db", "-f", "json")
    assert done.code == 0, done.err
    parts = {part["part"]: part for part in done.json}
    assert (parts["release"]["count"], parts["plugins"]["count"], parts["nodes"]["count"]) == (1, 1, 3)
    assert "packages" in parts["plugins"]["note"]
    assert "not copied" in parts["disks and interfaces"]["note"]
    (missing,) = [text for text in done.err.splitlines() if text.startswith("Not copied: ")]
    assert "the disks and interfaces of nodes" in missing
    assert (tmp_path / "copy.db").exists()
