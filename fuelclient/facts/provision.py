"""Compute `provision`, by which a master installs the operating system of a node. Source: Nailgun's provisioning
serializers, with the constants of recorded facts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuelclient.environment.networks import ADMIN
from fuelclient.facts.scheme import NodeScheme, mac_of
from fuelclient.facts.settings import environment_version
from fuelclient.model.environment import Environment

_POWER = {"power_type": "ssh", "power_user": "root", "power_pass": '= "/root/.ssh/id_rsa"', "netboot_enabled": "1"}
_AGENTS: Mapping[str, Any] = {
    "install_log_2_syslog": 1,
    "mco_auto_setup": 1,
    "mco_connector": "rabbitmq",
    "mco_enable": 1,
    "mco_host": "localhost",
    "mco_password": "guest",
    "mco_pskey": "Gie6iega9ohngaenahthohngu8aebohxah9seidi",
    "mco_user": "guest",
    "mco_vhost": "mcollective",
    "puppet_auto_setup": 1,
    "puppet_enable": 0,
    "puppet_master": "localhost",
    "timezone": "Etc/UTC",
}
_TEMPLATES = ("boothook", "cloud_config", "meta_data")


def provision_facts(
    scheme: NodeScheme, environment: Environment, facts: Mapping[str, Any], volumes: list[Any]
) -> dict[str, Any]:
    node, master = scheme.node, scheme.master
    return {
        **_POWER,
        "uid": node.uid,
        "name": node.hostname,
        "slave_name": node.hostname,
        "hostname": node.fqdn,
        "power_address": scheme.address(ADMIN),
        "profile": (facts.get("cobbler") or {}).get("profile"),
        "name_servers": f'"{master.ip}"',
        "name_servers_search": f'"{master.domain}"',
        **_interfaces(scheme),
        "ks_meta": _meta(scheme, environment, facts, volumes),
    }


def _interfaces(scheme: NodeScheme) -> dict[str, Any]:
    node = scheme.node
    cards = [interface for interface in scheme.interfaces if not interface.is_bond]
    macs = {card.name: mac_of(node.node, position, card) for position, card in enumerate(cards)}
    boot_mac, extra = next((macs[card.name] for card in cards if card.pxe), ""), {}
    if boot_mac:
        netmask = str(scheme.networks.admin.net.netmask)
        extra = {"dns_name": node.fqdn, "ip_address": scheme.address(ADMIN), "netmask": netmask}
    return {
        "interfaces": {
            card.name: {"mac_address": macs[card.name], "static": "0", **(extra if card.pxe else {})} for card in cards
        },
        "interfaces_extra": {card.name: {"peerdns": "no", "onboot": "yes" if card.pxe else "no"} for card in cards},
        "kernel_options": {
            "netcfg/choose_interface": boot_mac,
            "udevrules": ",".join(f"{mac}_{name}" for name, mac in macs.items()),
        },
    }


def _meta(scheme: NodeScheme, environment: Environment, facts: Mapping[str, Any], volumes: list[Any]) -> dict[str, Any]:
    admin, provision = scheme.networks.admin, facts.get("provision") or {}
    suffix = f"fuel_{environment_version(environment.release)}_{environment.release.operating_system.lower()}.jinja2"
    setup = {
        **_AGENTS,
        "admin_net": admin.cidr,
        "auth_key": f'"{facts.get("auth_key", "")}"',
        "authorized_keys": [],
        "cloud_init_templates": {name: f"{name}_{suffix}" for name in _TEMPLATES},
        "fuel_version": environment_version(environment.release),
        "gw": admin.gateway or scheme.master.ip,
        "master_ip": scheme.master.ip,
        "mco_identity": scheme.node.node.id,
        "pm_data": {"kernel_params": (facts.get("kernel_params") or {}).get("kernel", ""), "ks_spaces": volumes},
        "repo_setup": facts.get("repo_setup") or {},
        "user_accounts": _accounts(facts),
    }
    if provision.get("method") == "image":
        setup["image_data"] = provision.get("image_data") or {}
    return setup


def _accounts(facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    service = facts.get("service_user")
    accounts = [
        {
            **{key: user.get(key) for key in ("name", "password", "homedir")},
            "sudo": _lines(user.get("sudo")),
            "ssh_keys": _lines(user.get("authkeys")),
        }
        for user in (facts.get("operator_user"), service)
        if isinstance(user, Mapping)
    ]
    if isinstance(service, Mapping):
        accounts.append({"name": "root", "password": service.get("root_password"), "homedir": "/root", "ssh_keys": []})
    return accounts


def _lines(text: Any) -> list[str]:
    return [line.strip() for line in str(text or "").splitlines() if line.strip()]
