-- Facts of nodes by source: those that a user uploaded, and those that the agent reports. `nodes.facts` has both, merged.
-- A node without a row has facts of its agent only.
CREATE TABLE node_facts (
    node_id BIGINT PRIMARY KEY CONSTRAINT node_facts_node REFERENCES nodes (id) ON DELETE CASCADE,
    uploaded TEXT COLLATE "C" NOT NULL,
    reported TEXT COLLATE "C" NOT NULL
);

-- Facts of nodes that never had an agent were uploaded.
INSERT INTO node_facts (node_id, uploaded, reported)
    SELECT id, facts, '{}' FROM nodes WHERE facts <> '{}'
    AND NOT EXISTS (SELECT 1 FROM agents WHERE agents.node_id = nodes.id)
    AND NOT EXISTS (SELECT 1 FROM agent_machines WHERE agent_machines.uid = CAST(nodes.id AS TEXT));
