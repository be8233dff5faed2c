"""The parts of a release that are read: what is malformed is told at its line, or left out of what was stored."""

from __future__ import annotations

import pytest
from corpus import corpus

from fuelclient import files
from fuelclient.errors import InvalidDocument
from fuelclient.files.yaml_text import parse
from fuelclient.serializers.release import releases_from
from fuelclient.serializers.release_metadata import well_formed

HEAD = "name: a\nversion: b\n"


@pytest.mark.parametrize(
    ("part", "line", "message"),
    [
        ("tags_metadata: {a: 1}", 3, "tags_metadata.a must be a mapping, not the number 1"),
        ("tags_metadata:\n  a: {}\n  b: [c]", 5, "tags_metadata.b must be a mapping, not a list"),
        ("tags_metadata: 1", 3, "tags_metadata must be a mapping, not the number 1"),
        ("roles_metadata:\n  c: [d]", 4, "roles_metadata.c must be a mapping, not a list"),
        ("roles_metadata:\n  c:\n    tags: [[d]]", 5, "roles_metadata.c.tags[0] must be a name, not a list"),
        ("roles_metadata:\n  c:\n    conflicts: [[d]]", 5, "roles_metadata.c.conflicts must be a name or a list"),
        ("roles_metadata:\n  c:\n    conflicts: {d: e}", 5, "roles_metadata.c.conflicts must be a name or a list"),
        ("roles_metadata:\n  c:\n    restrictions: d", 5, "roles_metadata.c.restrictions must be a list"),
        ("roles_metadata:\n  c:\n    limits: 3", 5, "roles_metadata.c.limits must be a mapping"),
        ("roles_metadata:\n  c:\n    limits: {overrides: 3}", 5, "roles_metadata.c.limits.overrides must be a list"),
        ("volumes_metadata: [a]", 3, "volumes_metadata must be a mapping, not a list"),
        ("volumes_metadata:\n  volumes_roles_mapping: 5", 4, "volumes_roles_mapping must be a mapping"),
        ("volumes_metadata:\n  volumes_roles_mapping:\n    a: 5", 5, "volumes_roles_mapping.a must be a list"),
        ("volumes_metadata:\n  volumes_roles_mapping:\n    a: [os]", 5, "volumes_roles_mapping.a[0] must be a mapping"),
        ("volumes_metadata:\n  volumes: {os: {}}", 4, "volumes_metadata.volumes must be a list, not a mapping"),
        ("volumes_metadata:\n  volumes:\n  - {id: [a]}", 5, "volumes_metadata.volumes[0].id must be a name"),
        ("networks_metadata: 3", 3, "networks_metadata must be a mapping, not the number 3"),
        ("network_roles_metadata: {a: b}", 3, "network_roles_metadata must be a list, not a mapping"),
        ("network_roles_metadata: [a]", 3, "network_roles_metadata[0] must be a mapping, not the string 'a'"),
        ("components_metadata: [{name: [a]}]", 3, "components_metadata[0].name must be a name, not a list"),
        ("attributes_metadata: []", 3, "attributes_metadata must be a mapping, not a list"),
        ("attributes_metadata: {editable: 7}", 3, "attributes_metadata.editable must be a mapping"),
        ("attributes_metadata:\n  editable:\n    a: 7", 5, "attributes_metadata.editable.a must be a mapping"),
    ],
)
def test_a_malformed_part_is_one_error_at_its_line(part: str, line: int, message: str) -> None:
    with pytest.raises(InvalidDocument) as raised:
        releases_from(parse(f"{HEAD}{part}\n", "r.yaml"))
    [finding] = raised.value.findings
    assert str(finding).startswith(f"r.yaml:{line}: error: ")
    assert message in str(finding)
    assert "[G006]" in str(finding)


def test_all_that_is_malformed_is_told_at_once() -> None:
    text = f"{HEAD}tags_metadata: {{a: 1, b: 2}}\nvolumes_metadata: {{volumes_roles_mapping: {{a: 5}}, volumes: 1}}\n"
    with pytest.raises(InvalidDocument) as raised:
        releases_from(parse(text, "r.yaml"))
    assert len(raised.value.findings) == 4


def test_null_and_unread_keys_may_be_anything() -> None:
    nothing = "roles_metadata: {a: null, b: {tags: null, limits: null}}\ntags_metadata: {a: null}\nvolumes_metadata:\n"
    [release] = releases_from(parse(f"{HEAD}{nothing}bond_metadata: [1]\nmodes: 7\n", "r.yaml"))
    assert release.metadata["modes"] == 7
    assert well_formed(release.metadata) == release.metadata


@pytest.mark.corpus
@pytest.mark.parametrize("version", ["9.0", "newton"])
def test_what_fuel_wrote_is_sound(version: str) -> None:
    path = corpus("fuel-web", version, "nailgun", "nailgun", "fixtures", "openstack.yaml")
    for release in releases_from(files.load(path)):
        assert well_formed(release.metadata) == release.metadata
