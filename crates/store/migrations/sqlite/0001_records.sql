-- Initial tables. Both dialects have the same tables and columns. JSON documents are stored verbatim as TEXT, instants
-- as microseconds since 1970, booleans as 0 or 1. Ids are never reused.

CREATE TABLE tenants (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    generation INTEGER NOT NULL,
    name TEXT NOT NULL,
    description TEXT,
    enabled INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    CONSTRAINT tenants_name UNIQUE (name)
) STRICT;

CREATE TABLE users (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    generation INTEGER NOT NULL,
    tenant_id INTEGER NOT NULL CONSTRAINT users_tenant REFERENCES tenants (id),
    name TEXT NOT NULL,
    roles TEXT NOT NULL,
    enabled INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    password_hash TEXT NOT NULL,
    CONSTRAINT users_name UNIQUE (name)
) STRICT;
CREATE INDEX users_by_tenant ON users (tenant_id);

CREATE TABLE tokens (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL CONSTRAINT tokens_user REFERENCES users (id) ON DELETE CASCADE,
    tenant_id INTEGER NOT NULL CONSTRAINT tokens_tenant REFERENCES tenants (id) ON DELETE CASCADE,
    label TEXT,
    digest TEXT NOT NULL,
    issued_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    CONSTRAINT tokens_digest UNIQUE (digest)
) STRICT;
CREATE INDEX tokens_by_user ON tokens (user_id);
CREATE INDEX tokens_by_tenant ON tokens (tenant_id);
CREATE INDEX tokens_by_end ON tokens (expires_at);

CREATE TABLE audit_entries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    user_id INTEGER,
    user_name TEXT NOT NULL,
    address TEXT,
    action TEXT NOT NULL,
    target TEXT NOT NULL,
    detail TEXT NOT NULL
) STRICT;
CREATE INDEX audit_entries_by_time ON audit_entries (at);
CREATE INDEX audit_entries_by_user ON audit_entries (user_id);

