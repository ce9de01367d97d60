-- Modules, unfinished module runs, and the modules applied to nodes. Contents are encrypted with a key that is not in
-- the database.

CREATE TABLE modules (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    generation INTEGER NOT NULL,
    uuid TEXT NOT NULL,
    name TEXT NOT NULL,
    module_type TEXT NOT NULL,
    description TEXT,
    tenant_id INTEGER,
    datastore TEXT,
    datastore_version TEXT,
    auto_apply INTEGER NOT NULL,
    visible INTEGER NOT NULL,
    live_update INTEGER NOT NULL,
    priority_apply INTEGER NOT NULL,
    apply_order INTEGER NOT NULL,
    is_admin INTEGER NOT NULL,
    md5 TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    CONSTRAINT modules_uuid UNIQUE (uuid),
    CONSTRAINT modules_tenant FOREIGN KEY (tenant_id) REFERENCES tenants (id)
) STRICT;
CREATE UNIQUE INDEX modules_identity ON modules
    (name, module_type, coalesce(tenant_id, 0), coalesce(datastore, ''), coalesce(datastore_version, ''));
CREATE INDEX modules_by_tenant ON modules (tenant_id);

CREATE TABLE module_contents (
    module_id INTEGER PRIMARY KEY CONSTRAINT module_contents_module REFERENCES modules (id) ON DELETE CASCADE,
    key_name TEXT NOT NULL,
    contents BLOB NOT NULL
) STRICT;

-- Module runs: each applies a list of modules to one node. `turn_of` is the node id while the run has exclusive access
-- to the node, otherwise NULL; its unique constraint allows one such run per node.
CREATE TABLE module_runs (
    run_id INTEGER PRIMARY KEY CONSTRAINT module_runs_run REFERENCES runs (id) ON DELETE CASCADE,
    node_id INTEGER NOT NULL CONSTRAINT module_runs_node REFERENCES nodes (id) ON DELETE CASCADE,
    action TEXT NOT NULL,
    after_run INTEGER,
    deadline INTEGER,
    turn_of INTEGER,
    CONSTRAINT module_runs_turn UNIQUE (turn_of)
) STRICT;
CREATE INDEX module_runs_by_node ON module_runs (node_id);

CREATE TABLE module_run_items (
    run_id INTEGER NOT NULL CONSTRAINT module_run_items_run REFERENCES module_runs (run_id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    uuid TEXT NOT NULL,
    name TEXT NOT NULL,
    module_type TEXT NOT NULL,
    description TEXT,
    tenant_id INTEGER,
    datastore TEXT,
    datastore_version TEXT,
    auto_apply INTEGER NOT NULL,
    visible INTEGER NOT NULL,
    live_update INTEGER NOT NULL,
    priority_apply INTEGER NOT NULL,
    apply_order INTEGER NOT NULL,
    is_admin INTEGER NOT NULL,
    md5 TEXT NOT NULL,
    key_name TEXT NOT NULL,
    contents BLOB NOT NULL,
    PRIMARY KEY (run_id, position)
) STRICT;

-- Last result of each module on each node, with a copy of the module as it was applied.
CREATE TABLE node_modules (
    node_id INTEGER NOT NULL CONSTRAINT node_modules_node REFERENCES nodes (id) ON DELETE CASCADE,
    cluster_id INTEGER NOT NULL CONSTRAINT node_modules_cluster REFERENCES clusters (id) ON DELETE CASCADE,
    uuid TEXT NOT NULL,
    name TEXT NOT NULL,
    module_type TEXT NOT NULL,
    description TEXT,
    tenant_id INTEGER,
    datastore TEXT,
    datastore_version TEXT,
    auto_apply INTEGER NOT NULL,
    visible INTEGER NOT NULL,
    live_update INTEGER NOT NULL,
    priority_apply INTEGER NOT NULL,
    apply_order INTEGER NOT NULL,
    is_admin INTEGER NOT NULL,
    md5 TEXT NOT NULL,
    status TEXT NOT NULL,
    message TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    removed_at INTEGER,
    key_name TEXT NOT NULL,
    contents BLOB NOT NULL,
    PRIMARY KEY (node_id, uuid)
) STRICT;
CREATE INDEX node_modules_by_uuid ON node_modules (uuid);
CREATE INDEX node_modules_by_cluster ON node_modules (cluster_id);
