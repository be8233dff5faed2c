PRAGMA application_id = 1179993420;
PRAGMA user_version = 3;
BEGIN TRANSACTION;
CREATE TABLE cluster_deployment_graphs (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            type TEXT NOT NULL,
            deployment_graph_id INTEGER NOT NULL UNIQUE REFERENCES deployment_graphs (id) ON DELETE CASCADE,
            cluster_id INTEGER NOT NULL REFERENCES clusters (id) ON DELETE CASCADE,
            UNIQUE (cluster_id, type)
        );
INSERT INTO "cluster_deployment_graphs" VALUES(1,'default',2,1);
CREATE TABLE cluster_plugins (
        cluster_id INTEGER NOT NULL REFERENCES clusters (id) ON DELETE CASCADE,
        plugin_id INTEGER NOT NULL REFERENCES plugins (id),
        PRIMARY KEY (cluster_id, plugin_id)
    ) WITHOUT ROWID
    ;
CREATE TABLE clusters (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL UNIQUE,
        release_id INTEGER NOT NULL REFERENCES releases (id),
        status TEXT NOT NULL,
        net_segment_type TEXT NOT NULL
    , settings TEXT);
INSERT INTO "clusters" VALUES(1,'prod',1,'new','vlan',NULL);
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
    );
INSERT INTO "deployment_graph_tasks" VALUES(1,2,0,'said','"2.0.0"','"shell"',NULL,NULL,NULL,'["compute"]',NULL,NULL,NULL,'["other"]',NULL,NULL,'{"cmd":"echo here # é","timeout":60}',NULL,'["type","version","roles","requires","parameters"]',0,'graph.yaml',1,'{"id":1,"type":2,"version":3,"roles":4,"requires":5,"parameters":6,"parameters.cmd":6,"parameters.timeout":6}');
INSERT INTO "deployment_graph_tasks" VALUES(2,2,1,'other',NULL,'"stage"',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'["type"]',0,'graph.yaml',7,'{"id":7,"type":8}');
CREATE TABLE deployment_graphs (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT,
        node_filter TEXT,
        on_success TEXT,
        on_error TEXT,
        on_stop TEXT
    , derived INTEGER NOT NULL DEFAULT 0);
INSERT INTO "deployment_graphs" VALUES(1,NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO "deployment_graphs" VALUES(2,NULL,NULL,NULL,NULL,NULL,0);
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
    );
INSERT INTO "nodes" VALUES(1,'node-1',1,'provisioned',NULL,'["compute"]',NULL,'','',1,'local',NULL,NULL,'',1,0);
INSERT INTO "nodes" VALUES(2,'node-2',1,'provisioned',NULL,'["compute"]',NULL,'','',1,'local',NULL,NULL,'',1,0);
CREATE TABLE plugin_deployment_graphs (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            type TEXT NOT NULL,
            deployment_graph_id INTEGER NOT NULL UNIQUE REFERENCES deployment_graphs (id) ON DELETE CASCADE,
            plugin_id INTEGER NOT NULL REFERENCES plugins (id) ON DELETE CASCADE,
            UNIQUE (plugin_id, type)
        );
CREATE TABLE plugins (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL,
        version TEXT NOT NULL,
        title TEXT NOT NULL,
        package_version TEXT NOT NULL,
        metadata TEXT, directory TEXT NOT NULL DEFAULT '', origin TEXT NOT NULL DEFAULT '', by_release INTEGER NOT NULL DEFAULT 0, package TEXT,
        UNIQUE (name, version)
    );
CREATE TABLE release_deployment_graphs (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            type TEXT NOT NULL,
            deployment_graph_id INTEGER NOT NULL UNIQUE REFERENCES deployment_graphs (id) ON DELETE CASCADE,
            release_id INTEGER NOT NULL REFERENCES releases (id) ON DELETE CASCADE,
            UNIQUE (release_id, type)
        );
INSERT INTO "release_deployment_graphs" VALUES(1,'default',1,1);
CREATE TABLE releases (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL,
        version TEXT NOT NULL,
        operating_system TEXT NOT NULL,
        state TEXT NOT NULL,
        description TEXT NOT NULL,
        metadata TEXT, plugin_id INTEGER REFERENCES plugins (id),
        UNIQUE (name, version)
    );
INSERT INTO "releases" VALUES(1,'Old','old-1.0','Ubuntu','available','','{"roles_metadata":{"controller":{"name":"Controller","has_primary":true},"compute":{"name":"Compute"}}}',NULL);
CREATE INDEX clusters_release ON clusters (release_id);
CREATE INDEX nodes_cluster ON nodes (cluster_id);
CREATE INDEX cluster_plugins_plugin ON cluster_plugins (plugin_id);
CREATE TRIGGER release_graph_ends AFTER DELETE ON release_deployment_graphs BEGIN
            DELETE FROM deployment_graphs WHERE id = OLD.deployment_graph_id;
        END;
CREATE TRIGGER plugin_graph_ends AFTER DELETE ON plugin_deployment_graphs BEGIN
            DELETE FROM deployment_graphs WHERE id = OLD.deployment_graph_id;
        END;
CREATE TRIGGER cluster_graph_ends AFTER DELETE ON cluster_deployment_graphs BEGIN
            DELETE FROM deployment_graphs WHERE id = OLD.deployment_graph_id;
        END;
CREATE INDEX deployment_graph_tasks_order ON deployment_graph_tasks (deployment_graph_id, position, task_name);
CREATE VIEW graph_owners AS
        SELECT c.deployment_graph_id, c.type, 'release' AS level, o.id AS owner_id, o.name, o.version
        FROM release_deployment_graphs c JOIN releases o ON o.id = c.release_id
        UNION ALL
        SELECT c.deployment_graph_id, c.type, 'plugin', o.id, o.name, o.version
        FROM plugin_deployment_graphs c JOIN plugins o ON o.id = c.plugin_id
        UNION ALL
        SELECT c.deployment_graph_id, c.type, 'cluster', o.id, o.name, ''
        FROM cluster_deployment_graphs c JOIN clusters o ON o.id = c.cluster_id;
CREATE INDEX releases_plugin ON releases (plugin_id);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('releases',1);
INSERT INTO "sqlite_sequence" VALUES('deployment_graphs',2);
INSERT INTO "sqlite_sequence" VALUES('release_deployment_graphs',1);
INSERT INTO "sqlite_sequence" VALUES('clusters',1);
INSERT INTO "sqlite_sequence" VALUES('cluster_deployment_graphs',1);
INSERT INTO "sqlite_sequence" VALUES('nodes',2);
COMMIT;
