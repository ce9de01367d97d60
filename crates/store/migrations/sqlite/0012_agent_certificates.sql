-- Certificates of agents. One that is not here any more is refused, whatever its dates say.
CREATE TABLE agent_certificates (
    fingerprint TEXT NOT NULL PRIMARY KEY,
    agent_id INTEGER NOT NULL CONSTRAINT agent_certificates_agent REFERENCES agents (id) ON DELETE CASCADE,
    serial TEXT NOT NULL,
    issued_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX agent_certificates_by_agent ON agent_certificates (agent_id);

-- Nodes that were cut off: an agent gets in again only with a token that lets it take the place of another.
CREATE TABLE node_revocations (
    node_id INTEGER PRIMARY KEY CONSTRAINT node_revocations_node REFERENCES nodes (id) ON DELETE CASCADE,
    revoked_at INTEGER NOT NULL
) STRICT;
