"""Cases of a real Nailgun's expansion (`oracles/expansion` of the corpus), and engines filled with them."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from corpus import corpus

from fuelclient.backends.local import LocalBackend
from fuelclient.model.document import Document
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.graph import METADATA, Level, OwnerRef
from fuelclient.model.node import Node
from fuelclient.model.release import Release
from fuelclient.serializers.graph import document_from

CASES = ("1", "2", "4a", "4b", "6a", "7")
NEWTON = ("controller", "database", "keystone", "neutron", "rabbitmq")
"""The tags of newton's controllers."""


@functools.cache
def recorded(name: str) -> Mapping[str, Any]:
    text = corpus("oracles", "expansion", f"case-{name}.json").read_text(encoding="utf-8")
    record: Mapping[str, Any] = json.loads(text)
    return record


def filled(directory: Path, case: Mapping[str, Any]) -> LocalBackend:
    """Return an engine with environment 1 of the case: its nodes, its facts, and its merged tasks as the release's."""
    backend = LocalBackend(str(directory / "engine.db"))
    backend.releases.create([Release(0, "Recorded", case["origin"]["release_version"], metadata=_metadata(case))])
    backend.clusters.create("recorded", 1)
    backend.nodes.create([_node(record) for record in case["nodes"]])
    options = case["options"]
    metadata = {key: value for key, value in options["graph_metadata"].items() if key in METADATA}
    body = Document({"tasks": case["tasks"], **metadata}, "")
    backend.graphs.upload(OwnerRef(Level.RELEASE, 1), document_from(body, owner_label="release"), options["graph_type"])
    backend.facts.put(1, DeploymentFacts(case["facts"]["common"], case["facts"]["nodes"]))
    return backend


def _metadata(case: Mapping[str, Any]) -> dict[str, Any]:
    """Return the roles of the case's nodes with their tags. Every node keeps the primary tags that it has."""
    names = {role for node in case["nodes"] for role in (*node["roles"], *node["pending_roles"])}
    tags = {name: [name] for name in sorted(names)}
    if not case["origin"].get("tags_derived_from_roles"):
        tags["controller"] = list(NEWTON)
    primary = {tag for node in case["nodes"] for tag in node["primary_tags"]}
    return {
        "roles_metadata": {name: {"tags": carried} for name, carried in tags.items()},
        "tags_metadata": {tag: {"has_primary": tag in primary} for carried in tags.values() for tag in carried},
    }


def _node(record: Mapping[str, Any]) -> Node:
    return Node(
        int(record["uid"]), f"node-{record['uid']}", 1, record["status"],
        pending_roles=(*record["roles"], *record["pending_roles"]), primary_tags=tuple(record["primary_tags"]),
        executor="local",
    )  # fmt: skip
