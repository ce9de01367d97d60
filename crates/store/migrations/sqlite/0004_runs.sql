-- Runs that an engine carries out, the events that are their history, and the agents that do the work.

-- What an engine has to know of a run beside its events; the plan is made when its turn comes. A run changes hands by a larger generation: whoever still
-- writes with a smaller one is refused.
CREATE TABLE run_work (
    run_id INTEGER PRIMARY KEY CONSTRAINT run_work_run REFERENCES runs (id) ON DELETE CASCADE,
    plan_id INTEGER CONSTRAINT run_work_plan REFERENCES plans (id) ON DELETE SET NULL,
    options TEXT NOT NULL,
    owner TEXT,
    lease_generation INTEGER NOT NULL,
    lease_until INTEGER
) STRICT;
CREATE INDEX run_work_by_plan ON run_work (plan_id);

-- Never changed, only added to and, with their run, removed.
CREATE TABLE run_events (
    run_id INTEGER NOT NULL CONSTRAINT run_events_run REFERENCES runs (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    instance INTEGER,
    body TEXT NOT NULL,
    PRIMARY KEY (run_id, seq)
) STRICT;

-- What attempts printed: pieces in the order of their first byte.
CREATE TABLE attempt_output (
    run_id INTEGER NOT NULL CONSTRAINT attempt_output_run REFERENCES runs (id) ON DELETE CASCADE,
    instance INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    stream TEXT NOT NULL,
    start INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (run_id, instance, attempt, stream, start)
) STRICT;

-- Tokens with which agents come in once.
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

-- Agents that came in. One for each node at most, and one for the master, which is no node.
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
