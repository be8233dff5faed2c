"""Real packages: installed, enabled and previewed; a release as a plugin is the same as one that was imported."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from corpus import corpus
from refusals import refused

from fuelclient import files
from fuelclient.engine import Engine
from fuelclient.errors import Conflict, InvalidDocument
from fuelclient.model.graph import GraphDocument, Level, OwnerRef
from fuelclient.model.node import Node
from fuelclient.model.release import Release
from fuelclient.plan.preview import PreviewOptions
from fuelclient.plan.study import preview
from fuelclient.serializers.graph import documents_from
from fuelclient.serializers.release import releases_from

pytestmark = pytest.mark.corpus
FIELDS = ("roles", "tags", "volumes", "networks", "network_roles", "attributes", "components")
"""What a release package calls the fields of a fixture that end in `_metadata`."""


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with closing(Engine(str(tmp_path / "engine.db"))) as made:
        yield made


def library(version: str) -> Path:
    return corpus("fuel-library", version, "deployment", "puppet")


def fixture(version: str) -> Release:
    path = corpus("fuel-web", version, "nailgun", "nailgun", "fixtures", "openstack.yaml")
    release = next(one for one in releases_from(files.load(str(path))) if one.operating_system == "Ubuntu")
    return replace(release, id=0)


def graph(version: str) -> GraphDocument:
    found = files.task_files(str(library(version)))
    return documents_from([files.load(path) for path in found], owner_label="release")


def imported(engine: Engine, version: str) -> Release:
    """A release as `release import` and `graph upload --dir` make it."""
    (release,) = engine.releases.create([fixture(version)])
    engine.graphs.upload(OwnerRef(Level.RELEASE, release.id), graph(version))
    return release


def release_package(directory: Path, version: str) -> str:
    """A package that ships a release of the corpus: a file for each field, the library behind a pattern."""
    release = fixture(version)
    shutil.copytree(library(version), directory / "puppet")
    (directory / "metadata").mkdir()
    record: dict[str, Any] = {
        "is_release": True,
        "release_name": release.name,
        "version": release.version,
        "operating_system": release.operating_system,
        "description": release.description,
        "graphs": [{"type": "default", "tasks_path": "puppet/**/tasks.yaml"}],
        "deployment_scripts_path": "puppet/",
        "repository_path": "puppet/",
    }
    for key, value in release.metadata.items():
        name = key.removesuffix("_metadata")
        if name in FIELDS and key != name:
            (directory / "metadata" / f"{name}.yaml").write_text(yaml.safe_dump(value, sort_keys=False))
            record[f"{name}_path"] = f"metadata/{name}.yaml"
        else:
            record[key] = value
    metadata = {
        "name": "newton-release", "title": "N", "version": "10.0.0", "package_version": "5.0.0", "description": "d",
        "fuel_version": ["10.0"], "licenses": ["Apache-2.0"], "authors": ["a"], "homepage": "h", "groups": [],
        "is_hotpluggable": False, "releases": [record],
    }  # fmt: skip
    (directory / "metadata.yaml").write_text(yaml.safe_dump(metadata, sort_keys=False))
    return str(directory)


def previewed(engine: Engine, release: Release) -> tuple[Any, ...]:
    """All that can be seen of an environment of `release` with nodes, but for names of files."""
    env = engine.clusters.create("prod", release.id).id
    wanted = {"controller": 3, "compute": 5, "cinder": 2}
    nodes = [
        Node(0, f"{role}-{number}", env, pending_roles=(role,)) for role in wanted for number in range(wanted[role])
    ]
    engine.nodes.create(nodes)
    snapshot = engine.graphs.snapshot(env)
    seen = preview(snapshot, PreviewOptions())
    roles = {name: (role.tags, role.metadata, role.volumes) for name, role in snapshot.roles.items()}
    tasks = [(task.id, dict(task.attributes)) for layer in snapshot.layers for task in layer.tasks]
    rows = [replace(row, findings=()) for row in seen.rows]
    findings = [(finding.code, finding.severity, finding.message, finding.task) for finding in seen.findings]
    default = (release.metadata.get("attributes_metadata") or {}).get("editable") or {}
    settings = ungenerated(engine.clusters.settings(env), default)
    return rows, findings, roles, snapshot.primary_tags, tasks, settings


def ungenerated(settings: Mapping[str, Any], default: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with the word of the generator where a value was made, which no other environment has."""
    found = dict(settings)
    for name, below in default.items():
        if isinstance(below, Mapping) and name in settings:
            if "generator" in below:
                assert not isinstance(settings[name], Mapping), name
                found[name] = below["generator"]
            elif isinstance(settings[name], Mapping):
                found[name] = ungenerated(settings[name], below)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("version", ["newton", "9.0"])
