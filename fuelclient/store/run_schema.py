"""The statements of the schema's step for executions.

A transaction is a parent, or the run of one graph (a child, with a row in `history` for each task instance). Events
are only ever appended. Facts are stored by what they are, so that runs that see the same share them; which parts
a run saw stands in `transaction_facts` (uid "" is the common part, "/settings" the settings it was begun with).
"""

from __future__ import annotations

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
