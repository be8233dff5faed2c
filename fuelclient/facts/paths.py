"""Find and complete facts by their paths (`network_metadata.vips`), and describe where they come from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from fuelclient.environment.settings import defaults
from fuelclient.errors import NotFound, nearest
from fuelclient.facts.settings import DETERMINED, GENERATOR, generated_of, is_random
from fuelclient.model.environment import Environment
from fuelclient.model.fact import DeploymentFacts
from fuelclient.serializers.values import deep_merged

ROOT, COMMON = "$.", "common"


def names_of(path: str) -> list[str]:
    """Split a path, with or without the `$.` of expressions, into its names.

    >>> names_of("$.storage.pg_num"), names_of("storage.pg_num")
    (['storage', 'pg_num'], ['storage', 'pg_num'])
    """
    return path.removeprefix(ROOT).split(".")


def value_at(facts: Any, names: Sequence[str]) -> Any:
    for name in names:
        if not isinstance(facts, Mapping) or name not in facts:
            raise KeyError(name)
        facts = facts[name]
    return facts


def has(facts: Any, names: Sequence[str]) -> bool:
    with suppress(KeyError):
        value_at(facts, names)
        return True
    return False


def values_at(facts: DeploymentFacts, names: Sequence[str], common: str) -> Iterator[tuple[str, Any]]:
    """Yield the value at a path in each part that has it: the common part, named `common`, then nodes by uid.

    The value of a node is merged over the common one, as the node sees it.
    """
    for uid, part in ((common, facts.common), *facts.nodes.items()):
        if has(part, names):
            yield uid, value_at(part if uid == common else deep_merged(facts.common, part), names)


def completions(facts: Mapping[Any, Any], text: str) -> list[str]:
    """Complete the path at the end of a text with names of facts, one level at a time.

    >>> completions({"storage": {"pg_num": 1, "osd_pool_size": 3}, "debug": True}, "$.storage.p")
    ['$.storage.pg_num']
    >>> completions({"storage": {"pg_num": 1}, "debug": True}, "$.")
    ['$.debug', '$.storage.']
    """
    *above, start = names_of(text)
    root = ROOT if text.startswith(ROOT) else ""
    level = value_at(facts, above) if has(facts, above) else None
    if not isinstance(level, Mapping):
        return []
    names = sorted(name for name in map(str, level) if name.startswith(start))
    before = "".join(f"{name}." for name in above)
    return [f"{root}{before}{name}{'.' if isinstance(level.get(name), Mapping) else ''}" for name in names]


_NETWORKS = "the networks of the release, overridden by those that users describe"
_COMPUTED: Mapping[str, str] = {
    "cluster": "the environment itself",
    "release": "the release",
    "openstack_version": "the version of the release",
    "fuel_version": "the part of the release's version after the dash",
    "deployment_id": "the id of the environment",
    "deployment_mode": "a constant: the only mode that recent releases have",
    "master_ip": "a constant: the default address that the installer of a Fuel master proposes",
    "last_controller": "the controller with the highest id",
    "use_cinder": "whether a node has the role cinder",
    "mp": "a constant of Nailgun",
    "plugins": "the enabled plugins",
    "quantum": "a constant: Neutron is the only network provider",
    "quantum_settings": f"the parameters of {_NETWORKS}",
    "nodes": "the tags and the stored addresses of nodes",
    "network_metadata": "the network roles of the release and its plugins, and stored addresses",
    "network_metadata.vips": "the virtual addresses that network roles ask for, chosen once and stored",
    "network_metadata.nodes": "names, tags and stored addresses of nodes",
    "storage.pg_num": "the partitions for Ceph on the nodes, and storage.osd_pool_size",
    "storage.per_pool_pg_nums": "the partitions for Ceph on the nodes, and the settings of storage",
    "provision.engine": "constants of a Fuel master",
    "workloads_collector.create_user": "a constant: statistics are not sent",
}
_NOT_COMPUTED = ("a constant", "constants", "empty")
_OF_NODES: Mapping[str, str] = {
    "uid": "the id of the node",
    "fqdn": "the name of the node (its attributes hostname and fqdn, otherwise its id)",
    "user_node_name": "the name of the node in the nodes file",
    "roles": "the tags of its roles; primary-TAG on the primary node of a tag",
    "ip": "the address of the node, otherwise its stored address in the network of the master",
    "status": "the state of the node",
    "online": "the state of the node",
    "fail_if_error": "the first of its tags",
    "configuration": "empty: OpenStack configurations are not kept here",
    "configuration_options": "empty: OpenStack configurations are not kept here",
    "node_volumes": "the attribute node_volumes of the node; empty if it has none",
    "glance": "the size of the volume for images in node_volumes",
    "network_scheme": f"the interfaces of the node, its stored addresses, and {_NETWORKS}",
    "provision": "the names, interfaces and disks of the node, settings, and constants of a Fuel master",
    "test_vm_image": "constants of Nailgun for the operating system",
    "vms_conf": "empty: virtual machines are not kept here",
    "dpdk": "empty, but present, because releases of Fuel 9.0 read it for every node",
    "deleted": "whether the node waits for deletion",
}


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a fact comes from; `part` is `common` or the uid of a node."""

    part: str
    text: str


