"""The deployment facts of an environment, from which expressions and parameters of its tasks are computed.

Source: the shape of Nailgun's deployment info, without what needs networks: settings with their values in place,
`common` settings and components at the top, the cluster, its release, its nodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuelclient.environment import settings
from fuelclient.model.environment import Environment
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.node import Node
from fuelclient.plan.fleet import MASTER
from fuelclient.serializers.values import deep_merged

NULL = "null"
"""The uid of the sync points."""


def default_facts(environment: Environment) -> DeploymentFacts:
    """Return the facts of an environment and of each of its nodes, before any facts are uploaded."""
    models = settings.models(environment)
    release, nodes = environment.release, environment.nodes
    common: dict[str, Any] = {
        **_flattened(models["settings"]),
        "cluster": {**models["cluster"], "fuel_version": "", "release_id": release.id},
        "release": {"name": release.name, "version": release.version, "operating_system": release.operating_system},
        "openstack_version": release.version,
        "deployment_mode": models["cluster"]["mode"],
        "plugins": [{"name": plugin.name, "plugin_id": plugin.id} for plugin in environment.plugins],
        "nodes": [{**_about(node), "role": role} for node in nodes for role in node.all_roles],
        "network_metadata": {
            "nodes": {f"node-{node.id}": {**_about(node), "node_roles": list(node.all_roles)} for node in nodes}
        },
    }
    parts: dict[str, dict[str, Any]] = {NULL: {}, MASTER: {"uid": MASTER, "roles": [MASTER]}}
    for node in nodes:
        own = {
            **_about(node),
            "roles": list(node.all_roles),
            "ip": node.ip,
            "mac": node.mac,
            "online": node.online,
        }
        parts[str(node.id)] = deep_merged(own, node.attributes)
    return DeploymentFacts(common, parts)


def _about(node: Node) -> dict[str, Any]:
    return {"uid": str(node.id), "name": f"node-{node.id}", "fqdn": node.name, "user_node_name": node.name}


def _flattened(sections: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings as tasks see them: plain values, `common` ones at the top, components as `X.enabled`.

    >>> _flattened({"common": {"debug": {"value": True}}, "additional_components": {"heat": {"value": True}}})
    {'heat': {'enabled': True}, 'debug': True}
    """
    values = {name: _values(section) for name, section in sections.items()}
    common = values.pop("common", {})
    for name, enabled in values.pop("additional_components", {}).items():
        if isinstance(enabled, bool):
            values.setdefault(name, {})["enabled"] = enabled
    common.pop("metadata", None)
    return {**values, **common}


def _values(section: Any) -> dict[str, Any]:
    if not isinstance(section, Mapping):
        return {}
    return {
        name: stated["value"] if isinstance(stated, Mapping) and "value" in stated else stated
        for name, stated in section.items()
    }


def effective_facts(default: DeploymentFacts, uploaded: DeploymentFacts) -> DeploymentFacts:
    """Return the default facts, overridden by the uploaded ones.

    Every node, the master and the sync points have a part. Uploaded parts of other nodes are ignored.
    """
    parts = {uid: deep_merged(part, uploaded.nodes.get(uid, {})) for uid, part in default.nodes.items()}
    return DeploymentFacts(deep_merged(default.common, uploaded.common), parts)
