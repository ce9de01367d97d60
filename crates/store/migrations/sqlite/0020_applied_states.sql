-- Applied states: the documents of plans and successes, and the attempts that left a node in an unknown state.

-- Documents of plans and applied states, except node-specific ones. Each combination of document ids has one row; 0
-- means that there is no such document. There are no foreign keys, for the reason given at `plans`.
CREATE TABLE state_snapshots (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    common_id INTEGER NOT NULL,
    graph_id INTEGER NOT NULL,
    sources_id INTEGER NOT NULL,
    settled_id INTEGER NOT NULL,
    CONSTRAINT state_snapshots_content UNIQUE (common_id, graph_id, sources_id, settled_id)
) STRICT;

CREATE TABLE plan_snapshots (
    plan_id INTEGER PRIMARY KEY CONSTRAINT plan_snapshots_plan REFERENCES plans (id) ON DELETE CASCADE,
    snapshot_id INTEGER NOT NULL
) STRICT;
CREATE INDEX plan_snapshots_by_snapshot ON plan_snapshots (snapshot_id);

-- Parameter changes, steady inputs and warnings of a plan, in a versioned encoding of the planner.
CREATE TABLE plan_extras (
    plan_id INTEGER PRIMARY KEY CONSTRAINT plan_extras_plan REFERENCES plans (id) ON DELETE CASCADE,
    document BLOB NOT NULL
) STRICT;

-- Applied state of a task on a node. `snapshot_id` is NULL if the task never succeeded there. `tainted_by` is the child
-- run of a later attempt that did not succeed, and `taint` is the outcome of that attempt.
CREATE TABLE applied_states (
    cluster_id INTEGER NOT NULL CONSTRAINT applied_states_cluster REFERENCES clusters (id) ON DELETE CASCADE,
    graph_type TEXT NOT NULL,
    node_uid TEXT NOT NULL,
    task_name TEXT NOT NULL,
    snapshot_id INTEGER,
    document_id INTEGER,
    inputs TEXT,
    inputs_id INTEGER,
    run_id INTEGER,
    tainted_by INTEGER,
    taint TEXT,
    PRIMARY KEY (cluster_id, graph_type, node_uid, task_name)
) STRICT, WITHOUT ROWID;
CREATE INDEX applied_states_by_node ON applied_states (node_uid);
CREATE INDEX applied_states_of_repositories ON applied_states (cluster_id, task_name, snapshot_id)
    WHERE task_name LIKE '%-repository';

-- Journal id and machine id of the agent that last connected for a node or for the master.
CREATE TABLE agent_machines (
    uid TEXT NOT NULL PRIMARY KEY,
    journal_id TEXT,
    machine_id TEXT,
    noted_at INTEGER NOT NULL
) STRICT;

ALTER TABLE deployment_graphs ADD COLUMN on_definition_change TEXT;

-- Copies the existing successes. The graph type is that of the run. If the run was deleted, it is the only graph type
-- with a task of that name, or `default` for generated tasks; if several graph types have one, the success is dropped
-- and the task runs again. Nodes that are new or being reinstalled have no valid successes.
INSERT INTO state_snapshots (common_id, graph_id, sources_id, settled_id)
    SELECT DISTINCT s.common_id, coalesce(p.graph_id, 0), 0, 0 FROM successes s
    LEFT JOIN run_work w ON w.run_id = s.run_id LEFT JOIN plans p ON p.id = w.plan_id;
INSERT INTO applied_states (cluster_id, graph_type, node_uid, task_name, snapshot_id, document_id, run_id)
    SELECT s.cluster_id, coalesce(r.graph_type, t.type, 'default'), s.node_uid, s.task_name, n.id, s.document_id, s.run_id
    FROM successes s
    LEFT JOIN runs r ON r.id = s.run_id
    LEFT JOIN run_work w ON w.run_id = s.run_id LEFT JOIN plans p ON p.id = w.plan_id
    LEFT JOIN (SELECT k.task_name, min(o.type) AS type, count(DISTINCT o.type) AS n_types FROM deployment_graph_tasks k
               JOIN deployment_graph_owners o ON o.deployment_graph_id = k.deployment_graph_id GROUP BY k.task_name) t
           ON t.task_name = s.task_name
    JOIN state_snapshots n ON n.common_id = s.common_id AND n.graph_id = coalesce(p.graph_id, 0)
        AND n.sources_id = 0 AND n.settled_id = 0
    WHERE (r.graph_type IS NOT NULL OR coalesce(t.n_types, 1) = 1)
      -- SQLite evaluates the subquery once. It would scan all nodes for each success with NOT EXISTS.
      AND s.node_uid NOT IN (SELECT CAST(d.id AS TEXT) FROM nodes d WHERE d.pending_addition
                             OR d.status IN ('discover', 'provisioning', 'provisioned', 'removing'));
