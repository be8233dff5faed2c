"""Files of facts that name a role and a node, beside those that name a node, and beside the user's own."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from command_line import CommandLine

from fuelclient.backends.copies import copy_of
from fuelclient.backends.local import LocalBackend
from fuelclient.commands.exits import Exit
from fuelclient.errors import NotFound
from fuelclient.model.fact import DeploymentFacts
from fuelclient.store import facts
from fuelclient.store.database import Database


@pytest.fixture
def parts(tiny: CommandLine, tmp_path: Path) -> Path:
    """The directory in which the facts of environment 1 are expected."""
    directory = tmp_path / "deployment_1"
    directory.mkdir()
    return directory


def upload(tiny: CommandLine, parts: Path, **files: str) -> tuple[int, str]:
    for name, text in files.items():
        (parts / f"{name.lstrip('n')}.yaml").write_text(text, encoding="utf-8")
    done = tiny("env", "deployment-facts", "upload", "--env", 1, "--directory", parts.parent)
    return done.code, done.err


def value(tiny: CommandLine, expression: str) -> str:
    return tiny.ok("env", "facts", "eval", "--env", 1, "--node", 1, expression, "-f", "json").out


def test_records_of_roles_are_facts_of_their_node(tiny: CommandLine, parts: Path) -> None:
    code, _ = upload(tiny, parts, controller_1="{role: controller, uid: '1', a: {x: 5}}")
    assert (code, "5" in value(tiny, "$.a.x")) == (Exit.OK, True)


def test_a_node_has_a_file_of_its_own_or_files_of_its_roles(tiny: CommandLine, parts: Path) -> None:
    code, told = upload(tiny, parts, controller_1="{role: controller, a: 5}", n1="{a: 6}")
    assert (code, "another file also has the facts of 1" in told) == (Exit.CONFLICT, True)


def test_a_download_leaves_files_of_the_user(tiny: CommandLine, parts: Path) -> None:
    (parts / "backup_2016.yaml").write_text("mine", encoding="utf-8")
    (parts / "notes_7.yaml").write_text("{role: another}", encoding="utf-8")
    (parts / "controller_1.yaml").write_text("{role: controller, a: 5}", encoding="utf-8")
    tiny.ok("env", "deployment-facts", "get-default", "--env", 1, "--directory", parts.parent)
    left = {path.name for path in parts.iterdir()}
    assert {"backup_2016.yaml", "notes_7.yaml"} < left
    assert "controller_1.yaml" not in left


def test_a_copy_has_one_part_for_each_node(tiny: CommandLine, parts: Path) -> None:
    """Or a later upload would be hidden by the records, and they would stay when the node leaves."""
    records = DeploymentFacts({}, {"controller_1": {"role": "controller", "a": {"x": 1}}, "mongo_1": {"a": {"y": 2}}})
    with closing(Database(str(tiny.engine))) as database, database.write() as connection:
        facts.put(connection, 1, records)
    with closing(LocalBackend(str(tiny.engine))) as backend:
        assert copy_of(backend, 1).uploaded.nodes == {"1": {"role": "controller", "a": {"x": 1, "y": 2}}}


@pytest.mark.parametrize("uid", ["typo_1", "_1", "controller_2", "1_2", "9"])
def test_only_records_of_roles_have_a_role_in_their_file_name(tiny: CommandLine, uid: str) -> None:
    with closing(LocalBackend(str(tiny.engine))) as backend, pytest.raises(NotFound) as caught:
        backend.facts.put(1, DeploymentFacts({}, {uid: {"role": "controller" if uid == "typo_1" else "other", "a": 1}}))
    assert f"Node {uid} of environment 1 does not exist" in str(caught.value)
