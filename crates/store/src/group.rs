//! Membership, agent locations, mailboxes and leases of servers that share a database.
//!
//! None of these writes is audited: no user makes them.

use std::collections::BTreeMap;

use stoker_model::{Actor, AgentConnectionChange, AgentHost, Micros, QueuedPeerMessage, RunId, ServerRecord};

use crate::sql::{Args, Row};
use crate::{Session, Store, StoreError, WriteTransaction};

const SERVERS: &str = "servers";
const HOSTS: &str = "agent_hosts";
const MAIL: &str = "server_mail";
const LEASES: &str = "leases";
const MARKS: &str = "group_marks";
/// Rows per statement.
const ROWS_MAX: usize = 40;

fn read_member(row: &Row) -> Result<ServerRecord, StoreError> {
    let mut columns = row.columns(SERVERS);
    Ok(ServerRecord {
        id: columns.text()?,
        name: columns.text()?,
        address: columns.text()?,
        version: columns.text()?,
        receives_bus: columns.bool()?,
        started_at: columns.time()?,
        heartbeat_at: columns.time()?,
    })
}

fn read_host(row: &Row) -> Result<AgentHost, StoreError> {
    let mut columns = row.columns(HOSTS);
    Ok(AgentHost { uid: columns.text()?, number: columns.int()?, server_id: columns.opt_text()? })
}

impl Store {
    /// Records the heartbeat of a server.
    pub async fn server_heartbeat(&self, member: &ServerRecord) -> Result<(), StoreError> {
        let mut writing = self.group_change(member.heartbeat_at).await?;
        let sql = format!(
            "INSERT INTO {SERVERS} (id, name, address, version, hears_bus, started_at, seen_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (id) DO UPDATE SET hears_bus = excluded.hears_bus, \
             seen_at = excluded.seen_at"
        );
        let args = Args::new()
            .key(&member.id)
            .text(&member.name)
            .text(&member.address)
            .text(&member.version)
            .bool(member.receives_bus)
            .int(member.started_at.0)
            .int(member.heartbeat_at.0);
        writing.connection.execute(sql, args).await?;
        writing.commit_unaudited().await
    }

    /// Deregisters a server and releases its run leases and named leases immediately. Its record stays until
    /// the next sweep.
    pub async fn server_leave(&self, id: &str, now: Micros) -> Result<(), StoreError> {
        let mut writing = self.group_change(now).await?;
        for sql in [
            format!("UPDATE {SERVERS} SET seen_at = 0 WHERE id = $1"),
            format!("DELETE FROM {MAIL} WHERE server_id = $1"),
            format!("DELETE FROM {LEASES} WHERE owner = $1"),
            "UPDATE run_work SET lease_until = NULL WHERE owner = $1".to_owned(),
        ] {
            writing.connection.execute(sql, Args::new().key(id)).await?;
        }
        writing.commit_unaudited().await
    }

    /// Deletes servers not seen since `before`, and expired messages.
    pub async fn servers_expire(&self, before: Micros, now: Micros) -> Result<(), StoreError> {
        let mut writing = self.group_change(now).await?;
        let stale = Args::new().int(before.0);
        writing.connection.execute(format!("DELETE FROM {SERVERS} WHERE seen_at < $1"), stale).await?;
        let expired = Args::new().int(now.0);
        writing.connection.execute(format!("DELETE FROM {MAIL} WHERE expires_at < $1"), expired).await?;
        writing.commit_unaudited().await
    }

