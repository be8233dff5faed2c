"""What every backend does when roles are assigned to nodes, and with the settings that decide about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from package_trees import role, write_package
from refusals import missing, refused

from fuelclient.backends.base import Backend
from fuelclient.errors import Conflict, InvalidDocument
from fuelclient.model.finding import Finding
from fuelclient.model.node import Node
from fuelclient.model.release import Release

CEPH_OFF = {"condition": "settings:storage.ceph.value == false", "message": "Ceph should be enabled."}
ROLES: dict[str, Any] = {
    "controller": {"conflicts": ["compute"], "limits": {"min": 3, "recommended": 5}},
    "compute": {},
    "cinder": {},
    "alone": {"conflicts": "*"},
    "osd": {"restrictions": [CEPH_OFF, "cluster:net_provider == 'neutron' and settings:storage.ceph.value == false"]},
    "vlan": {"restrictions": [{"networking_parameters:segmentation_type != 'vlan'": "VLANs are needed."}]},
    "hidden": {"restrictions": [{"condition": "not ('advanced' in version:feature_groups)", "action": "hide"}]},
    "odd": {
        "restrictions": [
            "settings:no.such.thing.value == true",
            {"condition": "settings:a < 3"},
            "nobody:knows == 1",
            {"one": 1, "two": 2},
        ],
        "limits": {"max": "settings:no.such", "overrides": [{"condition": "settings:no.such == 1", "max": 1}]},
    },
    "two": {
        "limits": {
            "max": 2,
            "overrides": [{"condition": "settings:storage.ceph.value == true", "max": 1, "message": "One with Ceph."}],
        }
    },
}
SETTINGS = {
    "storage": {"metadata": {"label": "Storage"}, "ceph": {"value": False, "type": "checkbox"}},
    "common": {"debug": {"value": False}},
}
RELEASE = Release(
    0,
    "Mitaka",
    "mitaka-9.0",
    "Ubuntu",
    metadata={"roles_metadata": ROLES, "attributes_metadata": {"editable": SETTINGS, "generated": {"x": 1}}},
)
CEPH_ON = {"storage": {"ceph": {"value": True}}}


class TestAssignment:
    """The rules of assignment, and the settings, that front ends rely on."""

    @pytest.fixture
    def env(self, backend: Backend, env: int) -> int:
        """The environment, beside which three nodes are free."""
        backend.nodes.create([Node(number, f"n{number}") for number in (1, 2, 3)])
        return env

    def refused(self, backend: Backend, env: int, nodes: list[int], *roles: str) -> str:
        """Why the roles cannot be assigned; they are not."""
        before = backend.nodes.list()
        with pytest.raises(Conflict) as caught:
            backend.clusters.add_nodes(env, nodes, roles)
        assert backend.nodes.list() == before
        return caught.value.message

    # Conflicts

    def test_conflicts_are_followed_from_the_role_that_states_them(self, backend: Backend, env: int) -> None:
        text = "Role 'controller' in conflict with role 'compute'."
        assert self.refused(backend, env, [1, 2], "controller", "compute") == text
        assert self.refused(backend, env, [1], "compute", "controller") == text
        backend.clusters.add_nodes(env, [2], ["controller", "cinder"])

    def test_pending_role_gives_way_and_deployed_role_stays(self, backend: Backend, env: int) -> None:
        backend.clusters.add_nodes(env, [1], ["compute"])
        backend.clusters.add_nodes(env, [1], ["controller"])
        assert backend.nodes.get(1).pending_roles == ("controller",)
        [deployed] = backend.nodes.create([Node(0, "old", env, "ready", roles=("compute",))])
        text = "Role 'controller' in conflict with role 'compute'."
        assert self.refused(backend, env, [deployed.id], "controller") == text

    def test_a_star_is_every_other_role(self, backend: Backend, env: int) -> None:
        text = "Role 'alone' in conflict with role 'cinder, compute'."
        assert self.refused(backend, env, [1], "compute", "alone", "cinder") == text
        backend.clusters.add_nodes(env, [1], ["alone"])

    # Restrictions

    def test_restrictions_read_the_settings(self, backend: Backend, env: int) -> None:
        text = self.refused(backend, env, [1], "osd")
        assert text.startswith("Role 'osd' restrictions mismatch: Ceph should be enabled. not available while cluster:")
        backend.clusters.set_settings(env, CEPH_ON)
        backend.clusters.add_nodes(env, [1], ["osd"])

    def test_restrictions_read_the_cluster_and_its_network(self, backend: Backend, env: int) -> None:
        backend.clusters.add_nodes(env, [1], ["vlan"])
        tunnels = backend.clusters.create("tun", backend.clusters.get(env).release_id, net_segment_type="tun")
        assert self.refused(backend, tunnels.id, [2], "vlan") == "Role 'vlan' restrictions mismatch: VLANs are needed."

    def test_every_action_blocks(self, backend: Backend, env: int) -> None:
        assert "not available while not ('advanced' in version:feature_groups)" in self.refused(
            backend, env, [1], "hidden"
        )

    def test_feature_group_of_settings_allows_what_needs_it(
        self, backend: Backend, env: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("FUEL_FEATURE_GROUPS", "experimental, advanced")
        backend.clusters.add_nodes(env, [1], ["hidden"])
        assert backend.nodes.get(1).pending_roles == ("hidden",)
        assert backend.clusters.environment(env).feature_groups == ("experimental", "advanced")

    def test_what_cannot_be_evaluated_forbids_nothing(self, backend: Backend, env: int) -> None:
        backend.clusters.add_nodes(env, [1, 2, 3], ["odd"])
        assert [backend.nodes.get(number).pending_roles for number in (1, 2, 3)] == [("odd",)] * 3

    # Limits

    def test_the_upper_limit_counts_all_nodes_of_the_environment(self, backend: Backend, env: int) -> None:
        backend.clusters.add_nodes(env, [1], ["two"])
        backend.clusters.add_nodes(env, [2], ["two"])
        text = "Role 'two' limits mismatch: at most 2 nodes are allowed, there are 3."
        assert self.refused(backend, env, [3], "two") == text
        backend.clusters.add_nodes(env, [1, 2], ["two", "cinder"])

    def test_overrides_of_limits_have_their_message(self, backend: Backend, env: int) -> None:
        backend.clusters.set_settings(env, CEPH_ON)
        assert self.refused(backend, env, [1, 2], "two") == "Role 'two' limits mismatch: One with Ceph."
        backend.clusters.add_nodes(env, [1], ["two"])

    def test_lower_limits_and_recommendations_are_not_enforced(self, backend: Backend, env: int) -> None:
        backend.clusters.add_nodes(env, [1], ["controller"])
        assert backend.nodes.get(1).pending_roles == ("controller",)

    # Nodes that are created

    def test_created_nodes_follow_the_same_rules(self, backend: Backend, env: int) -> None:
        wanted = [Node(0, f"x{number}", env, pending_roles=("two",)) for number in range(3)]
        with refused(Conflict, "role 'two' limits mismatch", 2, 3):
            backend.nodes.create(wanted)
        with refused(Conflict, "role 'osd' restrictions mismatch"):
            backend.nodes.create([Node(0, "x", env, pending_roles=("osd",))])
        with refused(Conflict, "role 'controller' in conflict with role 'compute'"):
            backend.nodes.create([Node(0, "x", env, "ready", roles=("compute",), pending_roles=("controller",))])
        assert len(backend.nodes.list()) == 3
        backend.nodes.create(wanted[:2])
        with refused(Conflict, "role 'two' limits mismatch", 3):
            backend.nodes.create(wanted[2:])

    def test_every_reason_is_told_once_and_for_whom(self, backend: Backend, env: int) -> None:
        with pytest.raises(Conflict) as caught:
            backend.clusters.add_nodes(env, [3, 1], ["controller", "compute", "osd"])
        assert caught.value.message.count("in conflict with") == 1
        assert caught.value.message.count("restrictions mismatch") == 1
        assert "about nodes 1, 3" in caught.value.hint

    # Roles of plugins

    def test_the_rules_of_a_role_of_a_plugin(self, backend: Backend, env: int, tmp_path: Path) -> None:
        files = {
            "node_roles.yaml": {
                "watcher": role(
                    conflicts=["compute"],
                    restrictions=[{"condition": "settings:monitor.on.value == false", "message": "Off."}],
                    limits={"max": 1},
                )
            },
            "volumes.yaml": {
                "volumes_roles_mapping": {"watcher": [{"id": "data", "allocate_size": "all"}]},
                "volumes": [{"id": "data", "type": "vg", "label": "Data", "volumes": []}],
            },
            "environment_config.yaml": {
                "attributes": {"on": {"type": "checkbox", "label": "On", "weight": 1, "value": False}}
            },
        }
        path = write_package(tmp_path / "monitor", files=files)
        backend.plugins.enable(backend.plugins.install(path).plugin.id, env)
        assert self.refused(backend, env, [1], "watcher") == "Role 'watcher' restrictions mismatch: Off."
        backend.clusters.set_settings(env, {"monitor": {"on": {"value": True}}})
        assert "in conflict" in self.refused(backend, env, [1], "watcher", "compute")
        assert "limits mismatch" in self.refused(backend, env, [1, 2], "watcher")
        backend.clusters.add_nodes(env, [1], ["watcher"])
        (volume,) = backend.roles.of_cluster(env)["watcher"].volumes
        assert volume == {"id": "data", "allocate_size": "all", "type": "vg", "label": "Data", "volumes": []}

    # Settings

    def test_settings_are_the_defaults_of_the_release(self, backend: Backend, env: int) -> None:
        assert backend.clusters.settings(env) == SETTINGS
        with missing("environment", 42):
            backend.clusters.settings(42)

    def test_settings_are_kept_over_the_defaults(self, backend: Backend, env: int) -> None:
        mine = {**CEPH_ON, "mine": {"deep": {"list": [1, None]}}}
        effective = backend.clusters.set_settings(env, mine)
        assert effective == backend.clusters.settings(env)
        assert effective["storage"]["ceph"] == {"value": True, "type": "checkbox"}
        assert effective["mine"] == {"deep": {"list": [1, None]}}
        assert effective["common"] == SETTINGS["common"]
        assert backend.clusters.set_settings(env, {}) == SETTINGS

    def test_what_was_downloaded_can_be_uploaded(self, backend: Backend, env: int) -> None:
        backend.clusters.set_settings(env, CEPH_ON)
        downloaded = backend.clusters.settings(env)
        assert backend.clusters.set_settings(env, downloaded) == downloaded
        assert backend.clusters.set_settings(env, {"editable": downloaded}) == downloaded

    @pytest.mark.parametrize(
        ("bad", "named"),
        [
            ({"storage": True}, "section storage"),
            ({"storage": ["x"]}, "section storage"),
            ({"editable": 5}, "settings"),
        ],
    )
    def test_a_section_that_is_no_mapping_is_refused(
        self, backend: Backend, env: int, bad: dict[str, Any], named: str
    ) -> None:
        backend.clusters.set_settings(env, CEPH_ON)
        before = backend.clusters.settings(env)
        with refused(InvalidDocument, named, "mapping"):
            backend.clusters.set_settings(env, bad)
        assert backend.clusters.settings(env) == before

    def test_a_value_that_does_not_fit_its_setting_is_refused(self, backend: Backend, env: int) -> None:
        with pytest.raises(InvalidDocument) as caught:
            backend.clusters.set_settings(env, {"storage": {"ceph": {"value": "on"}}, "common": CEPH_ON})
        [finding] = caught.value.findings
        assert isinstance(finding, Finding)
        assert (finding.code, finding.place.path) == ("N003", ("editable", "storage", "ceph", "value"))
        assert backend.clusters.settings(env) == SETTINGS

    def test_settings_of_plugins_come_and_go_with_them(self, backend: Backend, env: int, tmp_path: Path) -> None:
        config = {
            "attributes": {
                "metadata": {"label": "Mine", "weight": 3},
                "on": {"type": "checkbox", "label": "On", "weight": 1, "value": False},
            }
        }
        path = write_package(tmp_path / "monitor", files={"environment_config.yaml": config})
        plugin = backend.plugins.install(path).plugin
        backend.plugins.enable(plugin.id, env)
        section = backend.clusters.settings(env)["monitor"]
        assert section["on"]["value"] is False
        assert section["metadata"]["enabled"] is True
        assert section["metadata"]["plugin_id"] == plugin.id
        downloaded = {**backend.clusters.settings(env)}
        downloaded["monitor"] = {**section, "on": {**section["on"], "value": True}}
        assert backend.clusters.set_settings(env, downloaded)["monitor"]["on"]["value"] is True
        backend.plugins.disable(plugin.id, env)
        assert not backend.clusters.settings(env).get("monitor", {}).get("metadata", {}).get("enabled", False)
        backend.plugins.enable(plugin.id, env)
        assert backend.clusters.settings(env)["monitor"]["on"]["value"] is True
