"""What a selection leaves as it is, and what real packages are compatible with."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from corpus import corpus

from fuelclient.model.package import Package
from fuelclient.model.release import Release
from fuelclient.plugins.load import load_package
from fuelclient.plugins.select import for_any_release, is_compatible, needs_release, select

HEAD = "name: sample\nversion: 1.2.3\npackage_version: 5.0.0\n"
MITAKA = Release(2, "Mitaka on Ubuntu", "mitaka-9.0", operating_system="Ubuntu")

TASKS = """\
- {id: a, type: skipped, version: 2.0.0, condition: for 9, fuel-version: '>=9'}
- {id: a, type: skipped, version: 2.0.0, condition: for all}
- {id: b, type: skipped, version: 2.0.0, condition: for 8, fuel-version: '==8'}
- {id: b, type: skipped, version: 2.0.0, condition: for 10, fuel-version: '==10'}
"""


def package(root: Path, tasks: str) -> Package:
    (root / "metadata.yaml").write_text(HEAD + "releases: [{os: ubuntu, version: mitaka-9.0}]\n")
    (root / "deployment_tasks.yaml").write_text(tasks)
    return load_package(root)


def test_without_a_release_there_is_one_task_of_each_id(tmp_path: Path) -> None:
    tasks = for_any_release(package(tmp_path, TASKS)).graphs["default"].tasks
    assert [(task.id, task.attributes["condition"]) for task in tasks] == [("a", "for all"), ("b", "for 8")]


def test_a_selection_leaves_the_package_as_it_is(tmp_path: Path) -> None:
    loaded = package(tmp_path, TASKS)
    before = [dict(task.attributes) for task in loaded.contents.graphs["default"].tasks]
    chosen = select(loaded, MITAKA).contents.graphs["default"].tasks
    assert [task.attributes["condition"] for task in chosen] == ["for 9"]
    assert [dict(task.attributes) for task in loaded.contents.graphs["default"].tasks] == before


def test_a_chosen_task_keeps_its_place(tmp_path: Path) -> None:
    [task] = select(package(tmp_path, TASKS), MITAKA).contents.graphs["default"].tasks
    assert str(task.source.place("condition")) == f"{tmp_path}/deployment_tasks.yaml:1"


@pytest.mark.parametrize("listed_by", ["node_roles.yaml", "deployment_tasks.yaml"])
def test_group_lists_only_tasks_meant_for_the_release(tmp_path: Path, listed_by: str) -> None:
    """Otherwise each run of that release would miss the task. One of the release, which is only overridden, stays."""
    names, overridden = "tasks: [a, b, hiera, globals]", "- {id: hiera, condition: x, fuel-version: '==8'}\n"
    role = f"db: {{name: Db, description: d, {names if listed_by == 'node_roles.yaml' else ''}}}\n"
    group = f"- {{id: db, type: group, role: [db], {names}}}\n" if listed_by == "deployment_tasks.yaml" else ""
    (tmp_path / "node_roles.yaml").write_text(role)
    loaded = package(tmp_path, group + TASKS + overridden)
    for version, listed in (
        ("mitaka-9.0", ["a", "hiera", "globals"]), ("liberty-8.0", ["a", "b", "hiera", "globals"]),
    ):  # fmt: skip
        tasks = select(loaded, replace(MITAKA, version=version)).contents.graphs["default"].tasks
        assert [list(task.names("tasks")) for task in tasks if task.id == "db"] == [listed]


def test_contents_without_choices_are_the_package_s_own(tmp_path: Path) -> None:
    loaded = package(tmp_path, "- {id: a, type: skipped, version: 2.0.0}\n")
    assert not needs_release(loaded)
    assert select(loaded, MITAKA).contents is loaded.contents


def test_package_with_contents_per_record_needs_the_release(tmp_path: Path) -> None:
    loaded = package(tmp_path, "[]\n")
    [record] = loaded.records
    assert needs_release(replace(loaded, records=(replace(record, contents=loaded.contents),)))


@pytest.mark.corpus
class TestCorpus:
    @pytest.mark.parametrize("shelf", ["plugins", "plugins-branches", "fpb-examples"])
    def test_real_plugins_extend_what_they_name(self, shelf: str) -> None:
        for path in corpus(shelf).glob("*/metadata.yaml"):
            loaded = load_package(path.parent)
            assert not needs_release(loaded)
            assert loaded.records
            for record in loaded.records:
                release = Release(1, "x", f"{record.version}.1", operating_system=record.os.upper())
                assert is_compatible(loaded, release)
                selection = select(loaded, release)
                assert selection.record is not None
                assert selection.record.version == record.version
                assert selection.contents is loaded.contents
                assert not is_compatible(loaded, replace(release, version=f"x{record.version}"))

    def test_extensions_beside_a_definition(self) -> None:
        loaded = load_package(corpus("release-plugins", "fpb_v5_template_rendered@365418-ps34"))
        assert is_compatible(loaded, MITAKA)
        assert not is_compatible(loaded, loaded.releases[0].release)
