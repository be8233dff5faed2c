"""Packages of version 3 and 4 become version 5, with the comments and the layout of their files."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from building import fleet, instances, merged
from command_line import CommandLine
from corpus import corpus
from corpus_graphs import default_graph, release
from hypothesis import given
from hypothesis import strategies as st
from package_trees import write_package
from refusals import refused

from fuelclient.commands.graph.sides import package_addition
from fuelclient.environment.layers import changed, snapshot
from fuelclient.errors import InvalidDocument, Unavailable, UsageError
from fuelclient.insight.comparison import compare
from fuelclient.model.cluster import Cluster
from fuelclient.model.environment import Environment
from fuelclient.model.task import TaskType
from fuelclient.plan.expand import expand
from fuelclient.plan.preview import PreviewOptions
from fuelclient.plan.study import Study
from fuelclient.plugins.checks import check
from fuelclient.plugins.load import load_package
from fuelclient.plugins.migrate import JOURNAL, FileChange, Migration, apply, finish, migration_of

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
LEGACY = (
    "- {role: [controller], stage: post_deployment/100, type: shell, parameters: {cmd: x.sh, timeout: 60},\n"
    "   required_for: [pre_deployment_start], cross-depends: [{name: post_deployment_end}]}\n"
)
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
    apply(migration_of(package))
    text = (package / "deployment_tasks.yaml").read_text(encoding="utf-8")
    assert "# of the group\n\n# stays\n- id:   prepare\n" in text
    assert re.search(r"\n  roles: \[controller\] +# where\n", text)
    assert "{cmd: 'true',  timeout: 60}" in text
    tasks = {task["id"]: task for task in yaml.safe_load(text)}
    assert [*tasks] == ["prepare", "first", "monitor-1"]
    assert {task["version"] for task in tasks.values()} == {"2.0.0"}
    assert tasks["first"]["requires"] == ["pre_deployment_end"]
    prepare = tasks["prepare"]
    assert (prepare["cross-depends"], prepare["required_for"]) == ([{"name": "first"}], ["deploy_start"])
    assert not any("stage" in task or "role" in task or "groups" in task for task in tasks.values())
    roles = (package / "node_roles.yaml").read_text(encoding="utf-8")
    assert roles.startswith(ROLES)
    assert yaml.safe_load(roles)["db"]["tasks"] == ["prepare", "kernel-settings"]
    assert not (package / "tasks.yaml").exists()
    assert [finding.code for finding in check(package) if finding.is_error] == []
    assert migration_of(package, fix=True).changes == ()


def test_entries_of_tasks_yaml_stay_before_tasks_of_their_stage_and_priority(tmp_path: Path) -> None:
    shared = {"stage": "post_deployment/8000", "type": "shell", "parameters": {"cmd": "true", "timeout": 9}}
    files = {"tasks.yaml": [{"role": "*", **shared}], "deployment_tasks.yaml": [{"id": "new", "role": "*", **shared}]}
    package = write_package(tmp_path / "p", name="old", package_version="4.0.0", files=files)
    apply(migration_of(Path(package)))
    new, moved = yaml.safe_load((tmp_path / "p" / "deployment_tasks.yaml").read_text(encoding="utf-8"))
    assert (new["cross-depends"], moved["requires"]) == ([{"name": moved["id"]}], ["post_deployment_end"])


def test_a_task_of_one_half_of_a_role_keeps_a_role_of_its_own(tmp_path: Path) -> None:
    groups = "".join(
        f"- {{id: {word}, type: group, role: [{word}], tasks: [{names}]}}\n"
        for word, names in (("primary-db", "only, both, cluster"), ("db", "both"))
    )
    tasks = "".join(f"- {{id: {name}, type: shell, parameters: {{cmd: x, timeout: 1}}}}\n" for name in ("only", "both"))
    files = {"deployment_tasks.yaml": groups + tasks, "node_roles.yaml": ROLES}
    package = Path(write_package(tmp_path / "p", package_version="4.0.0", files=files))
    migration = migration_of(package)
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
    apply(migration_of(package))
    after = previewed("after.db")
    assert len(after) == 4
    assert before == after


WORDS = st.lists(st.sampled_from(["own", "primary-own", "other", "controller"]), max_size=3, unique=True)
PLACED = st.fixed_dictionaries({}, optional={"role": WORDS, "groups": WORDS, "tags": WORDS})
"""How a task of a package of version 4 may say where it runs."""


@st.composite
def tasks_and_groups(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Tasks, some named like a role, and groups that list them, in any order."""
    names = draw(st.permutations(["a", "b", "own", "other"]))
    shell = {"type": "shell", "version": "2.0.0", "parameters": {"cmd": "true", "timeout": 1}}
    tasks = [{"id": name, **shell, **draw(PLACED)} for name in names[: draw(st.integers(1, 4))]]
    listed = st.lists(st.sampled_from([task["id"] for task in tasks]), min_size=1, unique=True)
    free = [name for name in ("own", "g1", "g2") if name not in {task["id"] for task in tasks}]
    groups = [
        {"id": name, "type": "group", "role": draw(WORDS.filter(bool)), "tasks": draw(listed)}
        for name in free[: draw(st.integers(0, 2))]
    ]
    return draw(st.permutations([*tasks, *groups]))


