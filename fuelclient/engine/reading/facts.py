"""Use cases of deployment facts, and what an environment says about itself without any.

Source: the shape of Nailgun's deployment info, as far as it does not need networks: settings with their values in
place, `common` settings and components at the top, the cluster, its release, its nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fuelclient.engine.reading import environment, lookup, settings
from fuelclient.engine.reading.environment import Environment
from fuelclient.errors import InvalidDocument, NotFound
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.node import Node
from fuelclient.plan.fleet import MASTER
from fuelclient.serializers.values import kind
from fuelclient.store import facts as stored
from fuelclient.store import nodes
from fuelclient.store.database import Connection, Database

NULL = "null"
"""The uid of the sync points."""


class Facts:
    """Deployment facts; see `backends.base.Facts`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, cluster_id: int) -> DeploymentFacts:
        """The facts that were uploaded; empty when none were."""
        with self._database.read() as connection:
            lookup.cluster(connection, cluster_id)
            return stored.uploaded(connection, cluster_id)

    def default(self, cluster_id: int) -> DeploymentFacts:
        """What the environment's settings and nodes say."""
        with self._database.read() as connection:
            members = environment.read(connection, cluster_id)
            return default_facts(members, nodes.of_cluster(connection, cluster_id))

    def effective(self, cluster_id: int) -> DeploymentFacts:
        """What a run would see now."""
        with self._database.read() as connection:
            members = environment.read(connection, cluster_id)
            return effective_facts(connection, members, nodes.of_cluster(connection, cluster_id))

    def put(self, cluster_id: int, facts: DeploymentFacts) -> None:
        """Store the common part and the parts of the given nodes. `NotFound` for a node of elsewhere,
        `InvalidDocument` for a part that is no mapping."""
        for name, part in (("common part", facts.common), *facts.nodes.items()):
            if not isinstance(part, Mapping):
                raise InvalidDocument(
                    f"The facts of {name} are {kind(part)}, not a mapping.", hint="Facts are names with values."
                )
        with self._database.write() as connection:
            lookup.cluster(connection, cluster_id)
            known = [MASTER, NULL, *(str(node.id) for node in nodes.of_cluster(connection, cluster_id))]
            for uid in facts.nodes:
                if uid not in known:
                    raise NotFound("node", f"{uid} of environment {cluster_id}", known=known)
            stored.put(connection, cluster_id, facts)

    def delete(self, cluster_id: int) -> None:
        """Nothing is uploaded any more."""
        with self._database.write() as connection:
            lookup.cluster(connection, cluster_id)
            stored.delete(connection, cluster_id)


def effective_facts(connection: Connection, members: Environment, present: Sequence[Node]) -> DeploymentFacts:
    """The default facts with the uploaded ones over them; every node, the master and the sync points have a part."""
    default = default_facts(members, present)
    own = stored.uploaded(connection, members.cluster.id)
    parts = {uid: settings.deep_merged(part, own.nodes.get(uid, {})) for uid, part in default.nodes.items()}
    return DeploymentFacts(settings.deep_merged(default.common, own.common), parts)


def default_facts(members: Environment, present: Iterable[Node]) -> DeploymentFacts:
    """What an environment says about itself and about each of its nodes."""
    taken = list(present)
    models = settings.models(members)
    release = members.release
    common: dict[str, Any] = {
        **_flattened(models["settings"]),
        "cluster": {**models["cluster"], "fuel_version": "", "release_id": release.id},
        "release": {"name": release.name, "version": release.version, "operating_system": release.operating_system},
        "openstack_version": release.version,
        "deployment_mode": models["cluster"]["mode"],
        "plugins": [{"name": plugin.name, "plugin_id": plugin.id} for plugin in members.plugins],
        "nodes": [{**_about(node), "role": role} for node in taken for role in node.all_roles],
        "network_metadata": {
            "nodes": {f"node-{node.id}": {**_about(node), "node_roles": list(node.all_roles)} for node in taken}
        },
    }
    parts: dict[str, dict[str, Any]] = {NULL: {}, MASTER: {"uid": MASTER, "roles": [MASTER]}}
    for node in taken:
        parts[str(node.id)] = settings.deep_merged(_part(node), node.attributes)
    return DeploymentFacts(common, parts)


def _about(node: Node) -> dict[str, Any]:
    return {"uid": str(node.id), "name": f"node-{node.id}", "fqdn": node.name, "user_node_name": node.name}


def _part(node: Node) -> dict[str, Any]:
    return {
        **_about(node),
        "roles": list(node.all_roles),
        "ip": node.ip,
        "mac": node.mac,
        "online": node.online,
    }


def _flattened(sections: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as tasks see them: each with its value, `common` ones at the top, components as `X.enabled`.

    >>> _flattened({"common": {"debug": {"value": True}}, "additional_components": {"heat": {"value": True}}})
    {'heat': {'enabled': True}, 'debug': True}
    """
    found = {name: _values(section) for name, section in sections.items()}
    lifted = found.pop("common", {})
    for name, enabled in found.pop("additional_components", {}).items():
        if isinstance(enabled, bool):
            found.setdefault(name, {})["enabled"] = enabled
    lifted.pop("metadata", None)
    return {**found, **lifted}


def _values(section: Any) -> dict[str, Any]:
    if not isinstance(section, Mapping):
        return {}
    return {
        name: stated["value"] if isinstance(stated, Mapping) and "value" in stated else stated
        for name, stated in section.items()
    }
