"""The files of all directories of scripts, and of nothing else."""

from __future__ import annotations

from pathlib import Path

from unit.plugins.load.loading import Build

from fuelclient.plugins.load import load_package


def test_every_directory_of_scripts_counts_once(build: Build) -> None:
    root = build(
        "deployment_scripts_path: s/\n"
        "releases:\n"
        "- {os: ubuntu, version: mitaka-9.0, deployment_scripts_path: s/}\n"
        "- {os: ubuntu, version: newton-10.0, deployment_scripts_path: t}\n",
        s__deploy="",
        s__a__b="",
        t__c="",
        u__d="",
    )
    assert load_package(root).scripts == ("s/a/b", "s/deploy", "t/c")


def test_no_link_leads_a_script_out_of_the_package(build: Build, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "secret").write_text("")
    root = build("deployment_scripts_path: s\n", s__a="", t__b="")
    (root / "s" / "file").symlink_to(tmp_path / "elsewhere" / "secret")
    (root / "s" / "folder").symlink_to(tmp_path / "elsewhere")
    (root / "s" / "within").symlink_to(root / "t" / "b")
    (root / "s" / "nowhere").symlink_to(root / "t" / "c")
    assert load_package(root).scripts == ("s/a", "s/within")
