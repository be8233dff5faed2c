"""The SQL statements of the steps in `migrations`. Released statements are never edited; a change is a new step.

Values without a fixed shape are JSON in text columns. NULL there means empty, or, for tasks and for metadata of graphs,
absent. Ids that users see are never used twice (AUTOINCREMENT). An owner's graphs are removed with it: a foreign
key removes its couplings, and a trigger removes the graph of a removed coupling.

A row of `transactions` is a parent run, or the run of one graph (a child, which has a row in `history` for each task
instance). Events are only appended. Facts are stored by their content, so that runs with equal facts share them;
`transaction_facts` has the parts of a run (uid "" is the common part, "/settings" the settings at its beginning).

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
    """The table that couples graphs to owners of a level, and the trigger that removes a graph with its coupling."""
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
    # Before this step all graphs of plugins came from their packages, and an upgrade of a package has to replace them.
    "UPDATE deployment_graphs SET derived = 1 WHERE id IN (SELECT deployment_graph_id FROM plugin_deployment_graphs)",
    "ALTER TABLE releases ADD COLUMN plugin_id INTEGER REFERENCES plugins (id)",
    "CREATE INDEX releases_plugin ON releases (plugin_id)",
    "ALTER TABLE clusters ADD COLUMN settings TEXT",
)
"""Installed packages need their files and contents, the graphs derived from them, and the releases they define;
environments need their own settings."""

DESCRIPTIONS = (
    "ALTER TABLE clusters ADD COLUMN metadata TEXT",
    "ALTER TABLE nodes ADD COLUMN labels TEXT",
)
"""The roles, tags and volumes that an environment describes itself (the names are those of a release), and the labels
of nodes."""

KEPT_FACTS = (
    "ALTER TABLE clusters ADD COLUMN generated TEXT",
    "ALTER TABLE clusters ADD COLUMN addresses TEXT",
)
"""Facts need secrets that are generated once (nested as in the `generated` block of the release), and the addresses
of nodes (by network) that were assigned first."""

WARNINGS = ("ALTER TABLE deployment_graphs ADD COLUMN warnings TEXT",)
"""The warnings about the documents of graphs, which cannot be computed from the stored tasks."""

COPIED_GRAPHS = ("ALTER TABLE clusters ADD COLUMN copied_graphs TEXT",)
"""The digests of the graphs that a copy of an environment was made of."""

RUNS = (
    """
    CREATE TABLE transactions (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        uuid TEXT NOT NULL UNIQUE,
        cluster_id INTEGER NOT NULL REFERENCES clusters (id) ON DELETE CASCADE,
        parent_id INTEGER REFERENCES transactions (id) ON DELETE CASCADE,
        name TEXT NOT NULL,
        graph_type TEXT NOT NULL,
        status TEXT NOT NULL,
        progress INTEGER NOT NULL,
        message TEXT NOT NULL,
        result TEXT,
        request TEXT NOT NULL,
        counts INTEGER NOT NULL,
        time_start TEXT,
        time_end TEXT,
        stop TEXT NOT NULL,
        digest TEXT NOT NULL,
        findings TEXT,
        nodes TEXT,
        forgotten TEXT,
        definitions TEXT
    )
    """,
    "CREATE INDEX transactions_cluster ON transactions (cluster_id, status)",
    "CREATE INDEX transactions_parent ON transactions (parent_id)",
    """
    CREATE TABLE history (
        transaction_id INTEGER NOT NULL REFERENCES transactions (id) ON DELETE CASCADE,
        vertex INTEGER NOT NULL,
        task TEXT NOT NULL,
        node TEXT,
        type TEXT NOT NULL,
        status TEXT NOT NULL,
        reason TEXT NOT NULL DEFAULT '',
        because INTEGER,
        message TEXT NOT NULL DEFAULT '',
        time_start TEXT,
        time_end TEXT,
        return_code INTEGER,
        attempts INTEGER NOT NULL DEFAULT 0,
        summary TEXT,
        PRIMARY KEY (transaction_id, vertex)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE events (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        time TEXT NOT NULL,
        kind TEXT NOT NULL,
        parent_id INTEGER NOT NULL REFERENCES transactions (id) ON DELETE CASCADE,
        transaction_id INTEGER NOT NULL REFERENCES transactions (id) ON DELETE CASCADE,
        vertex INTEGER,
        node TEXT,
        status TEXT NOT NULL,
        reason TEXT NOT NULL,
        message TEXT NOT NULL,
        progress INTEGER NOT NULL
    )
    """,
    "CREATE INDEX events_parent ON events (parent_id, id)",
    "CREATE INDEX events_transaction ON events (transaction_id)",
    """
    CREATE TABLE runners (
        cluster_id INTEGER PRIMARY KEY REFERENCES clusters (id) ON DELETE CASCADE,
        transaction_id INTEGER NOT NULL REFERENCES transactions (id) ON DELETE CASCADE,
        pid INTEGER NOT NULL,
        boot_id TEXT NOT NULL,
        start_time TEXT NOT NULL,
        heartbeat TEXT NOT NULL
    )
    """,
    "CREATE INDEX runners_transaction ON runners (transaction_id)",
    """
    CREATE TABLE cluster_facts (
        cluster_id INTEGER NOT NULL REFERENCES clusters (id) ON DELETE CASCADE,
        uid TEXT NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (cluster_id, uid)
    )
    """,
    "CREATE TABLE fact_parts (id INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE, body TEXT NOT NULL)",
    """
    CREATE TABLE transaction_facts (
        transaction_id INTEGER NOT NULL REFERENCES transactions (id) ON DELETE CASCADE,
        uid TEXT NOT NULL,
        part_id INTEGER NOT NULL REFERENCES fact_parts (id),
        PRIMARY KEY (transaction_id, uid)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX transaction_facts_part ON transaction_facts (part_id)",
    """
    CREATE TABLE sequences (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        release_id INTEGER NOT NULL REFERENCES releases (id) ON DELETE CASCADE,
        name TEXT NOT NULL,
        graph_types TEXT NOT NULL,
        UNIQUE (release_id, name)
    )
    """,
)

NETWORKS = (
    "ALTER TABLE clusters ADD COLUMN networks TEXT",
    """
    CREATE TABLE vips (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        cluster_id INTEGER NOT NULL REFERENCES clusters (id) ON DELETE CASCADE,
        name TEXT NOT NULL,
        ip_addr TEXT NOT NULL,
        network TEXT NOT NULL,
        namespace TEXT,
        is_user_defined INTEGER NOT NULL,
        UNIQUE (cluster_id, name)
    )
    """,
    """
    CREATE TABLE node_parts (
        node_id INTEGER NOT NULL REFERENCES nodes (id) ON DELETE CASCADE,
        part TEXT NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (node_id, part)
    ) WITHOUT ROWID
    """,
)
"""The network configuration of an environment where it differs from its release, virtual addresses, and the disks and
interfaces of nodes."""

LEFTOVERS = (
    """
    CREATE TABLE leftovers (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        due TEXT NOT NULL,
        attempts INTEGER NOT NULL,
        body TEXT NOT NULL
    )
    """,
    "CREATE INDEX leftovers_due ON leftovers (due)",
)
"""The files of deleted runs, here and on nodes, until they are removed."""