    /// Records that agents connected to or disconnected from a server. A disconnect is ignored if a newer
    /// connection, to this server or another, has replaced it.
    pub async fn agent_hosts_put(
        &self,
        server: &str,
        changes: &[AgentConnectionChange],
        now: Micros,
    ) -> Result<(), StoreError> {
        // PostgreSQL rejects an upsert that writes one row twice; the last change of each agent wins.
        let last: BTreeMap<&str, &AgentConnectionChange> =
            changes.iter().map(|change| (change.uid.as_str(), change)).collect();
        let mut writing = self.group_change(now).await?;
        let sql = format!("SELECT coalesce(max(number), 0) FROM {HOSTS}");
        let row = writing.connection.fetch_optional(sql, Args::new()).await?;
        let mut number = row.map(|row| row.columns(HOSTS).int()).transpose()?.unwrap_or_default();
        let (connected, disconnected): (Vec<&AgentConnectionChange>, Vec<&AgentConnectionChange>) =
            last.into_values().partition(|change| change.is_connected);
        for chunk in connected.chunks(ROWS_MAX) {
            let mut args = Args::new();
            for change in chunk {
                number += 1;
                args = args.key(&change.uid).int(number).text(server).int(change.connection);
            }
            let sql = format!(
                "INSERT INTO {HOSTS} (uid, number, server_id, connection) VALUES {} ON CONFLICT (uid) DO UPDATE SET \
                 number = excluded.number, server_id = excluded.server_id, connection = excluded.connection",
                placeholders(chunk.len(), 4)
            );
            writing.connection.execute(sql, args).await?;
        }
        for change in disconnected {
            number += 1;
            let sql = format!(
                "UPDATE {HOSTS} SET number = $1, server_id = NULL WHERE uid = $2 AND server_id = $3 AND connection = $4"
            );
            let args = Args::new().int(number).key(&change.uid).text(server).int(change.connection);
            writing.connection.execute(sql, args).await?;
        }
        writing.commit_unaudited().await
    }

    /// Queues messages for other servers. The order of messages for one server is preserved.
    pub async fn mail_put(
        &self,
        mail: &[(String, String)],
        expires_at: Micros,
        now: Micros,
    ) -> Result<(), StoreError> {
        let mut writing = self.group_change(now).await?;
        for chunk in mail.chunks(ROWS_MAX) {
            let args = chunk
                .iter()
                .fold(Args::new(), |args, (server, body)| args.key(server).text(body).int(expires_at.0));
            let sql = format!(
                "INSERT INTO {MAIL} (server_id, body, expires_at) VALUES {}",
                placeholders(chunk.len(), 3)
            );
            writing.connection.execute(sql, args).await?;
        }
        writing.commit_unaudited().await
    }

    /// Acknowledges the messages of a server up to and including `last`.
    pub async fn mail_ack(&self, server: &str, last: i64, now: Micros) -> Result<(), StoreError> {
        let mut writing = self.group_change(now).await?;
        let sql = format!("DELETE FROM {MAIL} WHERE server_id = $1 AND id <= $2");
        writing.connection.execute(sql, Args::new().key(server).int(last)).await?;
        writing.commit_unaudited().await
    }

    /// Acquires or renews a named lease until `until`. Returns whether `owner` holds it.
    pub async fn lease_acquire(
        &self,
        name: &str,
        owner: &str,
        now: Micros,
        until: Micros,
    ) -> Result<bool, StoreError> {
        let mut writing = self.group_change(now).await?;
        let sql = format!(
            "INSERT INTO {LEASES} (name, owner, until) VALUES ($1, $2, $3) ON CONFLICT (name) DO UPDATE SET \
             owner = excluded.owner, until = excluded.until WHERE {LEASES}.owner = $2 OR {LEASES}.until <= $4"
        );
        let args = Args::new().key(name).text(owner).int(until.0).int(now.0);
        let is_held = writing.connection.execute(sql, args).await? == 1;
        writing.commit_unaudited().await?;
        Ok(is_held)
    }

    /// Agrees on a value that all servers must share: the first writer wins. Returns the stored value.
    pub async fn shared_value_agree(
        &self,
        name: &str,
        value: &str,
        now: Micros,
    ) -> Result<String, StoreError> {
        let mut writing = self.group_change(now).await?;
        let sql = format!("INSERT INTO {MARKS} (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING");
        writing.connection.execute(sql, Args::new().key(name).text(value)).await?;
        let sql = format!("SELECT value FROM {MARKS} WHERE name = $1");
        let row = writing.connection.fetch_optional(sql, Args::new().key(name)).await?;
        let agreed = row.map(|row| row.columns(MARKS).text()).transpose()?;
        writing.commit_unaudited().await?;
        Ok(agreed.unwrap_or_else(|| value.to_owned()))
    }

