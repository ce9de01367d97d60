//! Servers that share a database, and how they know of each other.
//!
//! Nothing of this is a change that anybody made: it leaves no trace in the audit log.

use std::collections::BTreeMap;

use stoker_model::{Actor, AgentHost, HostChange, Mail, Member, Micros, RunId};

use crate::sql::{Args, Row};
use crate::{Session, Store, StoreError, Writing};

const SERVERS: &str = "servers";
const HOSTS: &str = "agent_hosts";
const MAIL: &str = "server_mail";
const LEASES: &str = "leases";
const MARKS: &str = "group_marks";
/// How many rows one statement writes.
const ROWS_MAX: usize = 40;

fn read_member(row: &Row) -> Result<Member, StoreError> {
    let mut columns = row.columns(SERVERS);
    Ok(Member {
        id: columns.text()?,
        name: columns.text()?,
        address: columns.text()?,
        version: columns.text()?,
        hears_bus: columns.bool()?,
        started_at: columns.time()?,
        seen_at: columns.time()?,
    })
}

fn read_host(row: &Row) -> Result<AgentHost, StoreError> {
    let mut columns = row.columns(HOSTS);
    Ok(AgentHost { uid: columns.text()?, number: columns.int()?, server_id: columns.opt_text()? })
}

impl Store {
    /// A server says that it is there.
    pub async fn server_beat(&self, member: &Member) -> Result<(), StoreError> {
        let mut writing = self.group_change(member.seen_at).await?;
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
            .bool(member.hears_bus)
            .int(member.started_at.0)
            .int(member.seen_at.0);
        writing.connection.execute(sql, args).await?;
        writing.commit_quietly().await
    }

    /// A server goes: its runs and everything else it held are free at once. That it was there is remembered for a while.
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
        writing.commit_quietly().await
    }

    /// Forgets servers that were not seen since an instant, with what waits for them.
    pub async fn servers_sweep(&self, before: Micros, now: Micros) -> Result<(), StoreError> {
        let mut writing = self.group_change(now).await?;
        let gone = Args::new().int(before.0);
        writing.connection.execute(format!("DELETE FROM {SERVERS} WHERE seen_at < $1"), gone).await?;
        let expired = Args::new().int(now.0);
        writing.connection.execute(format!("DELETE FROM {MAIL} WHERE expires_at < $1"), expired).await?;
        writing.commit_quietly().await
    }

    /// Agents have come to a server or left it. The end of a connection that another has taken the place of, here or
    /// elsewhere, changes nothing.
    pub async fn hosts_put(
        &self,
        server: &str,
        changes: &[HostChange],
        now: Micros,
    ) -> Result<(), StoreError> {
        // One statement can write a row once.
        let last: BTreeMap<&str, &HostChange> =
            changes.iter().map(|change| (change.uid.as_str(), change)).collect();
        let mut writing = self.group_change(now).await?;
        let sql = format!("SELECT coalesce(max(number), 0) FROM {HOSTS}");
        let row = writing.connection.fetch_optional(sql, Args::new()).await?;
        let mut number = row.map(|row| row.columns(HOSTS).int()).transpose()?.unwrap_or_default();
        let (come, gone): (Vec<&HostChange>, Vec<&HostChange>) =
            last.into_values().partition(|change| change.is_connected);
        for chunk in come.chunks(ROWS_MAX) {
            let mut args = Args::new();
            for change in chunk {
                number += 1;
                args = args.key(&change.uid).int(number).text(server).int(change.connection);
            }
            let sql = format!(
                "INSERT INTO {HOSTS} (uid, number, server_id, connection) VALUES {} ON CONFLICT (uid) DO UPDATE SET \
                 number = excluded.number, server_id = excluded.server_id, connection = excluded.connection",
                places(chunk.len(), 4)
            );
            writing.connection.execute(sql, args).await?;
        }
        for change in gone {
            number += 1;
            let sql = format!(
                "UPDATE {HOSTS} SET number = $1, server_id = NULL WHERE uid = $2 AND server_id = $3 AND connection = $4"
            );
            let args = Args::new().int(number).key(&change.uid).text(server).int(change.connection);
            writing.connection.execute(sql, args).await?;
        }
        writing.commit_quietly().await
    }

    /// Puts messages where their servers find them, each in the order given.
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
            let sql =
                format!("INSERT INTO {MAIL} (server_id, body, expires_at) VALUES {}", places(chunk.len(), 3));
            writing.connection.execute(sql, args).await?;
        }
        writing.commit_quietly().await
    }

    /// A server has read its messages up to one.
    pub async fn mail_done(&self, server: &str, last: i64, now: Micros) -> Result<(), StoreError> {
        let mut writing = self.group_change(now).await?;
        let sql = format!("DELETE FROM {MAIL} WHERE server_id = $1 AND id <= $2");
        writing.connection.execute(sql, Args::new().key(server).int(last)).await?;
        writing.commit_quietly().await
    }

    /// Takes something until an instant that one of all servers does at a time; whether nobody else has it. Whoever has
    /// it gets it again.
    pub async fn lease_take(
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
        let is_taken = writing.connection.execute(sql, args).await? == 1;
        writing.commit_quietly().await?;
        Ok(is_taken)
    }

    /// What all servers have to have in common: the first one says it, all get what it said.
    pub async fn mark_agree(&self, name: &str, value: &str, now: Micros) -> Result<String, StoreError> {
        let mut writing = self.group_change(now).await?;
        let sql = format!("INSERT INTO {MARKS} (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING");
        writing.connection.execute(sql, Args::new().key(name).text(value)).await?;
        let sql = format!("SELECT value FROM {MARKS} WHERE name = $1");
        let row = writing.connection.fetch_optional(sql, Args::new().key(name)).await?;
        let agreed = row.map(|row| row.columns(MARKS).text()).transpose()?;
        writing.commit_quietly().await?;
        Ok(agreed.unwrap_or_else(|| value.to_owned()))
    }

    async fn group_change(&self, now: Micros) -> Result<Writing, StoreError> {
        self.change(&Actor::server(), now).await
    }
}

