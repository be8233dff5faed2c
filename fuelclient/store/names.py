"""The ids and names that complete a command line, read without building values of the model.

Each noun is one query: a shell waits for the answer at each press of Tab.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fuelclient.store.database import Connection
from fuelclient.store.rows import encode, mapping

Row = tuple[str, str, str]
"""An id (empty for a noun with names only), a name (empty for a noun with ids only), and a description for people."""

_MAX_RUNS = 100
"""How many runs are listed: older ones are rarely needed, and a screen shows no more."""

_LAYERS = """
    (level = 'cluster' AND owner_id = :cluster)
    OR (level = 'release' AND owner_id = (SELECT release_id FROM clusters WHERE id = :cluster))
    OR (level = 'plugin' AND owner_id IN (SELECT plugin_id FROM cluster_plugins WHERE cluster_id = :cluster))
"""


_QUERIES: Mapping[str, str] = {
    "environment": "SELECT id, name, status FROM clusters ORDER BY id",
    "release": "SELECT id, name, version FROM releases ORDER BY id",
    "plugin": "SELECT id, name, version FROM plugins ORDER BY name, id",
    "sequence": "SELECT id, name, '' FROM sequences ORDER BY id",
    "node": "SELECT id, name, status FROM nodes WHERE :cluster IS NULL OR cluster_id = :cluster ORDER BY id",
    "run": f"""
        SELECT id, '', status || ', ' || CASE graph_type WHEN '' THEN name ELSE graph_type END FROM transactions
        WHERE :cluster IS NULL OR cluster_id = :cluster ORDER BY id DESC LIMIT {_MAX_RUNS}
    """,  # noqa: S608 - a number of ours
    "type": f"SELECT DISTINCT '', type, '' FROM graph_owners WHERE :cluster IS NULL OR ({_LAYERS}) ORDER BY type",  # noqa: S608 - ours
    "task": f"""
        SELECT '', task_name, max(coalesce(t.type, '')) FROM deployment_graph_tasks t
        JOIN graph_owners o ON o.deployment_graph_id = t.deployment_graph_id
        WHERE (:cluster IS NULL OR {_LAYERS}) AND (:types = '[]' OR o.type IN (SELECT value FROM json_each(:types)))
        GROUP BY task_name ORDER BY task_name
    """,  # noqa: S608 - a text of ours
    "instance": """
        SELECT DISTINCT '', task || '/' || node, status FROM history
        WHERE node IS NOT NULL AND transaction_id IN (SELECT id FROM transactions WHERE id = :run OR parent_id = :run)
        ORDER BY task, node
    """,
}
"""The query for each noun, in one environment or in all. Runs have their status and graph, the newest first. Types are
those of an environment with its release and plugins; instances are those of a run, or of its children."""


def of(
    connection: Connection, noun: str, cluster: int | None, run: int | None, graph_types: Sequence[str]
) -> list[Row]:
    """The rows of a noun; none for an unknown noun. Without `graph_types`, the tasks of all types are included."""
    if noun == "role":
        return _roles(connection, cluster)
    values = {"cluster": cluster, "run": run, "types": encode([*graph_types])}
    rows = connection.execute(_QUERIES[noun], values) if noun in _QUERIES else ()
    return [(str(key), str(name), str(description)) for key, name, description in rows]


def _roles(connection: Connection, cluster: int | None) -> list[Row]:
    """The roles of an environment's release and of its own, or those of all releases and environments.

    Roles of plugins are left out: they are inside the packages.
    """
    query = """
        SELECT metadata FROM releases WHERE :cluster IS NULL
            OR id = (SELECT release_id FROM clusters WHERE id = :cluster)
        UNION ALL SELECT metadata FROM clusters WHERE :cluster IS NULL OR id = :cluster
    """
    titles: dict[str, str] = {}
    for (metadata,) in connection.execute(query, {"cluster": cluster}):
        described = mapping(metadata).get("roles_metadata") if metadata else None
        for name, role in described.items() if isinstance(described, dict) else ():
            titles.setdefault(str(name), str(role.get("name") or "") if isinstance(role, dict) else "")
    return [("", name, title) for name, title in sorted(titles.items())]
