"""Release fixtures with their inheritance, single releases, and what is wrong with both."""

from __future__ import annotations

import pytest
from corpus import corpus
from refusals import refused

from fuelclient import files
from fuelclient.errors import InvalidDocument
from fuelclient.files.yaml_text import parse
from fuelclient.model.document import Document
from fuelclient.model.release import Release, primary_tags_in, roles_in
from fuelclient.serializers.release import release_to, releases_from

FIXTURE = """\
- &base
  model: nailgun.release
  fields:
    state: available
    roles_metadata:
      controller: {name: Controller, limits: {min: 1, max: 3}, tags: [controller]}
      compute: {name: Compute}
- &middle
  model: nailgun.release
  extend: *base
  fields:
    description: middle
    roles_metadata:
      controller: {limits: {min: 2}, tags: [other]}
- pk: 4
  extend: *middle
  fields:
    name: Newton
    version: newton-10.0
    operating_system: Ubuntu
    modes: [ha]
- pk: 1
  model: nailgun.plugin
  fields: {name: x}
"""


def read(text: str) -> list[Release]:
    return releases_from(parse(text, "r.yaml"))


def test_fixture_inherits_through_bases_and_merges_deep() -> None:
    [release] = read(FIXTURE)
    assert (release.id, release.name, release.version) == (4, "Newton", "newton-10.0")
    assert (release.operating_system, release.state, release.description) == ("Ubuntu", "available", "middle")
    assert list(release.metadata) == ["roles_metadata", "modes"]
    roles = release.metadata["roles_metadata"]
    assert roles["controller"] == {"name": "Controller", "limits": {"min": 2, "max": 3}, "tags": ["other"]}
    assert list(roles) == ["controller", "compute"]


@pytest.mark.parametrize("shape", ["{%s}", "[{%s}]"])
def test_fields_alone_are_a_release_and_both_spellings_count(shape: str) -> None:
    [release] = read(shape % "id: 3, release_name: a, version: b, os: c, x_metadata: {z: 1, y: 2}")
    assert release == Release(3, "a", "b", "c", metadata={"x_metadata": {"z": 1, "y": 2}})


def test_what_is_written_is_read_back() -> None:
    for release in (*read(FIXTURE), Release(0, "n", "v")):
        assert releases_from(Document(release_to(release), "")) == [release]
        assert list(releases_from(Document(release_to(release), ""))[0].metadata) == list(release.metadata)


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("- pk: 1\n  fields: {version: x}", "G002", 1),
        ("- pk: 1\n  fields:\n    name: ''\n    version: x", "G002", 1),
        ("name: a", "G002", 1),
        ("name: a\nversion: 9.0", "G006", 2),
        ("name: a\nversion: b\nid: x", "G006", 1),
        ("name: a\nversion: b\nroles_metadata: [c]", "G006", 3),
        ("name: a\nversion: b\nroles_metadata:\n  c: d", "G006", 4),
        ("name: a\nversion: b\nroles_metadata:\n  c:\n    tags: d", "G006", 5),
        ("name: a\nversion: b\nos: c\noperating_system: d", "G007", 4),
        ("- pk: 1\n  fields: [a]", "G006", 2),
        ("- pk: 1\n  extend: base\n  fields: {name: a, version: b}", "G006", 2),
        ("- {name: a, version: b, id: 1}\n- {name: c, version: d, id: 1}", "G006", 2),
        ("- {name: a, version: b}\n- c", "G006", 2),
        ("hello", "G006", 1),
        ("", "G006", 0),
        ("- model: nailgun.release\n  fields: {name: a, version: b}", "G006", 0),
        ("- {id: a, type: shell, version: 2.0.0}\n- {id: b, type: shell}", "G006", 1),
        ("tasks:\n- {id: a, type: shell}", "G006", 1),
    ],
)
def test_what_is_wrong_is_one_error_at_its_line(text: str, code: str, line: int) -> None:
    with pytest.raises(InvalidDocument) as raised:
        read(text)
    [finding] = raised.value.findings
    assert str(finding).startswith(f"r.yaml:{line}: error: " if line else "r.yaml: error: ")
    assert f"[{code}]" in str(finding)
    assert raised.value.message.startswith("r.yaml:")
    assert raised.value.hint


def test_all_that_is_wrong_is_counted() -> None:
    with refused(InvalidDocument, "r.yaml:1", "name", "1 more", codes=["G002", "G002"]):
        read("- pk: 1\n  fields: {}")


@pytest.mark.corpus
@pytest.mark.parametrize("version", ["9.0", "newton"])
def test_the_fixtures_of_fuel(version: str) -> None:
    document = files.load(corpus("fuel-web", version, "nailgun", "nailgun", "fixtures", "openstack.yaml"))
    releases = releases_from(document)
    assert [release.id for release in releases] == [1, 2, 3]
    assert [release.operating_system for release in releases] == ["CentOS", "Ubuntu", "Ubuntu"]
    for release in releases:
        assert {"controller", "compute", "cinder"} <= set(roles_in(release.metadata))
        assert "controller" in primary_tags_in(release.metadata)
        assert release.metadata["networks_metadata"]
