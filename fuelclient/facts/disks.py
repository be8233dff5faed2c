"""Compute the facts that depend on the disks of nodes. Source: Nailgun's Ceph serializers and volume manager."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from fuelclient.facts.names import FactNode

Disks: TypeAlias = Mapping[str, Sequence[Any]]
"""The stored documents of disks by the id of the node."""

_GROUPS_WITHOUT_OSD = 128
_MIN_GROUPS = 64
_WEIGHTS = {
    "volumes": (16, "volumes_ceph"),
    "backups": (4, "volumes_ceph"),
    ".rgw": (4, "objects_ceph"),
    "compute": (8, "ephemeral_ceph"),
    "images": (1, "images_ceph"),
}
"""The pools of Ceph: how much of the data each holds, and the setting that puts it there."""

_SMALL_POOLS = 4
"""The small pools that objects need besides their large one."""

_MIN_CACHE_BYTES, _CACHE_SHARE = 5 * 1024**3, 0.1
_MEGABYTE = 1024**2


def node_volumes(node: FactNode, disks: Disks) -> list[Any]:
    """The layout of a node's disks: its attribute `node_volumes`, or its stored disks; empty without either."""
    given = node.node.attributes.get("node_volumes")
    if isinstance(given, list | tuple):
        return list(given)
    return [{**disk, "type": "disk"} for disk in disks.get(node.uid) or () if isinstance(disk, Mapping)]


def glance_facts(volumes: Sequence[Any]) -> dict[str, Any]:
    """The size of the image cache in bytes, as a text: a tenth of the images' volume, at least 5 GiB."""
    sizes = (part.get("size", 0) for part in _parts(volumes, "id", "image") if part.get("name") == "glance")
    disks = (part.get("size", 0) for part in _parts(volumes, "type", "disk") if part.get("name") == "image")
    size = next(sizes, 0) or sum(disks)
    return {"image_cache_max_size": str(max(_MIN_CACHE_BYTES, int(_CACHE_SHARE * size * _MEGABYTE)) if size else 0)}


def _parts(volumes: Sequence[Any], key: str, value: str) -> Iterator[Mapping[str, Any]]:
    for volume in volumes:
        if isinstance(volume, Mapping) and volume.get(key) == value:
            yield from (part for part in volume.get("volumes") or () if isinstance(part, Mapping))


def placement_groups(named: Sequence[FactNode], disks: Disks, storage: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers of placement groups for the pools of Ceph (`pg_num`, `per_pool_pg_nums`)."""
    osds = sum(
        part.get("name") == "ceph" and (part.get("size") or 0) > 0
        for node in named
        if node.carries(("ceph-osd",))
        for part in _parts(node_volumes(node, disks), "type", "disk")
    )
    text = str(storage.get("osd_pool_size", "3"))
    copies = max(1, int(text)) if text.isascii() and text.isdigit() else 3
    pools = _pools(osds, copies, storage)
    return {"pg_num": pools["default_pg_num"], "per_pool_pg_nums": pools}


def _pools(osds: int, copies: int, storage: Mapping[str, Any]) -> dict[str, int]:
    used = {pool: weight for pool, (weight, setting) in _WEIGHTS.items() if storage.get(setting)}
    if not osds or not used:
        default = 2 ** math.ceil(math.log2(100.0 * osds / copies)) if osds else _GROUPS_WITHOUT_OSD
        return {**dict.fromkeys(_WEIGHTS, default), "default_pg_num": default}
    default = max(_MIN_GROUPS, _power_of_two(osds / copies))
    small = _SMALL_POOLS if storage.get("objects_ceph") else 0
    share = max(0.0, 200.0 * osds / copies - default * small) / sum(used.values())
    pools = {pool: max(default, _power_of_two(used[pool] * share)) if pool in used else default for pool in _WEIGHTS}
    return {**pools, "default_pg_num": default}


def _power_of_two(number: float) -> int:
    """Round up to a power of two; up to 0.7 percent above one, round down.

    >>> _power_of_two(100), _power_of_two(128.1), _power_of_two(0)
    (128, 128, 0)
    """
    return 0 if number < 0.01 else 2 ** max(0, math.ceil(math.log2(number) - 0.01))
