"""Graphs in the store: one per owner and type.

A graph's type and owner stand on its coupling, as in Nailgun; the view `graph_owners` shows all couplings with
the names of their owners. Metadata that was never stated is NULL, everything else is JSON.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from fuelclient.model.graph import METADATA, Graph, GraphSummary, Level, Owner
from fuelclient.store import tasks
from fuelclient.store.database import Connection
from fuelclient.store.encoding import decode, encode

_SELECT = """
    SELECT g.id, w.type, w.level, w.owner_id, w.name, w.version, g.name,
        g.node_filter, g.on_success, g.on_error, g.on_stop
    FROM graph_owners w JOIN deployment_graphs g ON g.id = w.deployment_graph_id
"""
_COUPLE = {
    Level.RELEASE: "INSERT INTO release_deployment_graphs (type, deployment_graph_id, release_id) VALUES (?, ?, ?)",
    Level.PLUGIN: "INSERT INTO plugin_deployment_graphs (type, deployment_graph_id, plugin_id) VALUES (?, ?, ?)",
    Level.CLUSTER: "INSERT INTO cluster_deployment_graphs (type, deployment_graph_id, cluster_id) VALUES (?, ?, ?)",
}


def find(connection: Connection, level: Level, owner_id: int, graph_type: str) -> Graph | None:
    """The graph of one owner and type with its tasks, or None."""
    row = connection.execute(
        _SELECT + "WHERE w.level = ? AND w.owner_id = ? AND w.type = ?", (level, owner_id, graph_type)
    ).fetchone()
    if row is None:
        return None
    return Graph(row[0], row[1], _owner(row), tasks.of_graph(connection, row[0]), row[6], _metadata(row[7:]))


def find_id(connection: Connection, level: Level, owner_id: int, graph_type: str) -> int | None:
    """The id of the graph of one owner and type, or None."""
    row = connection.execute(
        "SELECT deployment_graph_id FROM graph_owners WHERE level = ? AND owner_id = ? AND type = ?",
        (level, owner_id, graph_type),
    ).fetchone()
    return int(row[0]) if row else None


def types(connection: Connection, level: Level, owner_id: int) -> list[str]:
    """The types of which one owner has a graph, sorted."""
    rows = connection.execute(
        "SELECT type FROM graph_owners WHERE level = ? AND owner_id = ? ORDER BY type", (level, owner_id)
    )
    return [row[0] for row in rows]


def summaries(connection: Connection, owners: Collection[tuple[Level, int]] | None = None) -> list[GraphSummary]:
    """All graphs by id, or those of `owners` only, without the bodies of their tasks."""
    found = []
    for row in connection.execute(_SELECT + "ORDER BY g.id").fetchall():
        owner = _owner(row)
        if owners is None or (owner.level, owner.id) in owners:
            found.append(GraphSummary(row[0], row[1], owner, row[6], tasks.names(connection, row[0])))
    return found


def create(connection: Connection, level: Level, owner_id: int, graph_type: str) -> int:
    """An empty graph, which the owner must not have yet; its id."""
    cursor = connection.execute("INSERT INTO deployment_graphs DEFAULT VALUES")
    graph_id = int(cursor.lastrowid or 0)
    connection.execute(_COUPLE[level], (graph_type, graph_id, owner_id))
    return graph_id


def is_derived(connection: Connection, graph_id: int) -> bool:
    """Whether a graph was derived from the package of a plugin, and not uploaded."""
    row = connection.execute("SELECT derived FROM deployment_graphs WHERE id = ?", (graph_id,)).fetchone()
    return bool(row and row[0])


def mark_derived(connection: Connection, graph_id: int, derived: bool) -> None:
    """The graph counts as derived from the package of a plugin, or as uploaded."""
    connection.execute("UPDATE deployment_graphs SET derived = ? WHERE id = ?", (derived, graph_id))


def reset(connection: Connection, graph_id: int) -> None:
    """The graph has neither name nor metadata; its tasks stay."""
    connection.execute(
        "UPDATE deployment_graphs SET name = NULL, node_filter = NULL, on_success = NULL, on_error = NULL, "
        "on_stop = NULL WHERE id = ?",
        (graph_id,),
    )


def describe(connection: Connection, graph_id: int, name: str | None, metadata: Mapping[str, Any]) -> None:
    """The graph has this name and metadata, where they are stated; the rest stays as it is."""
    texts = [encode(metadata[key]) if key in metadata else None for key in METADATA]
    connection.execute(
        "UPDATE deployment_graphs SET name = coalesce(?, name), node_filter = coalesce(?, node_filter), "
        "on_success = coalesce(?, on_success), on_error = coalesce(?, on_error), on_stop = coalesce(?, on_stop) "
        "WHERE id = ?",
        (name, *texts, graph_id),
    )


def delete(connection: Connection, graph_id: int) -> None:
    """Remove a graph with its tasks and its coupling."""
    connection.execute("DELETE FROM deployment_graphs WHERE id = ?", (graph_id,))


def _owner(row: tuple[Any, ...]) -> Owner:
    return Owner(Level(row[2]), row[3], row[4], row[5])


def _metadata(texts: tuple[str | None, ...]) -> dict[str, Any]:
    return {key: decode(text) for key, text in zip(METADATA, texts, strict=True) if text is not None}
