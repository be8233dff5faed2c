"""Clashes between plugins and releases. The messages are those of Nailgun."""

from __future__ import annotations

from typing import Any

import pytest

from fuelclient.environment.clashes import Contributor, clashes, differences
from fuelclient.model.finding import Severity
from fuelclient.model.plugin import Plugin
from fuelclient.model.release import Release

METADATA = {
    "roles_metadata": {"role_a": {}},
    "volumes_metadata": {"volumes": [{"id": "os"}]},
    "components_metadata": [{"name": "network:core"}],
    "network_roles_metadata": [{"id": "mgmt", "properties": {"subnet": True}}],
}
RELEASE = Contributor(
    Release(1, "Mitaka", "mitaka-9.0", metadata=METADATA), {"default": ["a", "b", "c"], "custom": ["d"]}
)


def plugin(
    number: int = 2, name: str = "two", tasks: dict[str, list[str]] | None = None, **metadata: Any
) -> Contributor:
    own = {f"{key}_metadata": value for key, value in metadata.items()}
    return Contributor(Plugin(number, name, "1.0.0", metadata=own), tasks or {})


def volumes(*names: str) -> dict[str, Any]:
    return {"volumes": [{"id": name} for name in names]}


def texts(one: Contributor, *others: Contributor) -> list[str]:
    return [finding.message for finding in clashes(one, RELEASE, others)]


def test_plugins_that_have_nothing_in_common_do_not_clash() -> None:
    one = plugin(roles={"x": {}}, volumes=volumes("x"), components=[{"name": "x:x"}], tasks={"default": ["x"]})
    other = plugin(3, "o", roles={"y": {}}, volumes=volumes("y"), components=[{"name": "y:y"}], tasks={"custom": ["x"]})
    assert clashes(one, RELEASE, [other]) == ()


def test_roles_are_told_together_and_sorted() -> None:
    one, other = plugin(roles={"role_x": {}, "role_a": {}, "new": {}}), plugin(1, "one", roles={"role_x": {}})
    (finding,) = clashes(one, RELEASE, [other])
    assert finding.message == "Plugin (ID=2) is unable to register the following node roles: role_a, role_x"
    assert "role role_a is the release's; role role_x is plugin one-1.0.0's" in finding.hint
    assert finding.is_error


def test_volumes() -> None:
    one, other = plugin(volumes=volumes("os", "data")), plugin(1, "one", volumes=volumes("data"))
    assert texts(one, other) == [
        'Plugin two-1.0.0 is overlapping with release by introducing the same volume with id "os"',
        'Plugin two-1.0.0 is overlapping with plugin one-1.0.0 by introducing the same volume with id "data"',
    ]


def test_components() -> None:
    one = plugin(components=[{"name": "network:core"}, {"name": "storage:x"}])
    other = plugin(1, "one", components=[{"name": "storage:x"}])
    assert texts(one, other) == [
        'Plugin two is overlapping with release by introducing the same component with name "network:core"',
        'Plugin two is overlapping with one by introducing the same component with name "storage:x"',
    ]


def test_tasks_of_two_plugins_are_a_warning_for_each_type() -> None:
    one, other = (
        plugin(tasks={"default": ["x", "y"], "z": ["x"]}),
        plugin(1, "one", tasks={"default": ["y"], "z": ["x"]}),
    )
    found = clashes(one, RELEASE, [other])
    assert [(finding.severity, finding.task) for finding in found] == [(Severity.WARNING, "y"), (Severity.WARNING, "x")]
    assert found[0].message == (
        "Plugin two-1.0.0 is overlapping with plugin one-1.0.0 by introducing the same deployment task with id y"
    )


def test_overrides_of_the_release_are_information() -> None:
    found = clashes(plugin(tasks={"default": ["new", "c", "a"], "custom": ["d"]}), RELEASE, [])
    assert {finding.severity for finding in found} == {Severity.INFO}
    assert [finding.message for finding in found] == [
        "plugin two-1.0.0 overrides 1 task of the release in the custom graph: d",
        "plugin two-1.0.0 overrides 2 tasks of the release in the default graph: c, a",
    ]


def test_network_roles_name_all_who_disagree() -> None:
    one = plugin(network_roles=[{"id": "mgmt", "properties": {"subnet": False}}, {"id": "new", "properties": {}}])
    other = plugin(1, "one", network_roles=[{"id": "mgmt", "properties": {"subnet": True}}])
    (finding,) = clashes(one, RELEASE, [other])
    assert finding.message == "Cannot override existing network roles: 'mgmt' in plugins: 'two, one'"
    assert "the release: Cannot apply patch for attribute subnet: conflict" in finding.hint
    assert "plugin one-1.0.0: Cannot apply patch for attribute subnet: conflict" in finding.hint


VIP = {"name": "test", "namespace": "haproxy"}
CONFLICT = "Cannot apply patch for attribute subnet: conflict"


@pytest.mark.parametrize(
    ("target", "patch", "expected"),
    [
        ({"subnet": True}, {"subnet": True}, []),
        ({"subnet": True}, {"subnet": False}, [CONFLICT]),
        ({"subnet": 0.1}, {"subnet": 1}, [CONFLICT]),
        ({"subnet": True}, {"subnet": 1}, [CONFLICT]),
        ({"subnet": True}, {"gateway": False}, []),
        ({"vip": [VIP]}, {"vip": [{"name": "other"}]}, []),
        ({"vip": [VIP]}, {"vip": []}, []),
        ({"vip": [VIP]}, {"vip": [dict(VIP)]}, []),
        (
            {"vip": [VIP]},
            {"vip": [{"name": "test", "namespace": "vrouter"}]},
            ["Cannot apply patch for attribute vip: VIP 'test' conflicts with existing one"],
        ),
    ],
)
def test_network_roles_merge_unless_they_differ(
    target: dict[str, Any], patch: dict[str, Any], expected: list[str]
) -> None:
    assert list(differences({"properties": target}, {"properties": patch})) == expected


@pytest.mark.parametrize("odd", [None, [], {}, "x", [None], [{"no": "id"}], {"volumes": 3}])
def test_odd_contents_clash_with_nothing(odd: Any) -> None:
    one = plugin(roles=odd, volumes=odd, components=odd, network_roles=odd)
    assert clashes(one, RELEASE, [plugin(1, "one", volumes=odd, components=odd, network_roles=odd)]) == ()
