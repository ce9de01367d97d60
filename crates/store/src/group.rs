//! Membership, agent locations, mailboxes and leases of servers that share a database.
//!
//! These writes are not audited, because they are not changes by users.

use std::collections::BTreeMap;

use stoker_model::{
    Actor, AgentConnectionChange, AgentHost, AgentUid, Micros, QueuedPeerMessage, RunId, ServerRecord,
};

use crate::sql::{Args, Record as _, Values, read_pairs, record};
use crate::{Session, Store, StoreError, WriteTransaction};

const SERVERS: &str = "servers";
const HOSTS: &str = "agent_hosts";
const MAIL: &str = "server_mail";
const LEASES: &str = "leases";
const MARKS: &str = "group_marks";

record! {
    ServerRecord in "servers", "server" {
        id [key],
        name,
        address,
        version,
        receives_bus as "hears_bus",
        started_at,
        heartbeat_at as "seen_at",
    }
}

record! {
    AgentHost in "agent_hosts", "agent location" { uid, number, server_id }
}

record! {
    QueuedPeerMessage in "server_mail", "message" { id [auto], body }
}

impl Store {
    /// Records the heartbeat of a server.
    pub async fn server_heartbeat(&self, member: &ServerRecord) -> Result<(), StoreError> {
        let mut writing = self.group_change(member.heartbeat_at).await?;
        let renew =
            "ON CONFLICT (id) DO UPDATE SET hears_bus = excluded.hears_bus, seen_at = excluded.seen_at";
        writing.connection.insert(SERVERS, Values::of(member), renew).await?;
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
        let sql = format!("SELECT coalesce(max(number), 0) AS n FROM {HOSTS}");
        let last_number = writing.number(sql, Args::new()).await?;
        let (connected, disconnected): (Vec<&AgentConnectionChange>, Vec<&AgentConnectionChange>) =
            last.into_values().partition(|change| change.is_connected);
        let mut number = last_number;
        let row = |change: &AgentConnectionChange| {
            number += 1;
            let values = Values::new().key("uid", &change.uid).set("number", &number);
            values.text("server_id", server).set("connection", &change.connection)
        };
        let rows = connected.into_iter().map(row).collect();
        let replace = "ON CONFLICT (uid) DO UPDATE SET number = excluded.number, server_id = excluded.server_id, \
                       connection = excluded.connection";
        writing.connection.insert_many(HOSTS, rows, replace).await?;
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
        let row = |(server, body): &(String, String)| {
            Values::new().key("server_id", server).text("body", body).set("expires_at", &expires_at)
        };
        writing.connection.insert_many(MAIL, mail.iter().map(row).collect(), "").await?;
        writing.commit_unaudited().await
    }

    /// Acknowledges the messages of a server up to and including `last`.
    pub async fn mail_ack(&self, server: &str, last: i64, now: Micros) -> Result<(), StoreError> {
        let mut writing = self.group_change(now).await?;
        let sql = format!("DELETE FROM {MAIL} WHERE server_id = $1 AND id <= $2");
        writing.connection.execute(sql, Args::new().key(server).int(last)).await?;
        writing.commit_unaudited().await
    }

    /// Acquires or renews a named lease until `until`. Returns whether `owner` holds the lease.
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
        let values = Values::new().key("name", name).text("value", value);
        writing.connection.insert(MARKS, values, "ON CONFLICT (name) DO NOTHING").await?;
        let sql = format!("SELECT value FROM {MARKS} WHERE name = $1");
        let row = writing.connection.fetch_optional(sql, Args::new().key(name)).await?;
        let agreed = row.map(|row| row.get(MARKS, "value")).transpose()?;
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
        let values = Values::new().key("name", name).text("value", value);
        let replace = "ON CONFLICT (name) DO UPDATE SET value = excluded.value";
        self.connection.insert(MARKS, values, replace).await?;
        Ok(())
    }
}

impl Session {
    /// Returns all registered servers, including those without a recent heartbeat.
    pub async fn servers(&mut self) -> Result<Vec<ServerRecord>, StoreError> {
        let sql = format!("{} ORDER BY started_at, id", ServerRecord::table().select_sql());
        self.read_all(sql, Args::new()).await
    }

    /// Returns the unfinished runs whose lease is valid at `now`, each with the lease owner.
    pub async fn runs_leased(&mut self, now: Micros) -> Result<Vec<(String, RunId)>, StoreError> {
        let sql = "SELECT w.owner AS owner, w.run_id AS run_id FROM run_work w JOIN runs r ON r.id = w.run_id \
                   WHERE r.status IN ('pending', 'running') AND w.owner IS NOT NULL AND w.lease_until > $1 ORDER BY w.run_id";
        let rows = self.connection.fetch_all(sql.to_owned(), Args::new().int(now.0)).await?;
        read_pairs(&rows, "run_work", ["owner", "run_id"])
    }

    /// Returns the agent locations that changed after change number `after`, in change order.
    pub async fn agent_hosts_since(&mut self, after: i64) -> Result<Vec<AgentHost>, StoreError> {
        let sql = format!("{} WHERE number > $1 ORDER BY number", AgentHost::table().select_sql());
        self.read_all(sql, Args::new().int(after)).await
    }

    pub async fn agent_host_get(&mut self, uid: &AgentUid) -> Result<Option<AgentHost>, StoreError> {
        self.get_where("uid = $1", Args::new().key(uid)).await
    }

    /// Returns up to `limit` messages of a server with an id greater than `after`, in order.
    pub async fn mail_since(
        &mut self,
        server: &str,
        after: i64,
        limit: u32,
    ) -> Result<Vec<QueuedPeerMessage>, StoreError> {
        let sql = format!(
            "{} WHERE server_id = $1 AND id > $2 ORDER BY id LIMIT {limit}",
            QueuedPeerMessage::table().select_sql()
        );
        self.read_all(sql, Args::new().key(server).int(after)).await
    }
}