@given(tasks_and_groups())
def test_a_migration_moves_no_task_to_other_nodes(
    tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, Any]]
) -> None:
    roles = {"own": {"name": "O", "description": "o", "has_primary": True}, "other": {"name": "X", "description": "x"}}
    files = {"deployment_tasks.yaml": records, "node_roles.yaml": roles, "deployment_scripts/x.sh": "x"}
    package = Path(write_package(tmp_path_factory.mktemp("p"), package_version="4.0.0", files=files))
    nodes = fleet({1: ["primary-own"], 2: ["own"], 3: ["other"], 4: ["other", "controller"], 5: ["primary-controller"]})

    def where() -> set[str]:
        tasks = merged(*load_package(package).contents.graphs["default"].tasks)
        return instances(expand(tasks, nodes))

    before = where()
    apply(migration_of(package))
    assert where() == before


def test_a_migration_that_fails_half_way_changes_nothing(package: Path) -> None:
    migration = migration_of(package)
    missing = FileChange(package / "missing" / "x.yaml", "x", "")
    with pytest.raises(Unavailable):
        apply(Migration((*migration.changes, missing), ()))
    assert (package / "deployment_tasks.yaml").read_text(encoding="utf-8") == TASKS
    assert (package / "tasks.yaml").read_text(encoding="utf-8") == LEGACY


KILLED = """
import os, sys
from pathlib import Path
from fuelclient.plugins import migrate
real, left = migrate._put, [int(sys.argv[2])]
def put(path, text):
    if not left[0]:
        os._exit(9)
    left[0] -= 1
    real(path, text)
migrate._put = put
migrate.apply(migrate.migration_of(Path(sys.argv[1])))
"""
"""Migrate a package, and end as if killed before some change."""


@pytest.mark.parametrize("done", range(5))
def test_a_migration_that_is_killed_is_finished_by_the_next(package: Path, tmp_path: Path, done: int) -> None:
    expected = tmp_path / "expected"
    shutil.copytree(package, expected)
    apply(migration_of(expected))
    killed = subprocess.run([sys.executable, "-c", KILLED, package, str(done)], check=False)
    assert killed.returncode == 9
    fuel2 = CommandLine(tmp_path / "engine.db")
    if done == 0:
        assert not finish(package)  # it has not begun
        fuel2.ok("plugins", "migrate", package, "--to", 5, "--yes")
    else:
        assert JOURNAL in fuel2("plugins", "migrate", package, "--to", 5).err
    assert {path.name: path.read_text() for path in package.iterdir() if path.is_file()} == {
        path.name: path.read_text() for path in expected.iterdir() if path.is_file()
    }


