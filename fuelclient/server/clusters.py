"""Environments, their nodes, deployment facts, settings and networks.

Nailgun keeps plugins among the settings: `editable.<plugin>.metadata` has the enabled version of a plugin, and setting
it enables or disables the plugin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from fuelclient.backends.base import Backend
from fuelclient.environment.settings import defaults
from fuelclient.errors import Conflict, FuelError, NotFound
from fuelclient.facts.given import NULL
from fuelclient.grouping import grouped
from fuelclient.model.cluster import Cluster
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.plugin import Plugin
from fuelclient.model.release import Release
from fuelclient.plan.fleet import MASTER
from fuelclient.printing import ids_text
from fuelclient.serializers.cluster import cluster_to
from fuelclient.serializers.fact import COMMON, facts_from, facts_to, facts_to_list
from fuelclient.serializers.node import node_record_to
from fuelclient.serializers.values import deep_merged, plain
from fuelclient.server.errors import HttpError, changed_fields, refusing, require_same
from fuelclient.server.nodes import NODES, members
from fuelclient.server.routes import Call, Query, QueryType, Route, caller
from fuelclient.server.schemas import (
    BOOLEAN,
    CLUSTER,
    MAPPING,
    NAME,
    NODE,
    NUMBER,
    TEXT,
    Schema,
    closed,
    listed,
    maybe,
    opened,
    whole,
)

_EDITABLE = "editable"


def record(backend: Backend, cluster: Cluster) -> dict[str, Any]:
    """The JSON of an environment, with the Fuel version of its release."""
    return cluster_to(cluster, fuel_version=backend.releases.get(cluster.release_id).version.rpartition("-")[2])


def list_all(call: Call) -> Any:
    versions = {release.id: release.version.rpartition("-")[2] for release in call.backend.releases.list()}
    clusters = call.backend.clusters.list()
    return [cluster_to(cluster, fuel_version=versions.get(cluster.release_id, "")) for cluster in clusters]


def create(call: Call) -> Any:
    release_id = call.body.get("release_id", call.body.get("release"))
    segment_type = call.body.get("net_segment_type", "vlan")
    with _refuse_taken_name(), refusing(NotFound, 400, "Invalid release ID", noun="release"):
        cluster = call.backend.clusters.create(call.body["name"], release_id, net_segment_type=segment_type)
    return record(call.backend, cluster)


def _refuse_taken_name() -> AbstractContextManager[None]:
    return refusing(Conflict, 409, "Environment with this name already exists")


def show(call: Call) -> Any:
    return record(call.backend, call.backend.clusters.get(call.cluster_id))


def update(call: Call) -> Any:
    """Rename an environment, or move it to another release. The body may be all that GET returns."""
    before = show(call)
    require_same(before, call.body, "name", "release_id")
    changed = changed_fields(before, call.body)
    with call.backends.exclusive() as backend, refusing(NotFound, 400, "Invalid release ID", noun="release"):
        move = partial(backend.clusters.change_release, before["id"], changed.get("release_id", 0))
        if len(changed) == 2:
            move(dry_run=True)
        if "name" in changed:
            with _refuse_taken_name():
                backend.clusters.rename(before["id"], changed["name"])
        if "release_id" in changed:
            move()
    return show(call)


def delete(call: Call) -> None:
    cluster_id = call.cluster_id
    running = [run for run in call.backend.runs.list(cluster_id=cluster_id) if not run.is_final]
    text = f"Can't delete environment '{cluster_id}' when running deployment task exists."
    with refusing(Conflict, 400, text, when=running):
        call.backend.clusters.delete(cluster_id, force=call.flag("force"))


def assign(call: Call) -> Any:
    """Add all nodes of the body with their roles. If one cannot be added, add none."""
    cluster_id = call.cluster_id
    # one call of the backend for all nodes with the same roles
    ids_by_roles = grouped((tuple(dict.fromkeys(item["roles"])), item["id"]) for item in call.body)
    with call.backends.exclusive() as backend:
        roles = backend.roles.of_cluster(cluster_id)
        if missing := sorted({role for item in call.body for role in item["roles"]} - set(roles)):
            text = f"{', '.join(missing)} are not valid roles for node in environment {cluster_id}"
            raise HttpError(400, NotFound("role", missing[0], known=list(roles)), text)
        known = {node.id: node for node in backend.nodes.list()}
        if unknown := sorted({item["id"] for item in call.body} - set(known)):
            text = f"Nodes with ids {ids_text(unknown)} were not found."
            raise HttpError(400, NotFound("node", unknown[0]), text)
        in_other_clusters = [item for item in call.body if known[item["id"]].cluster_id not in (None, cluster_id)]
        done: list[int] = []
        text = "Changing cluster on the fly is not allowed"
        try:
            with refusing(Conflict, 400, text, when=in_other_clusters, plain=True):
                for role_names, ids in ids_by_roles.items():
                    backend.clusters.add_nodes(cluster_id, ids, role_names)
                    done += ids
        except (FuelError, HttpError):
            if done:
                new = [node_id for node_id in done if known[node_id].cluster_id is None]
                backend.clusters.remove_nodes(cluster_id, new, force=True)
            raise
        return [node_record_to(backend.nodes.get(item["id"])) for item in call.body]


def unassign(call: Call) -> Any:
    cluster_id, ids = call.cluster_id, list(dict.fromkeys(item["id"] for item in call.body))
    others = sorted(set(ids) - {node.id for node in call.backend.nodes.list(cluster_id)})
    with refusing(NotFound, 400, f"Nodes {others} are not members of environment {cluster_id}."):
        call.backend.clusters.remove_nodes(cluster_id, ids)
    return [node_record_to(call.backend.nodes.get(node_id)) for node_id in ids]


def upload_facts(call: Call) -> Any:
    """Store the facts of the body. Facts of other nodes are kept, and so is the common part if the body has none."""
    cluster_id, facts = call.cluster_id, facts_from(call.body)
    with call.backends.exclusive() as backend:
        if COMMON not in (call.body if isinstance(call.body, Mapping) else [part["uid"] for part in call.body]):
            facts = DeploymentFacts(backend.facts.get(cluster_id).common, facts.nodes)
        backend.facts.put(cluster_id, facts)
    return call.body


def delete_facts(call: Call) -> Any:
    call.backend.facts.delete(call.cluster_id)
    return {}


def _facts(call: Call, facts: DeploymentFacts) -> Any:
    """List the facts by node; with `split` the common part is a separate element.

    Otherwise each node repeats the common part; if no node has facts, only a split answer shows it. If nodes are
    selected, the facts of the master and of the sync points are included. Empty facts of sync points are left out.
    """
    chosen = members(call, call.cluster_id)
    uids = {*map(str, chosen), MASTER, NULL} if chosen else set()
    facts = DeploymentFacts(facts.common, {uid: part for uid, part in facts.nodes.items() if part or uid != NULL})
    return facts_to(facts, uids) if call.flag("split") else facts_to_list(facts, uids)


def default_settings(call: Call) -> Any:
    environment = call.backend.clusters.environment(call.cluster_id)
    return _with_plugins(call.backend, environment.cluster.id, defaults(environment))


def store_settings(call: Call, *, is_partial: bool) -> Any:
    """Store the settings of the body. Partial ones are merged into the current settings."""
    cluster_id, sections = call.cluster_id, call.body[_EDITABLE]
    with call.backends.exclusive() as backend:
        if is_partial:
            sections = deep_merged(_settings_record(backend, cluster_id)[_EDITABLE], sections)
        backend.clusters.set_settings(cluster_id, {_EDITABLE: sections})
        return _settings_record(backend, cluster_id)


def _settings_record(backend: Backend, cluster_id: int) -> dict[str, Any]:
    return _with_plugins(backend, cluster_id, plain(backend.clusters.settings(cluster_id)))


def _with_plugins(backend: Backend, cluster_id: int, sections: dict[str, Any]) -> dict[str, Any]:
    """Add a section for each plugin that is enabled in the environment or supports its release."""
    release = backend.releases.get(backend.clusters.get(cluster_id).release_id)
    plugins = (each for each in backend.plugins.list() if cluster_id in each.clusters or _supports(each, release))
    for name, versions in grouped((plugin.name, plugin) for plugin in plugins).items():
        enabled = next((plugin for plugin in versions if cluster_id in plugin.clusters), None)
        section = sections.setdefault(name, {})
        known = section.get("metadata")
        section["metadata"] = {**(known if isinstance(known, dict) else {}), **_plugin_metadata(versions, enabled)}
    return {_EDITABLE: sections, "generated": {}}


def _supports(plugin: Plugin, release: Release) -> bool:
    return any(
        isinstance(record, Mapping)
        and str(record.get("os", "")).lower() == release.operating_system.lower()
        and release.version.startswith(str(record.get("version", "")))
        for record in plugin.metadata.get("releases") or ()
    )


def _plugin_metadata(versions: Sequence[Plugin], enabled: Plugin | None) -> dict[str, Any]:
    chosen = enabled or versions[-1]
    return {
        "class": "plugin",
        "enabled": enabled is not None,
        "toggleable": True,
        "label": chosen.title or chosen.name,
        "weight": 70,
        "chosen_id": chosen.id,
        "versions": [
            {"metadata": {"plugin_id": plugin.id, "plugin_version": plugin.version, "always_editable": False}}
            for plugin in versions
        ],
    }


def list_vips(call: Call) -> Any:
    network_id, role = call.query.get("network"), call.query.get("network-role", "")
    return plain(call.backend.networks.vips(call.cluster_id, network_id=network_id, network_role=role))


def set_vips(call: Call) -> Any:
    call.backend.networks.set_vips(call.cluster_id, call.body)
    return list_vips(call)


def create_vip(call: Call) -> Any:
    cluster_id, body = call.cluster_id, call.body
    with call.backends.exclusive() as backend:
        backend.networks.create_vip(
            cluster_id, body["vip_name"], body["ip_addr"], network_id=body.get("network"),
            namespace=body.get("vip_namespace"),
        )  # fmt: skip
        return next(plain(vip) for vip in backend.networks.vips(cluster_id) if vip["vip_name"] == body["vip_name"])


_EMPTY = {"type": "array", "maxItems": 0}
_CREATE = {
    **closed(
        ("name",),
        name=NAME, release_id=NUMBER, release=NUMBER, net_segment_type={"enum": ["vlan", "gre", "tun"]},
        nodes=_EMPTY, tasks=_EMPTY, mode={"const": "ha_compact"}, net_provider={"const": "neutron"},
    ),
    "anyOf": [{"required": ["release_id"]}, {"required": ["release"]}],
}  # fmt: skip
_PATH = "clusters/{cluster_id}"
_FACTS_PATH = f"{_PATH}/orchestrator/deployment"
_NODE_FACTS = listed(whole(uid={"type": ["string", "integer"]}))
_FACTS: Schema = {"anyOf": [_NODE_FACTS, closed(common=MAPPING, nodes={"anyOf": [MAPPING, _NODE_FACTS]})]}
_FACTS_QUERY = (NODES, Query("split", QueryType.FLAG, "return the common part as an element with the uid common"))
_SECTION = opened(metadata=opened(enabled=BOOLEAN, chosen_id=maybe(NUMBER)))
_SETTINGS_BODY = closed((_EDITABLE,), editable={"type": "object", "additionalProperties": _SECTION}, generated=MAPPING)
_SETTINGS = whole(editable=MAPPING, generated=MAPPING)
_SETTINGS_PATH = f"{_PATH}/attributes"
_CONFIGURATION = whole(networks=listed(MAPPING), networking_parameters=MAPPING)
_CHANGES = opened(networks=listed(whole(name=NAME)), networking_parameters=MAPPING, vips=MAPPING)
_VIP = opened(
    ("id", "ip_addr", "vip_name"),
    id=NUMBER, ip_addr=TEXT, vip_name=NAME, vip_namespace=maybe(TEXT), network=maybe(NUMBER), is_user_defined=BOOLEAN,
)  # fmt: skip
_NEW_VIP = opened(
    ("ip_addr", "vip_name"), ip_addr=TEXT, vip_name=NAME, vip_namespace=maybe(TEXT), network=maybe(NUMBER)
)
_VIPS_QUERY = (
    Query("network", QueryType.NUMBER, "only addresses of this network"),
    Query("network-role", QueryType.WORD, "only addresses of this network role"),
)
_NEUTRON = f"{_PATH}/network_configuration/neutron"
_VIPS = f"{_PATH}/network_configuration/ips/vips"
_FORCE_OF_NAILGUN = (Query("force", QueryType.FLAG, "accepted for clients of Nailgun; nothing is locked here"),)

ROUTES = (
    Route("GET", "clusters", list_all, "List environments", {200: listed(CLUSTER)}),
    Route("POST", "clusters", create, "Create an environment", {201: CLUSTER}, body=_CREATE),
    Route("GET", _PATH, show, "Show an environment", {200: CLUSTER}),
    Route("PUT", _PATH, update, "Rename an environment, or move it to another release", {200: CLUSTER},
          body=opened(name=NAME, release_id=NUMBER)),
    Route("DELETE", _PATH, delete, "Delete an environment with its graphs", {204: None},
          query=(Query("force", QueryType.FLAG, "delete it even if it is deployed"),)),
    Route("POST", f"{_PATH}/assignment", assign, "Add nodes to an environment", {200: listed(NODE)},
          body=listed(whole(id=NUMBER, roles=listed(NAME, 1)), 1)),
    Route("POST", f"{_PATH}/unassignment", unassign, "Remove nodes from an environment", {200: listed(NODE)},
          body=listed(whole(id=NUMBER), 1)),
    Route("GET", _FACTS_PATH, lambda call: _facts(call, call.backend.facts.get(call.cluster_id)),
          "Show the uploaded deployment facts", {200: _NODE_FACTS}, _FACTS_QUERY),
    Route("PUT", _FACTS_PATH, upload_facts, "Upload deployment facts", {200: _FACTS}, (), _FACTS),
    Route("DELETE", _FACTS_PATH, delete_facts, "Delete the uploaded deployment facts", {202: MAPPING}),
    Route("GET", f"{_FACTS_PATH}/defaults",
          lambda call: _facts(call, call.backend.facts.default(call.cluster_id)),
          "Show the facts computed for an environment", {200: _NODE_FACTS}, _FACTS_QUERY),
    Route("GET", _SETTINGS_PATH, lambda call: _settings_record(call.backend, call.cluster_id),
          "Show the settings of an environment", {200: _SETTINGS}),
    Route("PUT", _SETTINGS_PATH, partial(store_settings, is_partial=False), "Set the settings of an environment",
          {200: _SETTINGS}, _FORCE_OF_NAILGUN, _SETTINGS_BODY),
    Route("PATCH", _SETTINGS_PATH, partial(store_settings, is_partial=True), "Change settings of an environment",
          {200: _SETTINGS}, _FORCE_OF_NAILGUN, _SETTINGS_BODY),
    Route("GET", f"{_SETTINGS_PATH}/defaults", default_settings, "Show the settings of the release", {200: _SETTINGS}),
    Route("GET", _NEUTRON, caller(lambda backend: backend.networks.configuration),
          "Show the network configuration of an environment", {200: _CONFIGURATION}),
    Route("PUT", _NEUTRON, caller(lambda backend: backend.networks.set_configuration),
          "Change the network configuration of an environment", {200: _CONFIGURATION}, body=_CHANGES),
    Route("GET", _VIPS, list_vips, "List the virtual addresses of an environment", {200: listed(_VIP)}, _VIPS_QUERY),
    Route("PUT", _VIPS, set_vips, "Set virtual addresses of an environment", {200: listed(_VIP)}, body=listed(MAPPING)),
    Route("POST", _VIPS, create_vip, "Add a virtual address to an environment", {200: _VIP}, body=_NEW_VIP),
    Route("GET", f"{_PATH}/network_configuration/ips/{{vip_id}}/vips",
          lambda call: plain(call.backend.networks.vips(call.cluster_id, vip_id=call.id("vip_id"))[0]),
          "Show a virtual address of an environment", {200: _VIP}),
)  # fmt: skip