def test_release_as_plugin_previews_like_the_imported_one(tmp_path: Path, version: str) -> None:
    seen = []
    for name in ("imported", "plugin"):
        with closing(Engine(str(tmp_path / name / "engine.db"))) as engine:
            if name == "imported":
                release = imported(engine, version)
            else:
                (release,) = engine.plugins.install(release_package(tmp_path / "package", version)).releases
            seen.append(previewed(engine, release))
    for ours, theirs in zip(*seen, strict=True):
        assert ours == theirs
    assert len(seen[0][0]) > 150


def test_a_real_release_turns_ceph_on_by_its_settings(engine: Engine) -> None:
    env = engine.clusters.create("prod", imported(engine, "newton").id).id
    engine.nodes.create([Node(1, "a"), Node(2, "b")])
    with pytest.raises(Conflict, match="Ceph should be enabled in the environment settings"):
        engine.clusters.add_nodes(env, [1], ["ceph-osd"])
    engine.clusters.set_settings(env, {"storage": {"volumes_ceph": {"value": True}, "volumes_lvm": {"value": False}}})
    engine.clusters.add_nodes(env, [1], ["ceph-osd"])
    with pytest.raises(Conflict, match="Ceph RBD cannot be used with Cinder"):
        engine.clusters.add_nodes(env, [2], ["cinder"])
    with refused(Conflict, "role 'controller'", "role 'compute'"):
        engine.clusters.add_nodes(env, [2], ["controller", "compute"])
    (volume, *_) = engine.roles.of_cluster(env)["ceph-osd"].volumes
    assert (volume["id"], volume["allocate_size"], volume["type"]) == ("os", "min", "vg")


def packages(*kinds: str) -> list[Path]:
    return sorted(path.parent for kind in kinds for path in corpus(kind).glob("*/metadata.yaml"))


@pytest.mark.slow
def test_every_real_package_is_installed_and_synchronised(engine: Engine) -> None:
    directories = packages("plugins", "plugins-branches", "fpb-examples")
    installed = [engine.plugins.install(str(directory)).plugin for directory in directories]
    assert len(installed) > 20
    assert [plugin.id for plugin in engine.plugins.list()] != []
    done = engine.plugins.sync()
    assert (done.created, done.updated, done.removed, done.findings) == ((), (), (), ())
    again = engine.plugins.sync([plugin.id for plugin in installed])
    assert len(again.updated) == len({plugin.id for plugin in installed})
    assert not [finding for finding in again.findings if finding.is_error]


@pytest.mark.slow
def test_real_plugins_are_enabled_or_refused_with_a_reason(engine: Engine) -> None:
    env = engine.clusters.create("prod", imported(engine, "9.0").id).id
    refused: dict[str, list[str]] = {}
    for directory in packages("plugins"):
        plugin = engine.plugins.install(str(directory)).plugin
        try:
            engine.plugins.enable(plugin.id, env)
        except Conflict as error:
            refused[plugin.name] = [getattr(finding, "code", "") for finding in error.findings]
    enabled = engine.graphs.snapshot(env).layers
    assert len(enabled) - 2 + len(refused) == len(packages("plugins"))
    assert len(enabled) > 8
    assert set().union(*refused.values()) <= {"P071", "P074", "P075", "P076", "P077"}
    seen = preview(engine.graphs.snapshot(env), PreviewOptions(assume="controller=3,compute=2"))
    assert len(seen.rows) > 200


@pytest.mark.parametrize("name", ["fuel_plugin_example_v5_release@365418-ps5", "fpb_v5_template_rendered@365418-ps34"])
def test_upstream_release_packages_are_installed_and_previewed(engine: Engine, tmp_path: Path, name: str) -> None:
    """The template both defines and extends releases, which the specification forbids: installed without the latter."""
    package = tmp_path / "package"
    shutil.copytree(corpus("release-plugins", name), package)
    stated = yaml.safe_load((package / "metadata.yaml").read_text(encoding="utf-8"))
    defined = [record for record in stated["releases"] if record.get("is_release")]
    if len(defined) < len(stated["releases"]):
        with refused(InvalidDocument, codes=["P033"]):
            engine.plugins.install(str(package))
        (package / "metadata.yaml").write_text(yaml.safe_dump({**stated, "releases": defined}), encoding="utf-8")
    done = engine.plugins.install(str(package))
    assert done.releases
    for release in done.releases:
        env = engine.clusters.create(f"env-{release.id}", release.id).id
        for kind in {summary.type for summary in engine.graphs.list(env)}:
            preview(engine.graphs.snapshot(env, kind), PreviewOptions())
    with refused(Conflict, f"environment {env}"):
        engine.plugins.remove(done.plugin.id)
