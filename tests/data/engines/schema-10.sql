PRAGMA application_id = 1179993420;
PRAGMA user_version = 10;
BEGIN TRANSACTION;
CREATE TABLE cluster_deployment_graphs (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            type TEXT NOT NULL,
            deployment_graph_id INTEGER NOT NULL UNIQUE REFERENCES deployment_graphs (id) ON DELETE CASCADE,
            cluster_id INTEGER NOT NULL REFERENCES clusters (id) ON DELETE CASCADE,
            UNIQUE (cluster_id, type)
        );
INSERT INTO "cluster_deployment_graphs" VALUES(1,'default',2,1);
CREATE TABLE cluster_facts (
        cluster_id INTEGER NOT NULL REFERENCES clusters (id) ON DELETE CASCADE,
        uid TEXT NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (cluster_id, uid)
    );
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
    , settings TEXT, metadata TEXT, networks TEXT, generated TEXT, addresses TEXT, copied_graphs TEXT);
INSERT INTO "clusters" VALUES(1,'prod',1,'operational','vlan',NULL,NULL,NULL,NULL,'{"fuelweb_admin":{"1":"10.20.0.129","2":"10.20.0.130"}}',NULL);
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
INSERT INTO "deployment_graph_tasks" VALUES(1,2,0,'said','"2.0.0"','"shell"',NULL,NULL,NULL,'["compute"]',NULL,NULL,NULL,'["other"]',NULL,NULL,'{"cmd":"echo here # é","timeout":60}',NULL,'["type","version","roles","requires","parameters"]',0,'/srv/graph.yaml',1,'{"id":1,"type":2,"version":3,"roles":4,"requires":5,"parameters":6,"parameters.cmd":6,"parameters.timeout":6}');
INSERT INTO "deployment_graph_tasks" VALUES(2,2,1,'other',NULL,'"stage"',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'["type"]',0,'/srv/graph.yaml',7,'{"id":7,"type":8}');
CREATE TABLE deployment_graphs (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT,
        node_filter TEXT,
        on_success TEXT,
        on_error TEXT,
        on_stop TEXT
    , derived INTEGER NOT NULL DEFAULT 0, warnings TEXT);
INSERT INTO "deployment_graphs" VALUES(1,NULL,NULL,NULL,NULL,NULL,0,NULL);
INSERT INTO "deployment_graphs" VALUES(2,NULL,NULL,NULL,NULL,NULL,0,NULL);
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
    );
