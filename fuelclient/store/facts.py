"""Facts in the store: uploaded facts, the facts of runs, and values that keep computed facts the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuelclient.facts.given import Kept
from fuelclient.model.fact import DeploymentFacts
from fuelclient.store.database import Connection
from fuelclient.store.rows import decode, encode, encoded_or_null, firsts, mapping, one, update_row

_COMMON = ""
"""The uid of the common part."""

_ORIGINAL, _COMPUTED = "/original/", "/computed/"
"""Prefixes of uids: of parts copied from the original environment, and of parts computed when the copy was made."""

SETTINGS, NETWORKS = "/settings", "/networks"
"""The uids under which the settings and the network configuration of a run are stored. No node has such a uid."""


def uploaded(connection: Connection, cluster_id: int, kind: str = "") -> DeploymentFacts:
    """The uploaded facts of a cluster, which may be empty; or those of another `kind`, which is a prefix of
    the stored uids."""
    rows = connection.execute(
        "SELECT uid, body FROM cluster_facts WHERE cluster_id = ? AND uid LIKE ? || '%' AND (uid LIKE '/%') = ? "
        "ORDER BY uid",
        (cluster_id, kind, bool(kind)),
    )
    return _facts({uid.removeprefix(kind): decode(body) for uid, body in rows})


def put(connection: Connection, cluster_id: int, facts: DeploymentFacts, kind: str = "") -> None:
    """Replace the common part and the parts of the given nodes; parts of other nodes stay. `kind` as in `uploaded`."""
    connection.executemany(
        "INSERT INTO cluster_facts (cluster_id, uid, body) VALUES (?, ?, ?) "
        "ON CONFLICT (cluster_id, uid) DO UPDATE SET body = excluded.body",
        [(cluster_id, kind + uid, encode(part)) for uid, part in {_COMMON: facts.common, **facts.nodes}.items()],
    )


def delete(connection: Connection, cluster_id: int) -> None:
    connection.execute("DELETE FROM cluster_facts WHERE cluster_id = ? AND uid NOT LIKE '/%'", (cluster_id,))


def forget_node(connection: Connection, node_id: int) -> None:
    """Remove the parts of a node that were uploaded or copied, because they only apply to its environment."""
    uids = [kind + str(node_id) for kind in ("", _ORIGINAL, _COMPUTED)]
    connection.execute("DELETE FROM cluster_facts WHERE uid IN (?, ?, ?)", uids)


def copied(connection: Connection, cluster_id: int) -> tuple[DeploymentFacts, DeploymentFacts]:
    """The facts of a copy's original, and those that were computed for the copy when it was made; both are empty for an
    environment that is not a copy."""
    return uploaded(connection, cluster_id, _ORIGINAL), uploaded(connection, cluster_id, _COMPUTED)


def copied_nodes(connection: Connection, cluster_id: int) -> set[str]:
    """The uids of the nodes that a copy has from its original, and of the master."""
    query = "SELECT substr(uid, ?) FROM cluster_facts WHERE cluster_id = ? AND uid LIKE ? || '%'"
    return {*firsts(connection, query, len(_ORIGINAL) + 1, cluster_id, _ORIGINAL)}


def put_copied(connection: Connection, cluster_id: int, original: DeploymentFacts, then: DeploymentFacts) -> None:
    put(connection, cluster_id, original, _ORIGINAL)
    put(connection, cluster_id, then, _COMPUTED)


def kept(connection: Connection, cluster_id: int) -> Kept:
    """The secrets and the addresses of nodes that were generated once for a cluster."""
    row = connection.execute("SELECT generated, addresses FROM clusters WHERE id = ?", (cluster_id,)).fetchone()
    generated, chosen = (mapping(text) for text in row) if row else ({}, {})
    nodes = {network: {int(node): address for node, address in by_node.items()} for network, by_node in chosen.items()}
    return Kept(generated, nodes)


def put_kept(connection: Connection, cluster_id: int, chosen: Kept) -> None:
    """Replace the secrets and the addresses of nodes that were generated for a cluster."""
    values = {"generated": encoded_or_null(chosen.generated), "addresses": encoded_or_null(chosen.addresses)}
    update_row(connection, "clusters", cluster_id, values)


def put_seen(connection: Connection, run_id: int, facts: DeploymentFacts) -> None:
    """Store the facts of a run. Runs share equal parts."""
    for uid, part in {_COMMON: facts.common, **facts.nodes}.items():
        put_part(connection, run_id, uid, part)


def put_part(connection: Connection, run_id: int, uid: str, part: Mapping[str, Any]) -> None:
    """Store a part of the facts of a run, its `SETTINGS` or its `NETWORKS`. Runs share equal parts."""
    import hashlib  # few commands store facts, and it takes 3 ms

    body = encode(part)
    digest = hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()
    connection.execute("INSERT OR IGNORE INTO fact_parts (digest, body) VALUES (?, ?)", (digest, body))
    connection.execute(
        "INSERT OR REPLACE INTO transaction_facts (transaction_id, uid, part_id) "
        "SELECT ?, ?, id FROM fact_parts WHERE digest = ?",
        (run_id, uid, digest),
    )


def seen(connection: Connection, run_id: int) -> DeploymentFacts:
    rows = connection.execute(
        "SELECT f.uid, p.body FROM transaction_facts f JOIN fact_parts p ON p.id = f.part_id "
        "WHERE f.transaction_id = ? AND f.uid NOT IN (?, ?) ORDER BY f.uid",
        (run_id, SETTINGS, NETWORKS),
    )
    return _facts({uid: decode(body) for uid, body in rows})


def part_of(connection: Connection, run_id: int, uid: str) -> dict[str, Any] | None:
    """A part that `put_part` stored for a run, or None."""
    query = "SELECT body FROM transaction_facts JOIN fact_parts ON id = part_id WHERE transaction_id = ? AND uid = ?"
    body = one(connection, query, run_id, uid)
    return None if body is None else dict(decode(body))


def _facts(parts: Mapping[str, Mapping[str, Any]]) -> DeploymentFacts:
    return DeploymentFacts(parts.get(_COMMON, {}), {uid: part for uid, part in parts.items() if uid != _COMMON})