    async fn group_change(&self, now: Micros) -> Result<WriteTransaction, StoreError> {
        self.begin_write(&Actor::server(), now).await
    }
}

impl WriteTransaction {
    /// Overwrites a shared value.
    pub async fn shared_value_put(&mut self, name: &str, value: &str) -> Result<(), StoreError> {
        let sql = format!(
            "INSERT INTO {MARKS} (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
        );
        self.connection.execute(sql, Args::new().key(name).text(value)).await?;
        Ok(())
    }
}

impl Session {
    /// All registered servers, including those without a recent heartbeat.
    pub async fn servers(&mut self) -> Result<Vec<ServerRecord>, StoreError> {
        let sql = format!(
            "SELECT id, name, address, version, hears_bus, started_at, seen_at FROM {SERVERS} ORDER BY started_at, id"
        );
        let rows = self.connection.fetch_all(sql, Args::new()).await?;
        rows.iter().map(read_member).collect()
    }

    /// Unfinished runs whose lease is valid at `now`, each with the lease owner.
    pub async fn runs_leased(&mut self, now: Micros) -> Result<Vec<(String, RunId)>, StoreError> {
        let sql = "SELECT w.owner, w.run_id FROM run_work w JOIN runs r ON r.id = w.run_id \
                   WHERE r.status IN ('pending', 'running') AND w.owner IS NOT NULL AND w.lease_until > $1 ORDER BY w.run_id";
        let rows = self.connection.fetch_all(sql.to_owned(), Args::new().int(now.0)).await?;
        let read = |row: &Row| {
            let mut columns = row.columns("run_work");
            Ok((columns.text()?, RunId(columns.int()?)))
        };
        rows.iter().map(read).collect()
    }

    /// Agent locations that changed after change number `after`, in change order.
    pub async fn agent_hosts_since(&mut self, after: i64) -> Result<Vec<AgentHost>, StoreError> {
        let sql = format!("SELECT uid, number, server_id FROM {HOSTS} WHERE number > $1 ORDER BY number");
        let rows = self.connection.fetch_all(sql, Args::new().int(after)).await?;
        rows.iter().map(read_host).collect()
    }

    pub async fn agent_host_get(&mut self, uid: &str) -> Result<Option<AgentHost>, StoreError> {
        let sql = format!("SELECT uid, number, server_id FROM {HOSTS} WHERE uid = $1");
        let row = self.connection.fetch_optional(sql, Args::new().key(uid)).await?;
        row.as_ref().map(read_host).transpose()
    }

    /// Up to `limit` messages of a server with an id greater than `after`, in order.
    pub async fn mail_since(
        &mut self,
        server: &str,
        after: i64,
        limit: u32,
    ) -> Result<Vec<QueuedPeerMessage>, StoreError> {
        let sql =
            format!("SELECT id, body FROM {MAIL} WHERE server_id = $1 AND id > $2 ORDER BY id LIMIT {limit}");
        let rows = self.connection.fetch_all(sql, Args::new().key(server).int(after)).await?;
        let read = |row: &Row| {
            let mut columns = row.columns(MAIL);
            Ok(QueuedPeerMessage { id: columns.int()?, body: columns.text()? })
        };
        rows.iter().map(read).collect()
    }
}

/// Placeholder rows such as `($1, $2), ($3, $4)`.
fn placeholders(n_rows: usize, n_columns: usize) -> String {
    let row = |index: usize| {
        let placeholders: Vec<String> =
            (1..=n_columns).map(|column| format!("${}", index * n_columns + column)).collect();
        format!("({})", placeholders.join(", "))
    };
    (0..n_rows).map(row).collect::<Vec<_>>().join(", ")
}