INSERT INTO "events" VALUES(1,'2026-11-23T01:08:05.281494','transaction',1,1,NULL,NULL,'running','','',0);
INSERT INTO "events" VALUES(2,'2026-11-23T01:08:06.462284','transaction',1,2,NULL,NULL,'running','','',0);
INSERT INTO "events" VALUES(3,'2026-11-23T01:08:06.463743','instance',1,2,2,NULL,'skipped','sync_point','',33);
INSERT INTO "events" VALUES(4,'2026-11-23T01:08:06.463743','instance',1,2,0,NULL,'running','','',33);
INSERT INTO "events" VALUES(5,'2026-11-23T01:08:06.463743','instance',1,2,1,NULL,'running','','',33);
INSERT INTO "events" VALUES(6,'2026-11-23T01:08:06.484005','instance',1,2,0,NULL,'ready','','',66);
INSERT INTO "events" VALUES(7,'2026-11-23T01:08:06.494136','instance',1,2,1,NULL,'ready','','',100);
INSERT INTO "events" VALUES(8,'2026-11-23T01:08:06.495316','node',1,2,NULL,'1','ready','','',0);
INSERT INTO "events" VALUES(9,'2026-11-23T01:08:06.495501','node',1,2,NULL,'2','ready','','',0);
INSERT INTO "events" VALUES(10,'2026-11-23T01:08:06.495945','transaction',1,2,NULL,NULL,'ready','','All 3 task instances ended.',100);
INSERT INTO "events" VALUES(11,'2026-11-23T01:08:06.496636','transaction',1,1,NULL,NULL,'ready','','All 3 task instances ended.',100);
CREATE TABLE fact_parts (id INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE, body TEXT NOT NULL);
INSERT INTO "fact_parts" VALUES(1,'2dbb7913bc5b5efd4a40f2149e6ffb022fcd9fb6975fd8cc3ddab55918c3b6c7','{"cluster":{"id":1,"name":"prod","mode":"ha_compact","status":"new","fuel_version":"1.0"},"release":{"name":"Old","version":"old-1.0","operating_system":"Ubuntu"},"openstack_version":"old-1.0","deployment_id":1,"deployment_mode":"ha_compact","fuel_version":"1.0","master_ip":"10.20.0.2","last_controller":null,"mp":[{"point":"1","weight":"1"},{"point":"2","weight":"2"}],"plugins":[],"nodes":[{"uid":"1","name":"node-1","fqdn":"node-1.domain.tld","user_node_name":"node-1","swift_zone":"1","role":"compute"},{"uid":"2","name":"node-2","fqdn":"node-2.domain.tld","user_node_name":"node-2","swift_zone":"2","role":"compute"}],"network_metadata":{"vips":{},"nodes":{"node-1":{"uid":"1","name":"node-1","fqdn":"node-1.domain.tld","user_node_name":"node-1","swift_zone":"1","node_roles":["compute"],"network_roles":{},"nova_cpu_pinning_enabled":false,"nova_hugepages_enabled":false},"node-2":{"uid":"2","name":"node-2","fqdn":"node-2.domain.tld","user_node_name":"node-2","swift_zone":"2","node_roles":["compute"],"network_roles":{},"nova_cpu_pinning_enabled":false,"nova_hugepages_enabled":false}}}}');
INSERT INTO "fact_parts" VALUES(2,'44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a','{}');
INSERT INTO "fact_parts" VALUES(3,'d8234406b57139943b461bb8bed43d5c3120f1ac88f8d09c41fec8ec01b99225','{"uid":"master","roles":["master"]}');
INSERT INTO "fact_parts" VALUES(4,'db020d3fe3d69645b14bd332bfb080a33b6a9f540ae459cff55901a424d3ed7f','{"uid":"1","fqdn":"node-1.domain.tld","user_node_name":"node-1","roles":["compute"],"ip":"10.20.0.129","status":"provisioned","online":true,"fail_if_error":false,"configuration":{},"configuration_options":{},"node_volumes":[],"glance":{"image_cache_max_size":"0"},"network_scheme":{"version":"1.1","provider":"lnx","interfaces":{"eth0":{"vendor_specific":{}},"eth1":{"vendor_specific":{}}},"endpoints":{"br-fw-admin":{"IP":["10.20.0.129/24"],"vendor_specific":{"provider_gateway":"10.20.0.1"},"gateway":"10.20.0.1"}},"roles":{},"transformations":[{"action":"add-br","name":"br-fw-admin"},{"action":"add-port","name":"eth0","bridge":"br-fw-admin"}]},"provision":{"power_type":"ssh","power_user":"root","power_pass":"= \"/root/.ssh/id_rsa\"","netboot_enabled":"1","uid":"1","name":"node-1","slave_name":"node-1","hostname":"node-1.domain.tld","power_address":"10.20.0.129","profile":null,"name_servers":"\"10.20.0.2\"","name_servers_search":"\"domain.tld\"","interfaces":{"eth0":{"mac_address":"52:54:00:00:00:01","static":"0","dns_name":"node-1.domain.tld","ip_address":"10.20.0.129","netmask":"255.255.255.0"},"eth1":{"mac_address":"52:54:01:00:00:01","static":"0"}},"interfaces_extra":{"eth0":{"peerdns":"no","onboot":"yes"},"eth1":{"peerdns":"no","onboot":"no"}},"kernel_options":{"netcfg/choose_interface":"52:54:00:00:00:01","udevrules":"52:54:00:00:00:01_eth0,52:54:01:00:00:01_eth1"},"ks_meta":{"install_log_2_syslog":1,"mco_auto_setup":1,"mco_connector":"rabbitmq","mco_enable":1,"mco_host":"localhost","mco_password":"guest","mco_pskey":"Gie6iega9ohngaenahthohngu8aebohxah9seidi","mco_user":"guest","mco_vhost":"mcollective","puppet_auto_setup":1,"puppet_enable":0,"puppet_master":"localhost","timezone":"Etc/UTC","admin_net":"10.20.0.0/24","auth_key":"\"\"","authorized_keys":[],"cloud_init_templates":{"boothook":"boothook_fuel_1.0_ubuntu.jinja2","cloud_config":"cloud_config_fuel_1.0_ubuntu.jinja2","meta_data":"meta_data_fuel_1.0_ubuntu.jinja2"},"fuel_version":"1.0","gw":"10.20.0.1","master_ip":"10.20.0.2","mco_identity":1,"pm_data":{"kernel_params":"","ks_spaces":[]},"repo_setup":{},"user_accounts":[]}},"test_vm_image":{"container_format":"bare","disk_format":"qcow2","glance_properties":"","img_name":"TestVM","min_ram":64,"os_name":"cirros","properties":{},"public":"true","img_path":"/usr/share/cirros-testvm/cirros-x86_64-disk.img"},"vms_conf":[]}');
INSERT INTO "fact_parts" VALUES(5,'645c32d30cd6f89573971f44f009180193282d7f05b76ae64835c260b10bf2de','{"uid":"2","fqdn":"node-2.domain.tld","user_node_name":"node-2","roles":["compute"],"ip":"10.20.0.130","status":"provisioned","online":true,"fail_if_error":false,"configuration":{},"configuration_options":{},"node_volumes":[],"glance":{"image_cache_max_size":"0"},"network_scheme":{"version":"1.1","provider":"lnx","interfaces":{"eth0":{"vendor_specific":{}},"eth1":{"vendor_specific":{}}},"endpoints":{"br-fw-admin":{"IP":["10.20.0.130/24"],"vendor_specific":{"provider_gateway":"10.20.0.1"},"gateway":"10.20.0.1"}},"roles":{},"transformations":[{"action":"add-br","name":"br-fw-admin"},{"action":"add-port","name":"eth0","bridge":"br-fw-admin"}]},"provision":{"power_type":"ssh","power_user":"root","power_pass":"= \"/root/.ssh/id_rsa\"","netboot_enabled":"1","uid":"2","name":"node-2","slave_name":"node-2","hostname":"node-2.domain.tld","power_address":"10.20.0.130","profile":null,"name_servers":"\"10.20.0.2\"","name_servers_search":"\"domain.tld\"","interfaces":{"eth0":{"mac_address":"52:54:00:00:00:02","static":"0","dns_name":"node-2.domain.tld","ip_address":"10.20.0.130","netmask":"255.255.255.0"},"eth1":{"mac_address":"52:54:01:00:00:02","static":"0"}},"interfaces_extra":{"eth0":{"peerdns":"no","onboot":"yes"},"eth1":{"peerdns":"no","onboot":"no"}},"kernel_options":{"netcfg/choose_interface":"52:54:00:00:00:02","udevrules":"52:54:00:00:00:02_eth0,52:54:01:00:00:02_eth1"},"ks_meta":{"install_log_2_syslog":1,"mco_auto_setup":1,"mco_connector":"rabbitmq","mco_enable":1,"mco_host":"localhost","mco_password":"guest","mco_pskey":"Gie6iega9ohngaenahthohngu8aebohxah9seidi","mco_user":"guest","mco_vhost":"mcollective","puppet_auto_setup":1,"puppet_enable":0,"puppet_master":"localhost","timezone":"Etc/UTC","admin_net":"10.20.0.0/24","auth_key":"\"\"","authorized_keys":[],"cloud_init_templates":{"boothook":"boothook_fuel_1.0_ubuntu.jinja2","cloud_config":"cloud_config_fuel_1.0_ubuntu.jinja2","meta_data":"meta_data_fuel_1.0_ubuntu.jinja2"},"fuel_version":"1.0","gw":"10.20.0.1","master_ip":"10.20.0.2","mco_identity":2,"pm_data":{"kernel_params":"","ks_spaces":[]},"repo_setup":{},"user_accounts":[]}},"test_vm_image":{"container_format":"bare","disk_format":"qcow2","glance_properties":"","img_name":"TestVM","min_ram":64,"os_name":"cirros","properties":{},"public":"true","img_path":"/usr/share/cirros-testvm/cirros-x86_64-disk.img"},"vms_conf":[]}');
INSERT INTO "fact_parts" VALUES(6,'ac322fad9abfccc16079bf400f66fd85fdb43bf612c5953d2cc0bd4fc98f99aa','{"vips":{},"networking_parameters":{"configuration_template":null,"dns_nameservers":["8.8.4.4","8.8.8.8"],"net_l23_provider":"ovs","segmentation_type":"vlan"},"networks":[{"name":"fuelweb_admin","ip_ranges":[["10.20.0.129","10.20.0.254"]],"id":1,"meta":{"unmovable":true,"use_gateway":true,"notation":"ip_ranges","render_addr_mask":null,"render_type":null,"map_priority":0,"configurable":false},"vlan_start":null,"cidr":"10.20.0.0/24","group_id":null,"gateway":"10.20.0.1"}]}');
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
    ;
