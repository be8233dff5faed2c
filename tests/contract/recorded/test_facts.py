"""Deployment facts of a real master: what is read, written to files and sent back is the same, key by key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from contract.recorded.conftest import OnMaster
from deployed_master import DeployedMaster
from recordings import Replay, commands, line

from fuelclient.errors import NotFound
from fuelclient.serializers.fact import facts_to, info_to

pytestmark = pytest.mark.corpus

DEFAULTS, CURRENT = "facts: defaults", "facts: current ones"


def by_uid(facts: Any) -> dict[str, Any]:
    """The elements of a list of facts by their uids."""
    assert len({part["uid"] for part in facts}) == len(facts)
    return {part["uid"]: part for part in facts}


def same(sent: Any, recorded: Any) -> bool:
    """Whether two lists have the same facts: their order means nothing."""
    return by_uid(sent) == by_uid(recorded)


def read(directory: Path) -> dict[str, Any]:
    """The facts in the files of a directory, by the names of the files."""
    return {path.name: yaml.safe_load(path.read_text(encoding="utf-8")) for path in directory.iterdir()}


def test_the_common_part_is_no_node() -> None:
    default = Replay(DEFAULTS).backend().facts.default(1)
    assert list(default.nodes) == ["1", "2", "3", "master"]
    assert len(default.common) == 78
    assert by_uid(facts_to(default)) == by_uid(line(382).response_body)


def test_uploaded_facts_are_what_the_master_has() -> None:
    facts = Replay(393, 397).backend().facts
    assert by_uid(facts_to(facts.get(1))) == by_uid(line(391).response_body)
    assert facts.get(1).is_empty
    assert facts.get(1).nodes == {"1": {"extra_fact": {"deep": [1, 2]}}}


def test_every_node_and_the_sync_points_have_facts_in_a_run() -> None:
    effective = Replay(DEFAULTS).backend().facts.effective(1)
    assert set(effective.nodes) == {"1", "2", "3", "master", "null"}
    assert effective.nodes["1"]["uid"] == "1"
    assert effective.nodes["null"] == {}
    assert effective.common == {**Replay(DEFAULTS).backend().facts.default(1).common}


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_the_defaults_are_written_and_uploaded_unchanged(on_master: OnMaster, tmp_path: Path, form: str) -> None:
    line_of_original = "fuel2 env deployment-facts get-default -e 1 -f yaml"
    done = on_master(Replay(DEFAULTS), *line_of_original.split()[1:-1], form)
    assert done.code == 0, done.err
    written = read(tmp_path / "deployment_1")
    names = [name.split("/")[1].replace("yaml", form) for name in commands()[line_of_original].files]
    assert sorted(written) == sorted(names)
    assert by_uid(written.values()) == by_uid(line(382).response_body)

    replay = Replay(389, same=same)
    done = on_master(replay, "env", "deployment-facts", "upload", "-e", 1, "-f", form)
    assert done.code == 0, done.err
    assert replay.asked[-1] == "PUT clusters/1/orchestrator/deployment/"


def test_without_a_split_the_files_have_the_common_part(on_master: OnMaster, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    words = ["env", "deployment-facts", "get-default", "-e", "1", "-f", "json", "-d", "one", "--no-split", "-n", "1"]
    assert on_master(Replay(DEFAULTS), *words).code == 0
    written = read(tmp_path / "one" / "deployment_1")
    assert set(written) == {"1.json", "master.json"}
    assert by_uid(written.values()) == by_uid(line(388).response_body)


def test_what_was_uploaded_is_downloaded(on_master: OnMaster, tmp_path: Path) -> None:
    (tmp_path / "two").mkdir()
    assert on_master(Replay(CURRENT), "env", "deployment-facts", "download", "-e", 1, "-d", "two").code == 0
    written = read(tmp_path / "two" / "deployment_1")
    assert by_uid(written.values()) == by_uid(line(391).response_body)


def test_upload_sends_the_facts_of_unnamed_nodes(on_master: OnMaster, tmp_path: Path) -> None:
    place = tmp_path / "deployment_1"
    place.mkdir()
    (place / "2.yaml").write_text("roles: [changed]\n", encoding="utf-8")
    sent: list[Any] = []

    def noted(body: Any, _recorded: Any) -> bool:
        sent.append(body)
        return True

    done = on_master(Replay(391, 396, same=noted), "env", "deployment-facts", "upload", "-e", 1)
    assert done.code == 0, done.err
    before = by_uid(line(391).response_body)
    assert by_uid(sent[0]) == {**before, "2": {"uid": "2", "roles": ["changed"]}}


def test_facts_without_a_uid_are_refused_and_not_lost() -> None:
    refused = Replay(399).backend()
    with pytest.raises(Exception, match="uid"):
        refused.facts.get(1)


def test_the_facts_of_a_run_are_a_mapping_by_uid(on_master: OnMaster, tmp_path: Path) -> None:
    info = Replay("runs: after the end").backend().runs.deployment_info(28)
    assert info_to(info) == line(479).response_body
    assert (
        on_master(Replay("runs: after the end"), "task", "deployment-info", "download", 28, "-f", "di.yaml").code == 0
    )
    assert yaml.safe_load((tmp_path / "di.yaml").read_text(encoding="utf-8")) == line(479).response_body


def test_facts_of_an_unknown_environment_are_not_found(on_master: OnMaster) -> None:
    done = on_master(Replay(404), "env", "deployment-facts", "delete", 99)
    assert (done.code, "Environment 99" in done.err) == (5, True)
    with pytest.raises(NotFound):
        Replay(404).backend().facts.delete(99)


def test_json_of_the_defaults_is_read_back(on_master: OnMaster, tmp_path: Path) -> None:
    on_master(Replay(DEFAULTS), "env", "deployment-facts", "get-default", "-e", 1, "-f", "json")
    text = (tmp_path / "deployment_1" / "common.json").read_text(encoding="utf-8")
    assert json.loads(text) == by_uid(line(382).response_body)["common"]


@pytest.mark.parametrize("node", [[], ["--node", "2"]])
@pytest.mark.parametrize(("expression", "value"), [("changed($)", True), ("$.get('no_such')", None)])
def test_what_a_master_lacks_is_absent_and_not_unknown(
    on_master: OnMaster, expression: str, value: bool | None, node: list[str]
) -> None:
    """The engine would compute facts that this master lacks, such as the versions of a plugin's package."""
    done = on_master(DeployedMaster(), "env", "facts", "eval", expression, "--env", 1, *node, "-f", "json")
    assert done.code == 0, done.err
    assert done.json["value"] is value
