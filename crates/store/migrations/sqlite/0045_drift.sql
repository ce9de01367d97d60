-- Checks of nodes: whether they are still in the state that tasks last applied.

-- `alive_until`: the server that performs the check moves it on; a check that has not ended by then is lost.
CREATE TABLE drift_checks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    cluster_id INTEGER NOT NULL CONSTRAINT drift_checks_cluster REFERENCES clusters (id) ON DELETE CASCADE,
    graph_type TEXT NOT NULL,
    created_by TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    alive_until INTEGER NOT NULL,
    ended_at INTEGER,
    problem TEXT,
    n_in_sync INTEGER NOT NULL,
    n_changed INTEGER NOT NULL,
    n_drifted INTEGER NOT NULL,
    n_unknown INTEGER NOT NULL
) STRICT;
CREATE INDEX drift_checks_by_cluster ON drift_checks (cluster_id, id);

-- The latest result for a task on a node. It is valid as long as the applied state is of the run `run_id`. `repairs`: a
-- check found that the node drifted, no later one found that it is in sync, and plans repair it.
CREATE TABLE drift_results (
    cluster_id INTEGER NOT NULL CONSTRAINT drift_results_cluster REFERENCES clusters (id) ON DELETE CASCADE,
    graph_type TEXT NOT NULL,
    node_uid TEXT NOT NULL,
    task_name TEXT NOT NULL,
    run_id INTEGER NOT NULL,
    checked_at INTEGER NOT NULL,
    status TEXT NOT NULL,
    repairs INTEGER NOT NULL,
    message TEXT,
    diff TEXT NOT NULL,
    PRIMARY KEY (cluster_id, graph_type, node_uid, task_name)
) STRICT, WITHOUT ROWID;
