//! Agents and the join tokens that admit them. The database stores digests of secrets, never the secrets.

use stoker_model::{
    Agent, AgentId, AgentUid, JoinToken, JoinTokenId, Micros, NewAgent, NewJoinToken, Node, TenantId,
};

use crate::sql::{Args, Values, record};
use crate::{List, Page, Session, Store, StoreError, WriteTransaction};

const AGENTS: &str = "agents";

record! {
    Agent in "agents", "agent" {
        id [auto sort], uid [key sort], node_id [sort], version [sort], joined_at [sort], last_seen_at [sort],
    }
}

record! {
    JoinToken in "join_tokens", "join token" {
        id [auto sort], label [sort], uses_left [sort], may_replace, created_at [sort], expires_at [sort],
    }
}

impl Store {
    /// Records the last contact of agents. Not audited, because it happens continuously and is not a change
    /// by a user.
    pub async fn agents_touch(&self, uids: &[AgentUid], at: Micros) -> Result<(), StoreError> {
        let mut writing = self.begin_write(&stoker_model::Actor::server(), at).await?;
        let select = writing.select().and_texts("uid", uids.iter().map(AgentUid::as_str));
        let (condition, args) = select.finish();
        let sql = format!("UPDATE {AGENTS} SET last_seen_at = {}{condition}", at.0);
        writing.connection.execute(sql, args).await?;
        writing.commit_unaudited().await
    }
}

impl Session {
    /// Returns the agent whose credential has this digest.
    pub async fn agent_find(&mut self, digest: &[u8; 32]) -> Result<Option<Agent>, StoreError> {
        self.get_where("digest = $1", Args::new().text(&hex::encode(digest))).await
    }

    pub async fn agent_get(&mut self, id: AgentId) -> Result<Option<Agent>, StoreError> {
        self.get(id.0).await
    }

    /// Returns the agent of a node, or of the master, by uid.
    pub async fn agent_by_uid(&mut self, uid: &AgentUid) -> Result<Option<Agent>, StoreError> {
        self.get_where("uid = $1", Args::new().key(uid)).await
    }

    /// Returns the digest of the agent's credential in hexadecimal.
    pub async fn agent_digest(&mut self, uid: &AgentUid) -> Result<Option<String>, StoreError> {
        let sql = "SELECT digest FROM agents WHERE uid = $1";
        let row = self.connection.fetch_optional(sql.to_owned(), Args::new().key(uid)).await?;
        row.map(|row| row.get(AGENTS, "digest")).transpose()
    }

    /// Returns all agents, or the agents of nodes in clusters of one tenant.
    pub async fn agent_list(
        &mut self,
        tenant_id: Option<TenantId>,
        list: &List,
    ) -> Result<Page<Agent>, StoreError> {
        let of_tenant = "node_id IN (SELECT n.id FROM nodes n JOIN clusters c ON c.id = n.cluster_id WHERE c.tenant_id = ?)";
        let select = self.select().and_int(of_tenant, tenant_id.map(|id| id.0));
        self.list(select, list).await
    }

    pub async fn join_token_get(&mut self, id: JoinTokenId) -> Result<Option<JoinToken>, StoreError> {
        self.get(id.0).await
    }

    pub async fn join_token_list(&mut self, list: &List) -> Result<Page<JoinToken>, StoreError> {
        self.list(self.select(), list).await
    }
}

impl WriteTransaction {
    /// Registers an agent. An existing agent of the same node is replaced and its credential revoked.
    pub async fn agent_put(&mut self, new: &NewAgent) -> Result<Agent, StoreError> {
        if let Some(id) = new.node_id {
            self.require::<Node>(id.0).await?;
        }
        let mut agent = Agent {
            id: AgentId(0),
            uid: new.uid.clone(),
            node_id: new.node_id,
            version: new.version.clone(),
            joined_at: new.joined_at,
            last_seen_at: None,
        };
        let values = Values::of(&agent).text("digest", &hex::encode(new.digest));
        let replace = "ON CONFLICT (uid) DO UPDATE SET node_id = excluded.node_id, digest = excluded.digest, \
                       version = excluded.version, joined_at = excluded.joined_at, last_seen_at = NULL RETURNING id";
        let row = self.connection.insert_returning(AGENTS, values, replace).await?;
        agent.id = row.ok_or(StoreError::AlreadyExists { what: "agent" })?.get(AGENTS, "id")?;
        // Revoke the certificates of the replaced agent.
        self.agent_certificates_revoke(agent.id).await?;
        Ok(agent)
    }

    /// Returns whether the agent existed.
    pub async fn agent_delete(&mut self, id: AgentId) -> Result<bool, StoreError> {
        let sql = "DELETE FROM agents WHERE id = $1".to_owned();
        Ok(self.connection.execute(sql, Args::new().int(id.0)).await? == 1)
    }

    pub async fn join_token_create(&mut self, new: &NewJoinToken) -> Result<JoinToken, StoreError> {
        let mut token = JoinToken {
            id: JoinTokenId(0),
            label: new.label.clone(),
            uses_left: new.uses_left,
            may_replace: new.may_replace,
            created_at: new.created_at,
            expires_at: new.expires_at,
        };
        let values = Values::of(&token).text("digest", &hex::encode(new.digest));
        let id = self.insert::<JoinToken>("(digest)", values).await?;
        token.id = JoinTokenId(id.ok_or(StoreError::AlreadyExists { what: "join token" })?);
        Ok(token)
    }

    /// Consumes one use of a token if it is valid. Returns whether an agent that joins with it may replace an
    /// existing agent.
    pub async fn join_token_use(&mut self, digest: &[u8; 32]) -> Result<Option<bool>, StoreError> {
        let sql = "UPDATE join_tokens SET uses_left = uses_left - 1 \
                   WHERE digest = $1 AND expires_at > $2 AND (uses_left IS NULL OR uses_left > 0) RETURNING may_replace";
        let args = Args::new().text(&hex::encode(digest)).int(self.now().0);
        let row = self.connection.fetch_optional(sql.to_owned(), args).await?;
        row.map(|row| row.get("join_tokens", "may_replace")).transpose()
    }

    /// Returns whether the token existed.
    pub async fn join_token_delete(&mut self, id: JoinTokenId) -> Result<bool, StoreError> {
        let sql = "DELETE FROM join_tokens WHERE id = $1".to_owned();
        Ok(self.connection.execute(sql, Args::new().int(id.0)).await? == 1)
    }
}