impl Writing {
    /// Says anew what all servers have to have in common.
    pub async fn mark_put(&mut self, name: &str, value: &str) -> Result<(), StoreError> {
        let sql = format!(
            "INSERT INTO {MARKS} (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
        );
        self.connection.execute(sql, Args::new().key(name).text(value)).await?;
        Ok(())
    }
}

impl Session {
    /// All servers that were there, also those of which nothing is heard any more.
    pub async fn servers(&mut self) -> Result<Vec<Member>, StoreError> {
        let sql = format!(
            "SELECT id, name, address, version, hears_bus, started_at, seen_at FROM {SERVERS} ORDER BY started_at, id"
        );
        let rows = self.connection.fetch_all(sql, Args::new()).await?;
        rows.iter().map(read_member).collect()
    }

    /// Runs that have not ended and that somebody holds at `now`, and who.
    pub async fn runs_held(&mut self, now: Micros) -> Result<Vec<(String, RunId)>, StoreError> {
        let sql = "SELECT w.owner, w.run_id FROM run_work w JOIN runs r ON r.id = w.run_id \
                   WHERE r.status IN ('pending', 'running') AND w.owner IS NOT NULL AND w.lease_until > $1 ORDER BY w.run_id";
        let rows = self.connection.fetch_all(sql.to_owned(), Args::new().int(now.0)).await?;
        let read = |row: &Row| {
            let mut columns = row.columns("run_work");
            Ok((columns.text()?, RunId(columns.int()?)))
        };
        rows.iter().map(read).collect()
    }

    /// Where agents are, as far as it changed after number `after`, in that order.
    pub async fn hosts_since(&mut self, after: i64) -> Result<Vec<AgentHost>, StoreError> {
        let sql = format!("SELECT uid, number, server_id FROM {HOSTS} WHERE number > $1 ORDER BY number");
        let rows = self.connection.fetch_all(sql, Args::new().int(after)).await?;
        rows.iter().map(read_host).collect()
    }

    pub async fn host_of(&mut self, uid: &str) -> Result<Option<AgentHost>, StoreError> {
        let sql = format!("SELECT uid, number, server_id FROM {HOSTS} WHERE uid = $1");
        let row = self.connection.fetch_optional(sql, Args::new().key(uid)).await?;
        row.as_ref().map(read_host).transpose()
    }

    /// Messages for a server after number `after`, in their order, not more than `limit`.
    pub async fn mail_since(
        &mut self,
        server: &str,
        after: i64,
        limit: u32,
    ) -> Result<Vec<Mail>, StoreError> {
        let sql =
            format!("SELECT id, body FROM {MAIL} WHERE server_id = $1 AND id > $2 ORDER BY id LIMIT {limit}");
        let rows = self.connection.fetch_all(sql, Args::new().key(server).int(after)).await?;
        let read = |row: &Row| {
            let mut columns = row.columns(MAIL);
            Ok(Mail { id: columns.int()?, body: columns.text()? })
        };
        rows.iter().map(read).collect()
    }
}

/// `($1, $2), ($3, $4)`.
fn places(n_rows: usize, n_columns: usize) -> String {
    let row = |index: usize| {
        let places: Vec<String> =
            (1..=n_columns).map(|place| format!("${}", index * n_columns + place)).collect();
        format!("({})", places.join(", "))
    };
    (0..n_rows).map(row).collect::<Vec<_>>().join(", ")
}
