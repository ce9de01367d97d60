//! Agents and the join tokens that admit them. The database stores digests of secrets, never the secrets.

use stoker_model::{
    Agent, AgentId, JoinToken, JoinTokenId, Micros, NewAgent, NewJoinToken, Node, NodeId, TenantId,
};

use crate::sql::{Args, Row};
use crate::tokens::hex;
use crate::{List, Page, Session, Store, StoreError, WriteTransaction};

const AGENTS: &str = "agents";
const SELECT_AGENT: &str = "SELECT id, uid, node_id, version, joined_at, last_seen_at FROM agents";
const AGENT_ORDERS: &[&str] = &["id", "uid", "node_id", "version", "joined_at", "last_seen_at"];
const TOKENS: &str = "join_tokens";
const SELECT_TOKEN: &str =
    "SELECT id, label, uses_left, may_replace, created_at, expires_at FROM join_tokens";
const TOKEN_ORDERS: &[&str] = &["id", "label", "uses_left", "created_at", "expires_at"];

fn read_agent(row: &Row) -> Result<Agent, StoreError> {
    let mut columns = row.columns(AGENTS);
    Ok(Agent {
        id: AgentId(columns.int()?),
        uid: columns.text()?,
        node_id: columns.opt_int()?.map(NodeId),
        version: columns.text()?,
        joined_at: columns.time()?,
        last_seen_at: columns.opt_time()?,
    })
}

fn read_token(row: &Row) -> Result<JoinToken, StoreError> {
    let mut columns = row.columns(TOKENS);
    Ok(JoinToken {
        id: JoinTokenId(columns.int()?),
        label: columns.opt_text()?,
        uses_left: columns.opt_int()?,
        may_replace: columns.bool()?,
        created_at: columns.time()?,
        expires_at: columns.time()?,
    })
}

impl Store {
    /// Records the last contact of agents. Not audited: it happens continuously and is not a user's change.
    pub async fn agents_touch(&self, uids: &[String], at: Micros) -> Result<(), StoreError> {
        let mut writing = self.begin_write(&stoker_model::Actor::server(), at).await?;
        let select = writing.select().and_texts("uid", uids.iter().map(String::as_str));
        let (condition, args) = select.finish();
        let sql = format!("UPDATE {AGENTS} SET last_seen_at = {}{condition}", at.0);
        writing.connection.execute(sql, args).await?;
        writing.commit_unaudited().await
    }
}

impl Session {
    /// The agent whose credential has this digest.
    pub async fn agent_find(&mut self, digest: &[u8; 32]) -> Result<Option<Agent>, StoreError> {
        let sql = format!("{SELECT_AGENT} WHERE digest = $1");
        let row = self.connection.fetch_optional(sql, Args::new().text(&hex(digest))).await?;
        row.as_ref().map(read_agent).transpose()
    }

    pub async fn agent_get(&mut self, id: AgentId) -> Result<Option<Agent>, StoreError> {
        let sql = format!("{SELECT_AGENT} WHERE id = $1");
        let row = self.connection.fetch_optional(sql, Args::new().int(id.0)).await?;
        row.as_ref().map(read_agent).transpose()
    }

    /// The agent of a node, or of the master, by uid.
    pub async fn agent_by_uid(&mut self, uid: &str) -> Result<Option<Agent>, StoreError> {
        let sql = format!("{SELECT_AGENT} WHERE uid = $1");
        let row = self.connection.fetch_optional(sql, Args::new().key(uid)).await?;
        row.as_ref().map(read_agent).transpose()
    }

    /// Digest of the agent's credential in hexadecimal.
    pub async fn agent_digest(&mut self, uid: &str) -> Result<Option<String>, StoreError> {
        let sql = "SELECT digest FROM agents WHERE uid = $1";
        let row = self.connection.fetch_optional(sql.to_owned(), Args::new().key(uid)).await?;
        row.map(|row| row.columns(AGENTS).text()).transpose()
    }

    /// All agents, or the agents of nodes in clusters of one tenant.
    pub async fn agent_list(
        &mut self,
        tenant_id: Option<TenantId>,
        list: &List,
    ) -> Result<Page<Agent>, StoreError> {
        let order = list.order_sql(AGENT_ORDERS, "id")?;
        let of_tenant = "node_id IN (SELECT n.id FROM nodes n JOIN clusters c ON c.id = n.cluster_id WHERE c.tenant_id = ?)";
        let select = self.select().and_int(of_tenant, tenant_id.map(|id| id.0));
        let (rows, total) = self.page(SELECT_AGENT, AGENTS, select, &order, list).await?;
        Ok(Page { items: rows.iter().map(read_agent).collect::<Result<_, _>>()?, total })
    }

