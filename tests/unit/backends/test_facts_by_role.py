"""Masters before 9.0 state the facts of a node in a record for each of its roles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from command_line import fuel2
from scripted_master import scripted, writes

from fuelclient.backends.connected import connected
from fuelclient.facts.given import NULL, with_assumed
from fuelclient.model.fact import DeploymentFacts
from fuelclient.serializers.fact import facts_from, facts_to
from fuelclient.settings.master import Credentials, Master

PATH = "clusters/1/orchestrator/deployment"
RECORDS = [
    {"uid": "1", "role": "controller", "a": {"x": 1}},
    {"uid": "1", "role": "primary-mongo", "a": {"y": 2}},
    {"uid": "2", "role": "compute", "a": {"x": 3}},
]
NAMES = ["compute_2.yaml", "controller_1.yaml", "primary-mongo_1.yaml"]
ANSWERS = {
    "GET clusters/1": {"id": 1, "name": "old", "status": "new", "release_id": 2},
    f"GET {PATH}?split=1": RECORDS, f"GET {PATH}/defaults?split=1": RECORDS, f"PUT {PATH}": RECORDS,
    f"GET {PATH}": RECORDS, f"GET {PATH}/defaults": RECORDS,
}  # fmt: skip


def ordered(records: Any) -> list[dict[str, Any]]:
    return sorted(records, key=lambda record: (record["uid"], record["role"]))


def test_records_are_stated_as_they_were_read() -> None:
    facts = facts_from(RECORDS)
    assert [part for part in facts_to(facts) if part["uid"] != "common"] == RECORDS


@pytest.mark.parametrize("option", [(), ("--no-split",)])
def test_a_download_is_uploaded_unchanged(tmp_path: Path, option: tuple[str, ...]) -> None:
    at = ("--env", 1, "--directory", tmp_path)
    with scripted(ANSWERS) as master:
        for _ in range(2):  # the second download replaces the files of the first
            done = fuel2("--server", master.url, "env", "deployment-facts", "get-default", *at, *option, "--force")
            assert done.code == 0, done
        names = sorted(path.name for path in (tmp_path / "deployment_1").iterdir())
        assert [name for name in names if name != "common.yaml"] == NAMES
        done = fuel2("--server", master.url, "env", "deployment-facts", "upload", *at, "--yes")
        assert done.code == 0, done
        (sent,) = writes(master)
    records = [part for part in sent[f"PUT {PATH}"] if part["uid"] != "common"]
    assert ordered(records) == RECORDS


def test_records_of_other_roles_and_nodes_stay_at_an_upload() -> None:
    with scripted(ANSWERS) as master:
        backend = connected(Master(master.url, Credentials()))
        backend.facts.put(1, DeploymentFacts({}, {"controller_1": {"role": "controller", "a": 9}, "2": {"b": 1}}))
        (sent,) = writes(master)
    assert [part for part in sent[f"PUT {PATH}"] if part["uid"] != "common"] == [
        {"uid": "1", "role": "controller", "a": 9}, RECORDS[1], {"uid": "2", "b": 1},
    ]  # fmt: skip


def test_a_run_sees_the_records_of_a_node_as_one() -> None:
    with scripted(ANSWERS) as master:
        effective = connected(Master(master.url, Credentials())).facts.effective(1)
    assert set(effective.nodes) == {"1", "2", "master", NULL}
    assert effective.nodes["1"]["a"] == {"x": 1, "y": 2}
    assumed = with_assumed(DeploymentFacts({}, {"1": {"a": {"x": 5}}}), facts_from(RECORDS))
    assert assumed.nodes["1"]["a"] == {"x": 5, "y": 2}
