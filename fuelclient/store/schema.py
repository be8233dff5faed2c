"""The statements of the schema's steps.

Every value that has no fixed shape is JSON in a text column; NULL there means empty (nouns) or not stated (tasks
and metadata of graphs). Ids that users see are never given twice (AUTOINCREMENT). An owner takes its graphs along
when it goes: its couplings go by foreign key, and a trigger takes the graph of a coupling that goes.

Source of the graph tables: the specification "custom-graph-execution", section Data model, and Nailgun's tables.
"""

from __future__ import annotations

NOUNS = (
    """
    CREATE TABLE releases (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL,
        version TEXT NOT NULL,
        operating_system TEXT NOT NULL,
        state TEXT NOT NULL,
        description TEXT NOT NULL,
        metadata TEXT,
        UNIQUE (name, version)
    )
    """,
    """
    CREATE TABLE clusters (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL UNIQUE,
        release_id INTEGER NOT NULL REFERENCES releases (id),
        status TEXT NOT NULL,
        net_segment_type TEXT NOT NULL
    )
    """,
    "CREATE INDEX clusters_release ON clusters (release_id)",
    """
    CREATE TABLE nodes (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL,
        cluster_id INTEGER REFERENCES clusters (id) ON DELETE SET NULL,
        status TEXT NOT NULL,
        roles TEXT,
        pending_roles TEXT,
        primary_tags TEXT,
        ip TEXT NOT NULL,
        mac TEXT NOT NULL,
        online INTEGER NOT NULL,
        executor TEXT NOT NULL,
        ssh TEXT,
        attributes TEXT,
        error_type TEXT NOT NULL,
        pending_addition INTEGER NOT NULL,
        pending_deletion INTEGER NOT NULL
    )
    """,
    "CREATE INDEX nodes_cluster ON nodes (cluster_id)",
    """
    CREATE TABLE plugins (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL,
        version TEXT NOT NULL,
        title TEXT NOT NULL,
        package_version TEXT NOT NULL,
        metadata TEXT,
        UNIQUE (name, version)
    )
    """,
    """
    CREATE TABLE cluster_plugins (
        cluster_id INTEGER NOT NULL REFERENCES clusters (id) ON DELETE CASCADE,
        plugin_id INTEGER NOT NULL REFERENCES plugins (id),
        PRIMARY KEY (cluster_id, plugin_id)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX cluster_plugins_plugin ON cluster_plugins (plugin_id)",
)


def _coupling(level: str) -> tuple[str, ...]:
    """The table that couples graphs to owners of one level, and the trigger that ends a graph with it."""
    return (
        f"""
        CREATE TABLE {level}_deployment_graphs (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            type TEXT NOT NULL,
            deployment_graph_id INTEGER NOT NULL UNIQUE REFERENCES deployment_graphs (id) ON DELETE CASCADE,
            {level}_id INTEGER NOT NULL REFERENCES {level}s (id) ON DELETE CASCADE,
            UNIQUE ({level}_id, type)
        )
        """,
        f"""
        CREATE TRIGGER {level}_graph_ends AFTER DELETE ON {level}_deployment_graphs BEGIN
            DELETE FROM deployment_graphs WHERE id = OLD.deployment_graph_id;
        END
        """,  # noqa: S608  # the three levels are written below
    )


GRAPHS = (
    """
    CREATE TABLE deployment_graphs (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT,
        node_filter TEXT,
        on_success TEXT,
        on_error TEXT,
        on_stop TEXT
    )
    """,
    *_coupling("release"),
    *_coupling("plugin"),
    *_coupling("cluster"),
    """
    CREATE TABLE deployment_graph_tasks (
        id INTEGER PRIMARY KEY,
        deployment_graph_id INTEGER NOT NULL REFERENCES deployment_graphs (id) ON DELETE CASCADE,
        position INTEGER NOT NULL,
        task_name TEXT NOT NULL,
        version TEXT,
        type TEXT,
        condition TEXT,
        "groups" TEXT,
        tasks TEXT,
        roles TEXT,
        reexecute_on TEXT,
        refresh_on TEXT,
        required_for TEXT,
        requires TEXT,
        cross_depended_by TEXT,
        cross_depends TEXT,
        parameters TEXT,
        _custom TEXT,
        stated TEXT NOT NULL,
        legacy INTEGER NOT NULL,
        source_file TEXT NOT NULL,
        source_line INTEGER NOT NULL,
        source_lines TEXT,
        UNIQUE (deployment_graph_id, task_name)
    )
    """,
    "CREATE INDEX deployment_graph_tasks_order ON deployment_graph_tasks (deployment_graph_id, position, task_name)",
    """
    CREATE VIEW graph_owners AS
        SELECT c.deployment_graph_id, c.type, 'release' AS level, o.id AS owner_id, o.name, o.version
        FROM release_deployment_graphs c JOIN releases o ON o.id = c.release_id
        UNION ALL
        SELECT c.deployment_graph_id, c.type, 'plugin', o.id, o.name, o.version
        FROM plugin_deployment_graphs c JOIN plugins o ON o.id = c.plugin_id
        UNION ALL
        SELECT c.deployment_graph_id, c.type, 'cluster', o.id, o.name, ''
        FROM cluster_deployment_graphs c JOIN clusters o ON o.id = c.cluster_id
    """,
)

PACKAGES = (
    "ALTER TABLE plugins ADD COLUMN directory TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE plugins ADD COLUMN origin TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE plugins ADD COLUMN by_release INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE plugins ADD COLUMN package TEXT",
    "ALTER TABLE deployment_graphs ADD COLUMN derived INTEGER NOT NULL DEFAULT 0",
    # Before this step plugins had the graphs of their packages, and an upgrade is to bring newer ones.
    "UPDATE deployment_graphs SET derived = 1 WHERE id IN (SELECT deployment_graph_id FROM plugin_deployment_graphs)",
    "ALTER TABLE releases ADD COLUMN plugin_id INTEGER REFERENCES plugins (id)",
    "CREATE INDEX releases_plugin ON releases (plugin_id)",
    "ALTER TABLE clusters ADD COLUMN settings TEXT",
)
"""What installed packages need: their files and contents, which graphs were derived from them and which releases
they define; and what environments set beside the defaults."""

DESCRIPTIONS = (
    "ALTER TABLE clusters ADD COLUMN metadata TEXT",
    "ALTER TABLE nodes ADD COLUMN labels TEXT",
)
"""The roles, tags and volumes that an environment describes itself, under the names that a release has them; and the
labels of nodes."""
