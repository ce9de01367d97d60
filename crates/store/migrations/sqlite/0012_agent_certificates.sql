-- Certificates of agents. A certificate without a row is revoked, even before it expires.
CREATE TABLE agent_certificates (
    fingerprint TEXT NOT NULL PRIMARY KEY,
    agent_id INTEGER NOT NULL CONSTRAINT agent_certificates_agent REFERENCES agents (id) ON DELETE CASCADE,
    serial TEXT NOT NULL,
    issued_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX agent_certificates_by_agent ON agent_certificates (agent_id);

-- Revoked nodes. An agent can join for such a node only with a join token that has `may_replace`.
CREATE TABLE node_revocations (
    node_id INTEGER PRIMARY KEY CONSTRAINT node_revocations_node REFERENCES nodes (id) ON DELETE CASCADE,
    revoked_at INTEGER NOT NULL
) STRICT;
