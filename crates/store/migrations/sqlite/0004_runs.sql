-- Parameters of runs, their append-only events, and agents.

-- Run parameters that are not events, and the lease of the run. `plan_id` is NULL until the graph is planned, which
-- happens when its run starts. A takeover increments `lease_generation`; writes with an older one are rejected (fencing).
CREATE TABLE run_work (
    run_id INTEGER PRIMARY KEY CONSTRAINT run_work_run REFERENCES runs (id) ON DELETE CASCADE,
    plan_id INTEGER CONSTRAINT run_work_plan REFERENCES plans (id) ON DELETE SET NULL,
    options TEXT NOT NULL,
    owner TEXT,
    lease_generation INTEGER NOT NULL,
    lease_until INTEGER
) STRICT;
CREATE INDEX run_work_by_plan ON run_work (plan_id);

-- Append-only; events are deleted only with their run.
CREATE TABLE run_events (
    run_id INTEGER NOT NULL CONSTRAINT run_events_run REFERENCES runs (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    instance INTEGER,
    body TEXT NOT NULL,
    PRIMARY KEY (run_id, seq)
) STRICT;

-- Output of attempts, in chunks ordered by byte offset (`start`).
CREATE TABLE attempt_output (
    run_id INTEGER NOT NULL CONSTRAINT attempt_output_run REFERENCES runs (id) ON DELETE CASCADE,
    instance INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    stream TEXT NOT NULL,
    start INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (run_id, instance, attempt, stream, start)
) STRICT;

-- Join tokens of agents. `uses_left` is NULL if the number of uses is unlimited.
CREATE TABLE join_tokens (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    label TEXT,
    digest TEXT NOT NULL,
    uses_left INTEGER,
    may_replace INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    CONSTRAINT join_tokens_digest UNIQUE (digest)
) STRICT;

-- Joined agents: at most one for each node, and one for the master, which is not a node.
CREATE TABLE agents (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    uid TEXT NOT NULL,
    node_id INTEGER CONSTRAINT agents_node REFERENCES nodes (id) ON DELETE CASCADE,
    digest TEXT NOT NULL,
    version TEXT NOT NULL,
    joined_at INTEGER NOT NULL,
    last_seen_at INTEGER,
    CONSTRAINT agents_uid UNIQUE (uid),
    CONSTRAINT agents_digest UNIQUE (digest)
) STRICT;
CREATE INDEX agents_by_node ON agents (node_id);