def test_nothing_is_written_without_a_yes(package: Path, tmp_path: Path) -> None:
    fuel2 = CommandLine(tmp_path / "engine.db")
    done = fuel2("plugins", "migrate", package)  # there is one version to migrate to
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


@pytest.mark.parametrize("record", ["- {id: [x], type: shell}", "- {id: {a: 1}, type: shell}"])
@pytest.mark.parametrize("name", ["deployment_tasks.yaml", "tasks.yaml"])
def test_an_id_that_is_no_text_is_refused(package: Path, name: str, record: str) -> None:
    (package / name).write_text(f"{record}\n", encoding="utf-8")
    with refused(InvalidDocument, str(package / name), "not a string"):
        migration_of(package)


@pytest.mark.parametrize("own", ["", ", role: [compute]"])
def test_tasks_that_share_keys_are_refused(package: Path, own: str) -> None:
    """A change of the first one would be a change of the others."""
    text = f"- &a {{id: x, type: shell, role: [db], parameters: {{cmd: a}}}}\n- {{<<: *a, id: y{own}}}\n"
    (package / "deployment_tasks.yaml").write_text(text, encoding="utf-8")
    with refused(InvalidDocument, str(package / "deployment_tasks.yaml"), "<<"):
        migration_of(package)


def test_other_versions_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        migration_of(Path(write_package(tmp_path / "p", package_version="2.0.0")))


ON_BOTH_HALVES = {
    "fuel-plugin-detach-haproxy": ["cluster", "cluster-haproxy", "primary-cluster", "primary-cluster-haproxy"],
    "fuel-plugin-detach-rabbitmq": ["cluster", "primary-cluster"],
}
"""Tasks of the release that a group placed on one half of a role, where `tasks` means both; a note says so."""


def placed(package: Path) -> tuple[dict[str, str], Study]:
    """The nodes of each task in Fuel 9.0 with the package, on two nodes of each role; and the study of the graph."""
    environment = Environment(Cluster(1, "prod", 1), release("9.0"))
    known = snapshot(environment, (default_graph("9.0"),), "default")
    added = package_addition(load_package(package), environment, known)
    assert added.graph is not None
    names = [re.sub(r":\w+#", "-", task.id) for task in added.graph.tasks]  # legacy entries, which had no ids
    tasks = tuple(replace(task, id=name) for task, name in zip(added.graph.tasks, names, strict=True))
    whole = changed(environment, known, added=[replace(added, graph=replace(added.graph, tasks=tasks))])
    study = Study(whole, PreviewOptions(assume=",".join(f"{role}=2" for role in whole.roles)))
    groups = {task.id for task in study.expansion.tasks if task.task.type == TaskType.GROUP}
    rows = study.preview().rows
    return {row.task: str(row.nodes) for row in rows if row.task not in groups}, study


@pytest.mark.corpus
@pytest.mark.slow
def test_real_packages_have_the_same_order_as_version_5(tmp_path: Path) -> None:
    found = [*corpus("plugins").glob("*/metadata.yaml"), *corpus("fpb-examples").glob("*/metadata.yaml")]
    old = [path.parent for path in found if yaml.safe_load(path.read_bytes())["package_version"][0] in "34"]
    assert len(old) > 15
    for package in old:
        copy = tmp_path / package.name
        shutil.copytree(package, copy, symlinks=True)
        before, study = placed(copy)
        apply(migration_of(copy))
        assert not [finding for finding in check(copy) if finding.is_error], package.name
        after, restudy = placed(copy)
        moved = sorted(task for task in {*before, *after} if before.get(task) != after.get(task))
        assert moved == ON_BOTH_HALVES.get(package.name, []), package.name
        order = compare(study, restudy).order
        assert order is not None
        assert order.orderings_lost == 0, package.name
        assert order.orderings_gained == 0 or moved, package.name
