-- Facts of nodes by source: uploaded by a user, or reported by the agent. `nodes.facts` contains both, merged. A node
-- without a row has reported facts only.
CREATE TABLE node_facts (
    node_id INTEGER PRIMARY KEY CONSTRAINT node_facts_node REFERENCES nodes (id) ON DELETE CASCADE,
    uploaded TEXT NOT NULL,
    reported TEXT NOT NULL
) STRICT;

-- Nodes that never had an agent can only have uploaded facts.
INSERT INTO node_facts (node_id, uploaded, reported)
    SELECT id, facts, '{}' FROM nodes WHERE facts <> '{}'
    AND NOT EXISTS (SELECT 1 FROM agents WHERE agents.node_id = nodes.id)
    AND NOT EXISTS (SELECT 1 FROM agent_machines WHERE agent_machines.uid = CAST(nodes.id AS TEXT));
