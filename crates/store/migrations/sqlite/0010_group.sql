-- Servers that share a database: who is there, where agents are connected, what one has to tell another.

CREATE TABLE servers (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    address TEXT NOT NULL,
    version TEXT NOT NULL,
    hears_bus INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL
) STRICT;

-- The server an agent was connected to last; none: it went away. Every change gets a number greater than all before, so
-- that whoever remembers the last one it saw reads only what is new. Rows stay.
CREATE TABLE agent_hosts (
    uid TEXT NOT NULL PRIMARY KEY,
    number INTEGER NOT NULL,
    server_id TEXT,
    connection INTEGER NOT NULL
) STRICT;
CREATE INDEX agent_hosts_by_number ON agent_hosts (number);

-- Messages for a server that it did not get in another way.
CREATE TABLE server_mail (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    server_id TEXT NOT NULL,
    body TEXT NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX server_mail_by_server ON server_mail (server_id, id);
CREATE INDEX server_mail_by_expiry ON server_mail (expires_at);

-- What one of all servers does at a time.
CREATE TABLE leases (
    name TEXT NOT NULL PRIMARY KEY,
    owner TEXT NOT NULL,
    until INTEGER NOT NULL
) STRICT;

-- What all servers have to have in common.
CREATE TABLE group_marks (
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;
