-- Plans, the states from which they were computed, and the state of the last success of each task on each node.

-- Large pieces of state documents, content-addressed: documents with an equal piece share its row.
CREATE TABLE state_parts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    digest TEXT NOT NULL,
    content TEXT NOT NULL,
    CONSTRAINT state_parts_digest UNIQUE (digest)
) STRICT;

-- State documents without their large pieces.
CREATE TABLE state_documents (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    digest TEXT NOT NULL,
    small TEXT NOT NULL,
    CONSTRAINT state_documents_digest UNIQUE (digest)
) STRICT;

-- Paths of the large pieces within their documents.
CREATE TABLE state_document_parts (
    document_id INTEGER NOT NULL CONSTRAINT state_document_parts_document
        REFERENCES state_documents (id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    part_id INTEGER NOT NULL CONSTRAINT state_document_parts_part REFERENCES state_parts (id),
    PRIMARY KEY (document_id, path)
) STRICT, WITHOUT ROWID;
CREATE INDEX state_document_parts_by_part ON state_document_parts (part_id);

-- Plans are immutable. `graph_id`, `common_id` and `document_id` refer to documents without a foreign key: only
-- unreferenced documents are deleted, and a foreign key would need an index as large as this table to verify that.
CREATE TABLE plans (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    cluster_id INTEGER NOT NULL CONSTRAINT plans_cluster REFERENCES clusters (id) ON DELETE CASCADE,
    graph_type TEXT NOT NULL,
    parent_id INTEGER CONSTRAINT plans_parent REFERENCES plans (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    request TEXT NOT NULL,
    n_run INTEGER NOT NULL,
    n_skip INTEGER NOT NULL,
    inputs TEXT NOT NULL,
    graph_id INTEGER NOT NULL,
    common_id INTEGER NOT NULL,
    document BLOB NOT NULL
) STRICT;
CREATE INDEX plans_by_cluster ON plans (cluster_id);
CREATE INDEX plans_by_parent ON plans (parent_id);
CREATE INDEX plans_by_time ON plans (created_at);

CREATE TRIGGER plans_never_change BEFORE UPDATE ON plans
BEGIN
    SELECT RAISE(ABORT, 'a plan never changes');
END;

-- Node-specific state document of each node at the time of planning.
CREATE TABLE plan_nodes (
    plan_id INTEGER NOT NULL CONSTRAINT plan_nodes_plan REFERENCES plans (id) ON DELETE CASCADE,
    node_uid TEXT NOT NULL,
    document_id INTEGER NOT NULL,
    PRIMARY KEY (plan_id, node_uid)
) STRICT, WITHOUT ROWID;

CREATE TABLE successes (
    cluster_id INTEGER NOT NULL CONSTRAINT successes_cluster REFERENCES clusters (id) ON DELETE CASCADE,
    node_uid TEXT NOT NULL,
    task_name TEXT NOT NULL,
    common_id INTEGER NOT NULL,
    document_id INTEGER NOT NULL,
    run_id INTEGER,
    PRIMARY KEY (cluster_id, node_uid, task_name)
) STRICT, WITHOUT ROWID;

-- Primary node of each tag in a cluster.
CREATE TABLE cluster_primaries (
    cluster_id INTEGER NOT NULL CONSTRAINT cluster_primaries_cluster
        REFERENCES clusters (id) ON DELETE CASCADE,
    tag TEXT NOT NULL,
    node_id INTEGER NOT NULL CONSTRAINT cluster_primaries_node REFERENCES nodes (id) ON DELETE CASCADE,
    PRIMARY KEY (cluster_id, tag)
) STRICT, WITHOUT ROWID;
CREATE INDEX cluster_primaries_by_node ON cluster_primaries (node_id);