def origins(
    environment: Environment, default: DeploymentFacts, uploaded: DeploymentFacts, path: str
) -> tuple[Origin, ...]:
    """Find the origin of a fact in each part that has it. The path may begin with `$.`.

    Raise `NotFound` if no part has it.
    """
    names = names_of(path)
    of_nodes = ((uid, facts, uploaded.nodes.get(uid, {})) for uid, facts in default.nodes.items())
    found = [
        Origin(part, "uploaded" if has(own, names) else _origin(environment, part, names))
        for part, facts, own in ((COMMON, default.common, uploaded.common), *of_nodes)
        if has(facts, names) or has(own, names)
    ]
    if not found:
        parts = (default.common, *default.nodes.values())
        above = max((names[:end] for part in parts for end in range(len(names)) if has(part, names[:end])), key=len)
        below = (completions(value_at(part, above), "") for part in parts if has(part, above))
        close = nearest(names[len(above)], sorted({name.rstrip(".") for own in below for name in own}))
        hint = f"`fuel2 env deployment-facts get-default --env {environment.cluster.id}` writes all facts to files."
        hint = f"Did you mean {'.'.join([*above, close])}?" if close else hint
        raise NotFound("fact", path, hint=hint)
    return tuple(found)


def _origin(environment: Environment, part: str, names: Sequence[str]) -> str:
    if part != COMMON:
        node = next((node for node in environment.nodes if str(node.id) == part), None)
        if node is not None and names[0] in node.attributes:
            return f"the attribute {names[0]} of the node"
        return _computed(_OF_NODES, names) or "the master"
    if _how_generated(generated_of(environment), names):
        return _setting(environment, names)
    return _computed(_COMPUTED, names) or _setting(environment, names)


def _computed(table: Mapping[str, str], names: Sequence[str]) -> str:
    for length in range(len(names), 0, -1):
        if text := table.get(".".join(names[:length])):
            return text if text.startswith(_NOT_COMPUTED) else f"computed from {text}"
    return f"computed from {_NETWORKS}" if len(names) == 1 and names[0].endswith("_network_range") else ""


def _setting(environment: Environment, names: Sequence[str]) -> str:
    """Describe the setting of a fact, its owner, and how its value was generated."""
    section, *members = names
    editable, generated = defaults(environment), generated_of(environment)
    if section in (editable.get("common") or {}):
        section, members = "common", [section, *members]
    if members[:1] == ["enabled"] and section in (editable.get("additional_components") or {}):
        section, members = "additional_components", [section]
    path = [section, *members]
    owner = next((f"plugin {p.name}" for p in environment.plugins if p.name == section), "the release")
    if not has(editable, path[:2]) and has(generated, path[:2]):
        how = _how_generated(generated, path)
        return f"{how}, as {owner} asks in its generated settings" if how else f"generated settings of {owner}"
    name = f"the setting {'.'.join(path[:2])}"
    if how := _how_generated(editable, path):
        return f"{name}: {how}"
    if has(environment.own_settings, path[:2]):
        return f"{name}, changed in this environment"
    return f"{name}, a default of {owner}"


def _how_generated(tree: Any, path: Sequence[str]) -> str:
    """Describe how the value at a path was generated; empty if it was not."""
    tree = value_at(tree, path) if has(tree, path) else None
    if isinstance(tree, Mapping) and GENERATOR not in tree:
        tree = tree.get("value")
    if is_random(tree):
        return f"generated at random once ({tree[GENERATOR]}) and stored"
    if isinstance(tree, Mapping) and tree.get(GENERATOR) in DETERMINED:
        return f"a value of the master ({tree[GENERATOR]})"
    return ""
