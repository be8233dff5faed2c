"""The rules that an environment keeps, one by one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from refusals import refused

from fuelclient.environment import rules
from fuelclient.errors import Conflict, InvalidDocument
from fuelclient.model.cluster import Cluster
from fuelclient.model.environment import Environment
from fuelclient.model.finding import Severity
from fuelclient.model.network import Vip
from fuelclient.model.node import Node
from fuelclient.model.plugin import Plugin
from fuelclient.model.release import Release

SETTINGS = {
    "test": {
        "one": {"type": "checkbox", "value": False},
        "two": {"type": "checkbox", "value": False, "restrictions": ["settings:test.one.value == true"]},
        "hidden": {"type": "checkbox", "value": False,
                   "restrictions": [{"condition": "settings:test.one.value == true", "action": "hide"}]},
        "name": {"type": "text", "value": "ok", "regex": {"source": "^[a-z]+$", "error": "A name please"}},
    },
    "public_ssl": {"hostname": {"type": "text", "value": "cloud.example"}},
}  # fmt: skip
METADATA: dict[str, Any] = {
    "attributes_metadata": {"editable": SETTINGS},
    "roles_metadata": {
        "controller": {"conflicts": ["compute"]},
        "compute": {},
        "lvm": {"restrictions": [{"condition": "settings:test.one.value == true", "message": "Not with one."}]},
        "single": {"limits": {"max": 1}},
    },
    "network_roles_metadata": [{"id": "mgmt", "default_mapping": "public", "properties": {"vip": []}}],
    "networks_metadata": {
        "neutron": {"networks": [{"name": "public", "cidr": "172.16.0.0/24", "gateway": "172.16.0.1",
                                  "notation": "cidr", "use_gateway": True}], "config": {}},
    },
}  # fmt: skip
PLAIN = Environment(Cluster(1, "prod", 1), Release(1, "R", "newton-10.0", "Ubuntu", metadata=METADATA))


def node(number: int, *roles: str, **attributes: Any) -> Node:
    return Node(number, f"n{number}", 1, pending_roles=roles, attributes=attributes)


def own(**values: Any) -> Environment:
    return replace(PLAIN, own_settings={"test": {name: {"value": value} for name, value in values.items()}})


def networks(**own: Any) -> Environment:
    return replace(PLAIN, own_networks={"networks": own})


PLUGINS = (Plugin(1, "a", "1.0.0", metadata={"roles_metadata": {"compute": {}}}),)


@pytest.mark.parametrize(
    ("environment", "codes"),
    [
        (PLAIN, []),
        (own(name="fine"), []),
        (own(name="7"), ["N003"]),
        (own(one="yes"), ["N003"]),
        (own(nmae="x"), ["N003"]),
        (replace(PLAIN, own_settings={"tset": {"name": {"value": "x"}}}), ["N003"]),
        (replace(PLAIN, own_settings={"mine": {"x": {"type": "text", "value": "x"}}}), []),
        (own(one=True, two=True), ["N003"]),
        (own(one=False, two=True), []),
        (own(one=True, hidden=True), []),
        (replace(PLAIN, nodes=(node(1, "controller"), node(2, "compute"))), []),
        (replace(PLAIN, nodes=(node(1, "controller", "compute"),)), ["N004"]),
        (replace(PLAIN, nodes=(replace(node(1, "controller", "compute"), pending_deletion=True),)), []),
        (replace(own(one=True), nodes=(node(1, "lvm"), node(2, "lvm"))), ["N004", "N004"]),
        (replace(PLAIN, nodes=(node(1, "single"), node(2, "single"))), ["N004", "N004"]),
        (replace(PLAIN, plugins=PLUGINS), ["P074"]),
        (replace(PLAIN, nodes=(node(1, hostname="node-2"), node(2))), ["N005"]),
        (replace(PLAIN, nodes=(node(1, hostname="web"), node(2, hostname="WEB"), node(3))), ["N005"]),
        (replace(PLAIN, nodes=(node(1, hostname="cloud.example"),)), ["N005"]),
        (replace(PLAIN, vips=(Vip(1, "a", "172.16.0.9", "public"), Vip(2, "b", "172.16.0.8", "public"))), []),
        (replace(PLAIN, vips=(Vip(1, "a", "172.16.0.9", "public"), Vip(2, "b", "172.16.0.9", "public"))), ["N006"]),
        (replace(PLAIN, vips=(Vip(1, "a", "172.16.0.9", "public"),
                              Vip(2, "b", "172.16.0.9", "public", is_user_defined=False))), []),
        (replace(PLAIN, vips=(Vip(1, "a", "172.16.0.1", "public"),)), ["N006"]),
        (replace(PLAIN, vips=(Vip(1, "a", "10.0.0.1", "public"),)), ["N001"]),
        (networks(public={"vlan_start": 7}), []),
        (networks(public={"gateway": "172.17.0.1"}), ["N001"]),
        (networks(public={"vlan_start": 4095}, other={}), ["N001"]),
        (networks(fuelweb_admin={"cidr": "172.16.0.0/16", "gateway": None, "ip_ranges": []}), ["N001"]),
        (replace(PLAIN, vips=(Vip(1, "a", "10.0.0.1", "public", is_user_defined=False),)), []),
        (replace(PLAIN, vips=(Vip(1, "a", "172.16.0.0", "public"),)), ["N006"]),
        (replace(PLAIN, vips=(Vip(1, "a", "172.16.0.255", "public"),)), ["N006"]),
        (replace(PLAIN, vips=(Vip(1, "a", "172.16.0.7", "public"),), nodes=(Node(1, "n", 1, ip="172.16.0.7"),)),
         ["N006"]),
    ],
)  # fmt: skip
def test_what_breaks_a_rule(environment: Environment, codes: list[str]) -> None:
    found = rules.broken(environment)
    assert [each.finding.code for each in found] == codes
    assert len({each.key for each in found}) == len(found)
    assert {finding.severity for finding in rules.shown(environment)} <= {Severity.WARNING}


def test_the_nearest_name_is_the_hint() -> None:
    (broken,) = rules.broken(own(nmae="x"))
    assert (broken.finding.message, broken.finding.hint) == ("the setting test.nmae does not exist",
                                                             "Did you mean test.name?")  # fmt: skip


def test_an_old_error_stops_no_other_change() -> None:
    wrong = own(name="7")
    rules.require_no_new_breaks(wrong, replace(wrong, nodes=(node(1, "controller"),)), ())
    rules.require_no_new_breaks(wrong, own(name="8"), ())
    with refused(InvalidDocument, "test.one", codes=["N003"]):
        rules.require_no_new_breaks(wrong, own(name="7", one="yes"), ())


def test_another_release_may_not_overlap_with_own_networks() -> None:
    before = networks(mine={"cidr": "172.18.0.0/24"})
    (network,) = METADATA["networks_metadata"]["neutron"]["networks"]
    metadata = {"networks_metadata": {"neutron": {"networks": [{**network, "cidr": "172.18.0.0/16"}]}}}
    after = replace(before, release=replace(PLAIN.release, metadata=metadata))
    with refused(InvalidDocument, "mine (172.18.0.0/24)", "public (172.18.0.0/16)", "overlap. Change one cidr"):
        rules.require_no_new_breaks(before, after, ())


def test_a_role_is_refused_where_a_node_gets_it() -> None:
    given = replace(PLAIN, nodes=(node(1, "lvm"),))
    forbidden = replace(own(one=True), nodes=given.nodes)
    rules.require_no_new_breaks(given, forbidden, [1])
    named = ("Role 'lvm' restrictions mismatch: Not with one.", "about node 1", "`fuel2 env settings upload 1`")
    with refused(Conflict, *named):
        rules.require_no_new_breaks(given, forbidden, [1], gives_roles=True)
    with refused(Conflict, "Role 'lvm' restrictions mismatch"):
        rules.require_no_new_breaks(own(one=True), forbidden, [1])


@pytest.mark.parametrize("had", ["controller", "compute"])
def test_a_conflict_is_refused_by_whichever_role_it_is_stated(had: str) -> None:
    both = replace(PLAIN, nodes=(node(1, "controller", "compute"),))
    with refused(Conflict, "in conflict", "about node 1"):
        rules.require_no_new_breaks(replace(PLAIN, nodes=(node(1, had),)), both, [1])


def test_release_without_settings_knows_no_unknown_ones() -> None:
    bare = replace(PLAIN, release=Release(1, "R", "1.0"), own_settings={"any": {"x": {"value": 1}}})
    assert rules.broken(bare) == []
