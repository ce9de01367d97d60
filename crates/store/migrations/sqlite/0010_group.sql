-- Server group: membership, agent locations, peer messages, and leases of background jobs.

CREATE TABLE servers (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    address TEXT NOT NULL,
    version TEXT NOT NULL,
    hears_bus INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL
) STRICT;

-- Server to which an agent is connected; NULL after a disconnect. `number` increases with each change of the table and
-- is the polling cursor of the servers. Rows are never deleted.
CREATE TABLE agent_hosts (
    uid TEXT NOT NULL PRIMARY KEY,
    number INTEGER NOT NULL,
    server_id TEXT,
    connection INTEGER NOT NULL
) STRICT;
CREATE INDEX agent_hosts_by_number ON agent_hosts (number);

-- Mailboxes of servers: peer messages that the bus did not deliver.
CREATE TABLE server_mail (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    server_id TEXT NOT NULL,
    body TEXT NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX server_mail_by_server ON server_mail (server_id, id);
CREATE INDEX server_mail_by_expiry ON server_mail (expires_at);

-- Leases of background jobs that run on one server at a time.
CREATE TABLE leases (
    name TEXT NOT NULL PRIMARY KEY,
    owner TEXT NOT NULL,
    until INTEGER NOT NULL
) STRICT;

-- Values that must be equal on all servers of the group.
CREATE TABLE group_marks (
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;
