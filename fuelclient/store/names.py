"""The ids and names that complete a command line, without the values behind them.

Each function is one query that builds no models: a shell waits for the answer at each press of Tab.
"""

from __future__ import annotations

from collections.abc import Sequence

from fuelclient.store.database import Connection
from fuelclient.store.rows import mapping

Row = tuple[str, str, str]
"""An id (empty for what has only a name), a name (empty for what has only an id), and what people know it by."""

_NEWEST = 100
"""How many runs are listed: older ones are rarely looked at, and a screen holds no more."""

_LAYERS = """
    (level = 'cluster' AND owner_id = :cluster)
    OR (level = 'release' AND owner_id = (SELECT release_id FROM clusters WHERE id = :cluster))
    OR (level = 'plugin' AND owner_id IN (SELECT plugin_id FROM cluster_plugins WHERE cluster_id = :cluster))
"""


def clusters(connection: Connection) -> list[Row]:
    """Return all environments, each known by its status."""
    return _rows(connection, "SELECT id, name, status FROM clusters ORDER BY id")


def releases(connection: Connection) -> list[Row]:
    """Return all releases, each known by its version."""
    return _rows(connection, "SELECT id, name, version FROM releases ORDER BY id")


def plugins(connection: Connection) -> list[Row]:
    """Return all plugins, each known by its version."""
    return _rows(connection, "SELECT id, name, version FROM plugins ORDER BY name, id")


def sequences(connection: Connection) -> list[Row]:
    """Return all sequences; nothing more is known of them."""
    return _rows(connection, "SELECT id, name, '' FROM sequences ORDER BY id")


def nodes(connection: Connection, cluster: int | None) -> list[Row]:
    """Return the nodes of an environment, or all, each known by its status."""
    query = "SELECT id, name, status FROM nodes WHERE :cluster IS NULL OR cluster_id = :cluster ORDER BY id"
    return _rows(connection, query, cluster=cluster)


def runs(connection: Connection, cluster: int | None) -> list[Row]:
    """Return the newest runs of an environment, or of all, the newest first, each known by its status and graph."""
    query = f"""
        SELECT id, '', status || ', ' || CASE graph_type WHEN '' THEN name ELSE graph_type END FROM transactions
        WHERE :cluster IS NULL OR cluster_id = :cluster ORDER BY id DESC LIMIT {_NEWEST}
    """  # noqa: S608 - a number of ours
    return _rows(connection, query, cluster=cluster)


def graph_types(connection: Connection, cluster: int | None) -> list[Row]:
    """Return the graph types of an environment with its release and plugins, or all."""
    chosen = f"WHERE :cluster IS NULL OR ({_LAYERS})"
    query = f"SELECT DISTINCT '', type, '' FROM graph_owners {chosen} ORDER BY type"  # noqa: S608 - a text of ours
    return _rows(connection, query, cluster=cluster)


def tasks(connection: Connection, cluster: int | None, graph_types: Sequence[str]) -> list[Row]:
    """Return the tasks of an environment, or all; only those of `graph_types` unless that is empty."""
    marks = ", ".join(f":type{number}" for number in range(len(graph_types)))
    query = f"""
        SELECT '', task_name, max(coalesce(t.type, '')) FROM deployment_graph_tasks t
        JOIN graph_owners o ON o.deployment_graph_id = t.deployment_graph_id
        WHERE (:cluster IS NULL OR {_LAYERS}) AND ({f"o.type IN ({marks})" if marks else "1"})
        GROUP BY task_name ORDER BY task_name
    """  # noqa: S608 - marks are names of ours
    values = {f"type{number}": graph_type for number, graph_type in enumerate(graph_types)}
    return _rows(connection, query, cluster=cluster, **values)


def instances(connection: Connection, run: int | None) -> list[Row]:
    """Return the task instances of a run or of its children as TASK/NODE, each known by its status."""
    query = """
        SELECT DISTINCT '', task || '/' || node, status FROM history
        WHERE node IS NOT NULL AND transaction_id IN (SELECT id FROM transactions WHERE id = :run OR parent_id = :run)
        ORDER BY task, node
    """
    return _rows(connection, query, run=run)


def roles(connection: Connection, cluster: int | None) -> list[Row]:
    """Return the roles of an environment's release and of its own, or those of all releases.

    Roles of plugins are left out: they are inside the packages.
    """
    query = """
        SELECT metadata FROM releases WHERE :cluster IS NULL
            OR id = (SELECT release_id FROM clusters WHERE id = :cluster)
        UNION ALL SELECT metadata FROM clusters WHERE :cluster IS NULL OR id = :cluster
    """
    found: dict[str, str] = {}
    for (metadata,) in connection.execute(query, {"cluster": cluster}):
        described = mapping(metadata).get("roles_metadata") if metadata else None
        for name, role in described.items() if isinstance(described, dict) else ():
            found.setdefault(str(name), str(role.get("name") or "") if isinstance(role, dict) else "")
    return [("", name, title) for name, title in sorted(found.items())]


def _rows(connection: Connection, query: str, **values: object) -> list[Row]:
    return [(str(key), str(name), str(known_by)) for key, name, known_by in connection.execute(query, values)]
