"""Packages of version 3 and 4 become version 5, with the comments and the layout of their files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from command_line import CommandLine
from corpus import corpus
from package_trees import write_package

from fuelclient.errors import Unavailable, UsageError
from fuelclient.plugins.checks import check
from fuelclient.plugins.migrate import Change, Migration, apply, migrated

TASKS = """\
# of the group
- id: db
  type: group
  role: [primary-db, db]   # both
  tasks: [prepare, kernel-settings]
  requires: [deploy_start]
  required_for: [deploy_end]
  parameters:
    strategy: {type:   parallel}

# stays
- id:   prepare
  type: shell
  groups: [controller]     # where
  stage: pre_deployment/200

  parameters: {cmd: 'true',  timeout: 60}
- id: first
  type: shell
  role: ["*"]
  stage: pre_deployment/100
  parameters: {cmd: "true", timeout: 60}
"""
LEGACY = "- {role: [controller], stage: post_deployment/100, type: shell, parameters: {cmd: x.sh, timeout: 60}}\n"
ROLES = "db:\n  name: Db   # short\n  description: A database\n  has_primary: true\n"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package of version 4 with a group, stages and a legacy entry."""
    files = {
        "deployment_tasks.yaml": TASKS, "tasks.yaml": LEGACY, "node_roles.yaml": ROLES, "deployment_scripts/x.sh": "x",
    }  # fmt: skip
    releases = [{"os": "ubuntu", "version": "ocata-11.0", "mode": ["ha"]}]
    return Path(write_package(tmp_path / "p", package_version="4.0.0", releases=releases, files=files))


def test_what_changes_and_what_stays(package: Path) -> None:
    apply(migrated(package))
    text = (package / "deployment_tasks.yaml").read_text(encoding="utf-8")
    assert "# of the group\n\n# stays\n- id:   prepare\n" in text
    assert re.search(r"\n  roles: \[controller\] +# where\n", text)
    assert "{cmd: 'true',  timeout: 60}" in text
    tasks = {task["id"]: task for task in yaml.safe_load(text)}
    assert [*tasks] == ["prepare", "first", "monitor-1"]
    assert {task["version"] for task in tasks.values()} == {"2.0.0"}
    assert tasks["first"]["requires"] == ["pre_deployment_end"]
    assert (tasks["prepare"]["requires"], tasks["prepare"]["required_for"]) == (["first"], ["deploy_start"])
    assert not any("stage" in task or "role" in task or "groups" in task for task in tasks.values())
    roles = (package / "node_roles.yaml").read_text(encoding="utf-8")
    assert roles.startswith(ROLES)
    assert yaml.safe_load(roles)["db"]["tasks"] == ["prepare", "kernel-settings"]
    assert not (package / "tasks.yaml").exists()
    assert [finding.code for finding in check(package) if finding.is_error] == []
    assert migrated(package, fix=True).changes == ()


def test_a_task_of_one_half_of_a_role_keeps_a_role_of_its_own(tmp_path: Path) -> None:
    groups = "".join(
        f"- {{id: {word}, type: group, role: [{word}], tasks: [{names}]}}\n"
        for word, names in (("primary-db", "only, both, cluster"), ("db", "both"))
    )
    tasks = "".join(f"- {{id: {name}, type: shell, parameters: {{cmd: x, timeout: 1}}}}\n" for name in ("only", "both"))
    files = {"deployment_tasks.yaml": groups + tasks, "node_roles.yaml": ROLES}
    package = Path(write_package(tmp_path / "p", package_version="4.0.0", files=files))
    migration = migrated(package)
    apply(migration)
    assert yaml.safe_load((package / "node_roles.yaml").read_text(encoding="utf-8"))["db"]["tasks"] == [
        "both", "cluster",
    ]  # fmt: skip
    roles = {task["id"]: task.get("roles") for task in yaml.safe_load((package / "deployment_tasks.yaml").read_text())}
    assert roles == {"only": ["primary-db"], "both": None}
    assert any("cluster" in note for note in migration.notes)


def test_the_same_tasks_run_on_the_same_nodes_in_the_same_order(package: Path, tmp_path: Path) -> None:
    def previewed(name: str) -> list[tuple[str, str]]:
        fuel2 = CommandLine(tmp_path / name)
        fuel2.ok("-q", "demo")
        fuel2.ok("plugins", "install", package)
        fuel2.ok("plugins", "enable", "monitor", "--env", 1)
        rows = fuel2.ok("graph", "preview", "--env", 1, "--assume", "controller=2,compute=1,db=2", "-f", "json").json
        names = {"monitor:post_deployment#1": "monitor-1"}  # a legacy entry, which had no id
        tasks = [(names.get(row["task"], row["task"]), str(row["nodes"])) for row in rows]
        return [task for task in tasks if task[0] in ("monitor-1", "first", "prepare", "kernel-settings")]

    before = previewed("before.db")
    apply(migrated(package))
    after = previewed("after.db")
    assert len(after) == 4
    assert before == after


def test_a_migration_that_fails_half_way_changes_nothing(package: Path) -> None:
    migration = migrated(package)
    missing = Change(package / "missing" / "x.yaml", "x", "")
    with pytest.raises(Unavailable):
        apply(Migration((*migration.changes, missing), ()))
    assert (package / "deployment_tasks.yaml").read_text(encoding="utf-8") == TASKS
    assert (package / "tasks.yaml").read_text(encoding="utf-8") == LEGACY


def test_nothing_is_written_without_a_yes(package: Path, tmp_path: Path) -> None:
    fuel2 = CommandLine(tmp_path / "engine.db")
    done = fuel2("plugins", "migrate", package, "--to", 5)
    assert (done.code, "\n-  groups: [controller]     # where\n" in done.out) == (0, True)
    assert (package / "deployment_tasks.yaml").read_text(encoding="utf-8") == TASKS
    assert fuel2("plugins", "check", package, "--fix").code == 2
    fuel2.ok("plugins", "migrate", package, "--to", 5, "--yes")
    assert fuel2("plugins", "migrate", package, "--to", 5).code == 2
    with (package / "deployment_tasks.yaml").open("a", encoding="utf-8") as stream:
        stream.write("- {id: z, type: shell, role: [db], parameters: {cmd: x.sh, timeout: 60}}\n")
    assert "P012" in fuel2("plugins", "check", package).out
    fixed = fuel2("plugins", "check", package, "--fix", "--yes")
    assert (fixed.code, "P012" in fixed.out, "roles: [db]" in fixed.err) == (0, False, True)


def test_other_versions_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        migrated(Path(write_package(tmp_path / "p", package_version="2.0.0")))


@pytest.mark.corpus
@pytest.mark.slow
def test_real_packages_have_no_errors_as_version_5(tmp_path: Path) -> None:
    found = [*corpus("plugins").glob("*/metadata.yaml"), *corpus("fpb-examples").glob("*/metadata.yaml")]
    old = [path.parent for path in found if yaml.safe_load(path.read_bytes())["package_version"][0] in "34"]
    assert len(old) > 15
    for number, package in enumerate(old):
        copy = tmp_path / str(number)
        copy.mkdir()
        for path in package.iterdir():
            if path.is_dir():
                (copy / path.name).symlink_to(path)
            else:
                (copy / path.name).write_bytes(path.read_bytes())
        apply(migrated(copy))
        missing = {"P004", "P067"}  # directories that are links here
        errors = [finding for finding in check(copy) if finding.is_error and finding.code not in missing]
        assert errors == [], package.name