INSERT INTO "history" VALUES(2,0,'said','1','shell','ready','',NULL,'','2026-11-23T01:08:06.463743','2026-11-23T01:08:06.484005',0,1,'{"tries":1,"out":"here"}');
INSERT INTO "history" VALUES(2,1,'said','2','shell','ready','',NULL,'','2026-11-23T01:08:06.463743','2026-11-23T01:08:06.494136',0,1,'{"tries":1,"out":"here"}');
INSERT INTO "history" VALUES(2,2,'other',NULL,'stage','skipped','sync_point',NULL,'','2026-11-23T01:08:06.463743','2026-11-23T01:08:06.463743',NULL,0,NULL);
CREATE TABLE leftovers (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        due TEXT NOT NULL,
        attempts INTEGER NOT NULL,
        body TEXT NOT NULL
    );
CREATE TABLE node_parts (
        node_id INTEGER NOT NULL REFERENCES nodes (id) ON DELETE CASCADE,
        part TEXT NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (node_id, part)
    ) WITHOUT ROWID
    ;
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
    , labels TEXT);
INSERT INTO "nodes" VALUES(1,'node-1',1,'ready','["compute"]',NULL,NULL,'','',1,'local',NULL,NULL,'',0,0,NULL);
INSERT INTO "nodes" VALUES(2,'node-2',1,'ready','["compute"]',NULL,NULL,'','',1,'local',NULL,NULL,'',0,0,NULL);
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
CREATE TABLE runners (
        cluster_id INTEGER PRIMARY KEY REFERENCES clusters (id) ON DELETE CASCADE,
        transaction_id INTEGER NOT NULL REFERENCES transactions (id) ON DELETE CASCADE,
        pid INTEGER NOT NULL,
        boot_id TEXT NOT NULL,
        start_time TEXT NOT NULL,
        heartbeat TEXT NOT NULL
    );
