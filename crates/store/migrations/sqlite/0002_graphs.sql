-- Graphs, their owners and their tasks. The graph type is a column of the owner relation.

CREATE TABLE deployment_graphs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    generation INTEGER NOT NULL,
    verbose_name TEXT,
    node_filter TEXT,
    on_success TEXT,
    on_error TEXT,
    on_stop TEXT
) STRICT;

CREATE TABLE release_deployment_graphs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    type TEXT NOT NULL,
    deployment_graph_id INTEGER NOT NULL CONSTRAINT release_deployment_graphs_graph
        REFERENCES deployment_graphs (id) ON DELETE CASCADE,
    release_id INTEGER NOT NULL CONSTRAINT release_deployment_graphs_owner REFERENCES releases (id),
    CONSTRAINT release_deployment_graphs_type UNIQUE (release_id, type)
) STRICT;
CREATE INDEX release_deployment_graphs_by_graph ON release_deployment_graphs (deployment_graph_id);

CREATE TABLE plugin_deployment_graphs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    type TEXT NOT NULL,
    deployment_graph_id INTEGER NOT NULL CONSTRAINT plugin_deployment_graphs_graph
        REFERENCES deployment_graphs (id) ON DELETE CASCADE,
    plugin_id INTEGER NOT NULL CONSTRAINT plugin_deployment_graphs_owner REFERENCES plugins (id),
    CONSTRAINT plugin_deployment_graphs_type UNIQUE (plugin_id, type)
) STRICT;
CREATE INDEX plugin_deployment_graphs_by_graph ON plugin_deployment_graphs (deployment_graph_id);

CREATE TABLE cluster_deployment_graphs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    type TEXT NOT NULL,
    deployment_graph_id INTEGER NOT NULL CONSTRAINT cluster_deployment_graphs_graph
        REFERENCES deployment_graphs (id) ON DELETE CASCADE,
    cluster_id INTEGER NOT NULL CONSTRAINT cluster_deployment_graphs_owner REFERENCES clusters (id),
    CONSTRAINT cluster_deployment_graphs_type UNIQUE (cluster_id, type)
) STRICT;
CREATE INDEX cluster_deployment_graphs_by_graph ON cluster_deployment_graphs (deployment_graph_id);

CREATE VIEW deployment_graph_owners AS
    SELECT deployment_graph_id, type, 'release' AS owner_kind, release_id AS owner_id
    FROM release_deployment_graphs
    UNION ALL
    SELECT deployment_graph_id, type, 'plugin' AS owner_kind, plugin_id AS owner_id
    FROM plugin_deployment_graphs
    UNION ALL
    SELECT deployment_graph_id, type, 'cluster' AS owner_kind, cluster_id AS owner_id
    FROM cluster_deployment_graphs;

-- Task fields are stored verbatim as JSON text, NULL if absent; fields without a column are in `_custom`. Rows are
-- immutable except for `position`: a changed task is a new row.
CREATE TABLE deployment_graph_tasks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    deployment_graph_id INTEGER NOT NULL CONSTRAINT deployment_graph_tasks_graph
        REFERENCES deployment_graphs (id) ON DELETE CASCADE,
    task_name TEXT NOT NULL,
    position INTEGER NOT NULL,
    version TEXT,
    test_pre TEXT,
    test_post TEXT,
    type TEXT,
    groups TEXT,
    tasks TEXT,
    roles TEXT,
    reexecute_on TEXT,
    refresh_on TEXT,
    required_for TEXT,
    requires TEXT,
    cross_depended_by TEXT,
    cross_depends TEXT,
    parameters TEXT,
    condition TEXT,
    _custom TEXT NOT NULL,
    CONSTRAINT deployment_graph_tasks_name UNIQUE (deployment_graph_id, task_name)
) STRICT;
-- Returns the tasks of a graph in order without sorting.
CREATE INDEX deployment_graph_tasks_by_place ON deployment_graph_tasks (deployment_graph_id, position);
