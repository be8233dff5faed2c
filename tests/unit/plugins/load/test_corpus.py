"""Real packages are loaded whole, without complaint, and fast."""

from __future__ import annotations

import pytest
from corpus import corpus

from fuelclient.plugins.load import load_package, read_package

pytestmark = pytest.mark.corpus

SHELVES = ["plugins", "plugins-branches", "fpb-examples", "release-plugins"]


def test_a_release_of_the_specification_s_example() -> None:
    package = load_package(corpus("release-plugins", "fuel_plugin_example_v5_release@365418-ps5"))
    [packaged] = package.releases
    assert (packaged.release.name, packaged.release.version) == ("ExampleRelease", "1.0.0")
    assert set(packaged.graphs) >= {"default", "deployment", "provisioning", "deletion", "network_verification"}
    assert packaged.release.metadata["roles_metadata"]
    assert packaged.release.description == "Example Release Description"  # not that of its base
    assert "modes_metadata" in packaged.release.metadata  # which only its base has


def test_a_release_beside_extensions() -> None:
    package = load_package(corpus("release-plugins", "fpb_v5_template_rendered@365418-ps34"))
    [packaged] = package.releases
    assert [task.id for task in packaged.graphs["provisioning"].tasks] == ["provision"]
    assert [record.version for record in package.records] == ["mitaka-9.0", "newton-10.0"]
    assert set(package.metadata) >= {"node_attributes_metadata", "nic_attributes_metadata"}


@pytest.mark.parametrize("shelf", SHELVES)
def test_every_package_is_loaded(shelf: str) -> None:
    directories = sorted(path.parent for path in corpus(shelf).glob("*/metadata.yaml"))
    loaded = [load_package(directory) for directory in directories]
    assert len(loaded) == len(directories) > 0
    assert all(package.contents.graphs["default"].tasks or package.releases for package in loaded)
    assert all(package.scripts for package in loaded)


@pytest.mark.parametrize("shelf", SHELVES)
def test_nothing_worse_than_a_repeated_key_is_found(shelf: str) -> None:
    packages = [read_package(path.parent) for path in corpus(shelf).glob("*/metadata.yaml")]
    assert {finding.code for package in packages for finding in package.files.findings} <= {"G008"}


def test_real_roles_volumes_and_components() -> None:
    contents = load_package(corpus("plugins", "fuel-plugin-elasticsearch-kibana")).contents
    assert contents.tags == {"elasticsearch_kibana": {"has_primary": True}}
    assert list(contents.volumes["volumes_roles_mapping"]) == ["elasticsearch_kibana"]
    assert contents.volumes["volumes"][0]["volumes"][0]["mount"] == "/opt/es-data"
    assert [role["id"] for role in contents.network_roles] == ["elasticsearch", "kibana"]
    bound = load_package(corpus("plugins", "fuel-plugin-nsxv")).contents.components[0]["bind"]
    assert bound == [["cluster:net_segment_type", "tun"]]  # a YAML !!pairs, which JSON has to hold