CREATE TABLE settings (
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

CREATE TABLE releases (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    generation INTEGER NOT NULL,
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    description TEXT,
    operating_system TEXT NOT NULL,
    state TEXT NOT NULL,
    modes_metadata TEXT NOT NULL,
    roles_metadata TEXT NOT NULL,
    tags_metadata TEXT NOT NULL,
    volumes_roles_mapping TEXT NOT NULL,
    attributes_metadata TEXT NOT NULL,
    networks_metadata TEXT NOT NULL,
    volumes_metadata TEXT NOT NULL,
    wizard_metadata TEXT NOT NULL,
    components_metadata TEXT NOT NULL,
    required_component_types TEXT NOT NULL,
    extensions TEXT NOT NULL,
    extra TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    CONSTRAINT releases_name_version UNIQUE (name, version)
) STRICT;

CREATE TABLE plugins (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    generation INTEGER NOT NULL,
    name TEXT NOT NULL,
    title TEXT NOT NULL,
    version TEXT NOT NULL,
    package_version TEXT NOT NULL,
    description TEXT,
    homepage TEXT,
    is_hotpluggable INTEGER NOT NULL,
    fuel_version TEXT NOT NULL,
    groups TEXT NOT NULL,
    authors TEXT NOT NULL,
    licenses TEXT NOT NULL,
    releases TEXT NOT NULL,
    attributes_metadata TEXT NOT NULL,
    roles_metadata TEXT NOT NULL,
    tags_metadata TEXT NOT NULL,
    volumes_metadata TEXT NOT NULL,
    components_metadata TEXT NOT NULL,
    tasks TEXT NOT NULL,
    extra TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    CONSTRAINT plugins_name_version UNIQUE (name, version)
) STRICT;

CREATE TABLE sequences (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    generation INTEGER NOT NULL,
    release_id INTEGER NOT NULL CONSTRAINT sequences_release REFERENCES releases (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    graphs TEXT NOT NULL,
    CONSTRAINT sequences_release_name UNIQUE (release_id, name)
) STRICT;

CREATE TABLE clusters (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    generation INTEGER NOT NULL,
    tenant_id INTEGER NOT NULL CONSTRAINT clusters_tenant REFERENCES tenants (id),
    release_id INTEGER NOT NULL CONSTRAINT clusters_release REFERENCES releases (id),
    name TEXT NOT NULL,
    status TEXT NOT NULL,
    mode TEXT NOT NULL,
    net_provider TEXT NOT NULL,
    components TEXT NOT NULL,
    ui_settings TEXT NOT NULL,
    roles_metadata TEXT NOT NULL,
    tags_metadata TEXT NOT NULL,
    volumes_roles_mapping TEXT NOT NULL,
    editable TEXT NOT NULL,
    generated TEXT NOT NULL,
    extensions TEXT NOT NULL,
    is_customized INTEGER NOT NULL,
    is_locked INTEGER NOT NULL,
    merge_order TEXT,
    merge_mode TEXT,
    created_at INTEGER NOT NULL,
    CONSTRAINT clusters_name UNIQUE (name)
) STRICT;
CREATE INDEX clusters_by_tenant ON clusters (tenant_id);
CREATE INDEX clusters_by_release ON clusters (release_id);

-- Plugins that are available in a cluster, and their settings in it.
CREATE TABLE cluster_plugins (
    cluster_id INTEGER NOT NULL CONSTRAINT cluster_plugins_cluster REFERENCES clusters (id) ON DELETE CASCADE,
    plugin_id INTEGER NOT NULL CONSTRAINT cluster_plugins_plugin REFERENCES plugins (id),
    enabled INTEGER NOT NULL,
    attributes TEXT NOT NULL,
    PRIMARY KEY (cluster_id, plugin_id)
) STRICT;
CREATE INDEX cluster_plugins_by_plugin ON cluster_plugins (plugin_id);

-- Documents that a user uploaded to replace computed ones.
CREATE TABLE cluster_facts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    cluster_id INTEGER NOT NULL CONSTRAINT cluster_facts_cluster REFERENCES clusters (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    uid TEXT NOT NULL,
    document TEXT NOT NULL,
    CONSTRAINT cluster_facts_uid UNIQUE (cluster_id, kind, uid)
) STRICT;

CREATE TABLE nodes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    generation INTEGER NOT NULL,
    cluster_id INTEGER CONSTRAINT nodes_cluster REFERENCES clusters (id),
    name TEXT NOT NULL,
    mac TEXT NOT NULL,
    ip TEXT,
    hostname TEXT NOT NULL,
    status TEXT NOT NULL,
    online INTEGER NOT NULL,
    roles TEXT NOT NULL,
    pending_roles TEXT NOT NULL,
    pending_addition INTEGER NOT NULL,
    pending_deletion INTEGER NOT NULL,
    error_type TEXT,
    error_msg TEXT,
    progress INTEGER NOT NULL,
    group_id INTEGER,
    manufacturer TEXT,
    platform_name TEXT,
    os_platform TEXT,
    kernel_params TEXT,
    labels TEXT NOT NULL,
    meta TEXT NOT NULL,
    attributes TEXT NOT NULL,
    facts TEXT NOT NULL,
    agent_checksum TEXT,
    last_seen_at INTEGER,
    created_at INTEGER NOT NULL,
    CONSTRAINT nodes_mac UNIQUE (mac),
    CONSTRAINT nodes_cluster_hostname UNIQUE (cluster_id, hostname)
) STRICT;

CREATE TABLE runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    generation INTEGER NOT NULL,
    uuid TEXT NOT NULL,
    parent_id INTEGER CONSTRAINT runs_parent REFERENCES runs (id) ON DELETE CASCADE,
    cluster_id INTEGER CONSTRAINT runs_cluster REFERENCES clusters (id) ON DELETE SET NULL,
    name TEXT NOT NULL,
    status TEXT NOT NULL,
    progress INTEGER NOT NULL,
    message TEXT,
    result TEXT NOT NULL,
    graph_type TEXT,
    dry_run INTEGER NOT NULL,
    started_at INTEGER,
    ended_at INTEGER,
    is_hidden INTEGER NOT NULL,
    CONSTRAINT runs_uuid UNIQUE (uuid)
) STRICT;
CREATE INDEX runs_by_parent ON runs (parent_id);
CREATE INDEX runs_by_cluster ON runs (cluster_id);

CREATE TABLE run_history (
    run_id INTEGER NOT NULL CONSTRAINT run_history_run REFERENCES runs (id) ON DELETE CASCADE,
    task_name TEXT NOT NULL,
    node_id TEXT NOT NULL,
    status TEXT NOT NULL,
    started_at INTEGER,
    ended_at INTEGER,
    task TEXT NOT NULL,
    custom TEXT NOT NULL,
    summary TEXT NOT NULL,
    PRIMARY KEY (run_id, task_name, node_id)
) STRICT;