CREATE TABLE sequences (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        release_id INTEGER NOT NULL REFERENCES releases (id) ON DELETE CASCADE,
        name TEXT NOT NULL,
        graph_types TEXT NOT NULL,
        UNIQUE (release_id, name)
    );
CREATE TABLE transaction_facts (
        transaction_id INTEGER NOT NULL REFERENCES transactions (id) ON DELETE CASCADE,
        uid TEXT NOT NULL,
        part_id INTEGER NOT NULL REFERENCES fact_parts (id),
        PRIMARY KEY (transaction_id, uid)
    ) WITHOUT ROWID
    ;
INSERT INTO "transaction_facts" VALUES(2,'',1);
INSERT INTO "transaction_facts" VALUES(2,'/settings',2);
INSERT INTO "transaction_facts" VALUES(2,'null',2);
INSERT INTO "transaction_facts" VALUES(2,'master',3);
INSERT INTO "transaction_facts" VALUES(2,'1',4);
INSERT INTO "transaction_facts" VALUES(2,'2',5);
INSERT INTO "transaction_facts" VALUES(2,'/networks',6);
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
    );
INSERT INTO "transactions" VALUES(1,'9027d4d8-1004-428f-9989-bafc25c2c533',1,NULL,'deploy','','ready',100,'All 3 task instances ended.','{"verdict":"ready","ready":2,"skipped":1}','{"cluster_id":1,"graph_types":["default"],"node_ids":[],"task_names":[],"subgraphs":[],"force":false,"dry_run":false,"noop":false,"trace":false,"executor":"","unknown":"","assumed":{"common":{},"nodes":{}}}',1,'2026-11-23T01:08:05.271342','2026-11-23T01:08:06.496511','','',NULL,NULL,NULL,NULL);
INSERT INTO "transactions" VALUES(2,'20ff4341-74b4-48f8-bff7-d5cb4bb26945',1,1,'deployment','default','ready',100,'All 3 task instances ended.','{"verdict":"ready","ready":2,"skipped":1}','{"cluster_id":1,"graph_types":["default"],"node_ids":[],"task_names":[],"subgraphs":[],"force":false,"dry_run":false,"noop":false,"trace":false,"executor":"","unknown":"","assumed":{"common":{},"nodes":{}}}',1,'2026-11-23T01:08:06.462109','2026-11-23T01:08:06.495762','','c545359e9c31ab30e3c91f66a2491c713a47512ac73cbd02c9e36f22ff4da708',NULL,'[{"id":1,"name":"node-1","cluster_id":1,"status":"provisioned","roles":[],"pending_roles":["compute"],"primary_tags":[],"ip":"","mac":"","online":true,"executor":"local","ssh":{},"attributes":{},"error_type":"","pending_addition":true,"pending_deletion":false,"labels":{}},{"id":2,"name":"node-2","cluster_id":1,"status":"provisioned","roles":[],"pending_roles":["compute"],"primary_tags":[],"ip":"","mac":"","online":true,"executor":"local","ssh":{},"attributes":{},"error_type":"","pending_addition":true,"pending_deletion":false,"labels":{}}]','["1","2"]','{"said":{"type":"shell","version":"2.0.0","roles":["compute"],"requires":["other"],"parameters":{"cmd":"echo here # é","timeout":60}},"other":{"type":"stage"}}');
CREATE TABLE vips (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        cluster_id INTEGER NOT NULL REFERENCES clusters (id) ON DELETE CASCADE,
        name TEXT NOT NULL,
        ip_addr TEXT NOT NULL,
        network TEXT NOT NULL,
        namespace TEXT,
        is_user_defined INTEGER NOT NULL,
        UNIQUE (cluster_id, name)
    );
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
CREATE INDEX transactions_cluster ON transactions (cluster_id, status);
CREATE INDEX transactions_parent ON transactions (parent_id);
CREATE INDEX events_parent ON events (parent_id, id);
CREATE INDEX events_transaction ON events (transaction_id);
CREATE INDEX runners_transaction ON runners (transaction_id);
CREATE INDEX transaction_facts_part ON transaction_facts (part_id);
CREATE INDEX leftovers_due ON leftovers (due);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('releases',1);
INSERT INTO "sqlite_sequence" VALUES('deployment_graphs',2);
INSERT INTO "sqlite_sequence" VALUES('release_deployment_graphs',1);
INSERT INTO "sqlite_sequence" VALUES('clusters',1);
INSERT INTO "sqlite_sequence" VALUES('cluster_deployment_graphs',1);
INSERT INTO "sqlite_sequence" VALUES('nodes',2);
INSERT INTO "sqlite_sequence" VALUES('transactions',2);
INSERT INTO "sqlite_sequence" VALUES('events',11);
COMMIT;
