-- Notifications, webhooks and their deliveries.

CREATE TABLE notifications (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    topic TEXT NOT NULL,
    at INTEGER NOT NULL,
    message TEXT NOT NULL,
    cluster_id INTEGER CONSTRAINT notifications_cluster REFERENCES clusters (id) ON DELETE CASCADE,
    -- No foreign keys: a notification outlives its run and its node.
    run_id INTEGER,
    node_id INTEGER,
    is_read INTEGER NOT NULL
) STRICT;
CREATE INDEX notifications_by_cluster ON notifications (cluster_id);
CREATE INDEX notifications_unread ON notifications (id) WHERE NOT is_read;

CREATE TABLE webhooks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    generation INTEGER NOT NULL,
    name TEXT NOT NULL,
    url TEXT NOT NULL,
    topics TEXT NOT NULL,
    cluster_id INTEGER CONSTRAINT webhooks_cluster REFERENCES clusters (id) ON DELETE CASCADE,
    enabled INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    CONSTRAINT webhooks_name UNIQUE (name)
) STRICT;
CREATE INDEX webhooks_by_cluster ON webhooks (cluster_id);

-- Encrypted secrets; `key_name` identifies the encryption key.
CREATE TABLE webhook_secrets (
    webhook_id INTEGER PRIMARY KEY CONSTRAINT webhook_secrets_webhook REFERENCES webhooks (id) ON DELETE CASCADE,
    key_name TEXT NOT NULL,
    secret BLOB NOT NULL
) STRICT;

-- Outbox: deliveries are committed with their event and sent after the commit. A sender claims a delivery by moving
-- `due_at` beyond the request timeout, so that no other server sends it too.
CREATE TABLE webhook_deliveries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    webhook_id INTEGER NOT NULL CONSTRAINT webhook_deliveries_webhook REFERENCES webhooks (id) ON DELETE CASCADE,
    topic TEXT NOT NULL,
    body TEXT NOT NULL,
    status TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    tried_at INTEGER,
    answer INTEGER,
    problem TEXT
) STRICT;
CREATE INDEX webhook_deliveries_by_webhook ON webhook_deliveries (webhook_id, id);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (due_at) WHERE status = 'pending';