    pub async fn join_token_get(&mut self, id: JoinTokenId) -> Result<Option<JoinToken>, StoreError> {
        let sql = format!("{SELECT_TOKEN} WHERE id = $1");
        let row = self.connection.fetch_optional(sql, Args::new().int(id.0)).await?;
        row.as_ref().map(read_token).transpose()
    }

    pub async fn join_token_list(&mut self, list: &List) -> Result<Page<JoinToken>, StoreError> {
        let order = list.order_sql(TOKEN_ORDERS, "id")?;
        let select = self.select();
        let (rows, total) = self.page(SELECT_TOKEN, TOKENS, select, &order, list).await?;
        Ok(Page { items: rows.iter().map(read_token).collect::<Result<_, _>>()?, total })
    }
}

impl WriteTransaction {
    /// Registers an agent. An existing agent of the same node is replaced and its credential revoked.
    pub async fn agent_put(&mut self, new: &NewAgent) -> Result<Agent, StoreError> {
        if let Some(id) = new.node_id {
            self.require::<Node>(id.0).await?;
        }
        let sql = "INSERT INTO agents (uid, node_id, digest, version, joined_at, last_seen_at) \
                   VALUES ($1, $2, $3, $4, $5, NULL) ON CONFLICT (uid) DO UPDATE SET node_id = excluded.node_id, \
                   digest = excluded.digest, version = excluded.version, joined_at = excluded.joined_at, \
                   last_seen_at = NULL RETURNING id";
        let args = Args::new()
            .key(&new.uid)
            .opt_int(new.node_id.map(|id| id.0))
            .text(&hex(&new.digest))
            .text(&new.version)
            .int(new.joined_at.0);
        let row = self.connection.fetch_optional(sql.to_owned(), args).await?;
        let row = row.ok_or(StoreError::AlreadyExists { what: "agent" })?;
        let id = AgentId(row.columns(AGENTS).int()?);
        // Revoke the certificates of the replaced agent.
        self.agent_certificates_revoke(id).await?;
        Ok(Agent {
            id,
            uid: new.uid.clone(),
            node_id: new.node_id,
            version: new.version.clone(),
            joined_at: new.joined_at,
            last_seen_at: None,
        })
    }

    /// Returns whether the agent existed.
    pub async fn agent_delete(&mut self, id: AgentId) -> Result<bool, StoreError> {
        let sql = "DELETE FROM agents WHERE id = $1".to_owned();
        Ok(self.connection.execute(sql, Args::new().int(id.0)).await? == 1)
    }

    pub async fn join_token_create(&mut self, new: &NewJoinToken) -> Result<JoinToken, StoreError> {
        let sql = "INSERT INTO join_tokens (label, digest, uses_left, may_replace, created_at, expires_at) \
                   VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (digest) DO NOTHING RETURNING id";
        let args = Args::new()
            .opt_text(new.label.as_deref())
            .text(&hex(&new.digest))
            .opt_int(new.uses_left)
            .bool(new.may_replace)
            .int(new.created_at.0)
            .int(new.expires_at.0);
        let row = self.connection.fetch_optional(sql.to_owned(), args).await?;
        let row = row.ok_or(StoreError::AlreadyExists { what: "join token" })?;
        Ok(JoinToken {
            id: JoinTokenId(row.columns(TOKENS).int()?),
            label: new.label.clone(),
            uses_left: new.uses_left,
            may_replace: new.may_replace,
            created_at: new.created_at,
            expires_at: new.expires_at,
        })
    }

    /// Consumes one use of a token if it is valid. Returns whether an agent that joins with it may replace an
    /// existing one.
    pub async fn join_token_use(&mut self, digest: &[u8; 32]) -> Result<Option<bool>, StoreError> {
        let sql = "UPDATE join_tokens SET uses_left = uses_left - 1 \
                   WHERE digest = $1 AND expires_at > $2 AND (uses_left IS NULL OR uses_left > 0) RETURNING may_replace";
        let args = Args::new().text(&hex(digest)).int(self.now().0);
        let row = self.connection.fetch_optional(sql.to_owned(), args).await?;
        row.map(|row| row.columns(TOKENS).bool()).transpose()
    }

    /// Returns whether the token existed.
    pub async fn join_token_delete(&mut self, id: JoinTokenId) -> Result<bool, StoreError> {
        let sql = "DELETE FROM join_tokens WHERE id = $1".to_owned();
        Ok(self.connection.execute(sql, Args::new().int(id.0)).await? == 1)
    }
}
