//! Agent certificates and revoked nodes.

use std::collections::HashSet;

use stoker_model::{AgentId, Micros, NewAgentCertificate, NodeId};

use crate::sql::{Args, Values, read_column};
use crate::{Session, StoreError, WriteTransaction};

const CERTIFICATES: &str = "agent_certificates";

/// Number of certificates retained when an agent gets another certificate. More than one, because an agent
/// may fail to save the newest.
const RETAINED: usize = 2;

impl Session {
    /// Reports whether the certificate belongs to the agent and has not expired.
    pub async fn agent_certificate_is_valid(
        &mut self,
        agent_id: AgentId,
        fingerprint: &[u8; 32],
        now: Micros,
    ) -> Result<bool, StoreError> {
        let sql =
            "SELECT 1 FROM agent_certificates WHERE fingerprint = $1 AND agent_id = $2 AND expires_at > $3";
        let args = Args::new().text(&hex::encode(fingerprint)).int(agent_id.0).int(now.0);
        Ok(self.connection.fetch_optional(sql.to_owned(), args).await?.is_some())
    }

    /// Returns the expiry of the agent's newest certificate.
    pub async fn agent_certificate_expiry(
        &mut self,
        agent_id: AgentId,
    ) -> Result<Option<Micros>, StoreError> {
        let sql =
            "SELECT expires_at FROM agent_certificates WHERE agent_id = $1 ORDER BY expires_at DESC LIMIT 1";
        let row = self.connection.fetch_optional(sql.to_owned(), Args::new().int(agent_id.0)).await?;
        row.map(|row| row.get(CERTIFICATES, "expires_at")).transpose()
    }

    /// Returns the digests that no longer belong to an agent, that is, the revoked credentials.
    pub async fn agents_revoked(&mut self, digests: &[[u8; 32]]) -> Result<Vec<[u8; 32]>, StoreError> {
        let texts: Vec<String> = digests.iter().map(hex::encode).collect();
        let select = self.select().and_texts("digest", texts.iter().map(String::as_str));
        let (condition, args) = select.finish();
        let rows = self.connection.fetch_all(format!("SELECT digest FROM agents{condition}"), args).await?;
        let valid: HashSet<String> = read_column(&rows, "agents", "digest")?;
        let revoked = digests.iter().zip(&texts).filter(|(_, text)| !valid.contains(*text));
        Ok(revoked.map(|(digest, _)| *digest).collect())
    }

    /// Returns the nodes whose agents were revoked.
    pub async fn nodes_revoked(&mut self) -> Result<HashSet<NodeId>, StoreError> {
        let sql = "SELECT node_id FROM node_revocations".to_owned();
        let rows = self.connection.fetch_all(sql, Args::new()).await?;
        read_column(&rows, "node_revocations", "node_id")
    }

    pub async fn node_is_revoked(&mut self, id: NodeId) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM node_revocations WHERE node_id = $1".to_owned();
        Ok(self.connection.fetch_optional(sql, Args::new().int(id.0)).await?.is_some())
    }
}

impl WriteTransaction {
    /// Adds a certificate to an agent and revokes all but the newest few.
    pub async fn agent_certificate_add(&mut self, new: &NewAgentCertificate) -> Result<(), StoreError> {
        let sql = format!(
            "DELETE FROM agent_certificates WHERE agent_id = $1 AND fingerprint NOT IN (SELECT fingerprint \
             FROM agent_certificates WHERE agent_id = $2 AND expires_at > $3 ORDER BY issued_at DESC, fingerprint LIMIT {RETAINED})"
        );
        let args = Args::new().int(new.agent_id.0).int(new.agent_id.0).int(new.issued_at.0);
        self.connection.execute(sql, args).await?;
        let values = Values::new()
            .text("fingerprint", &hex::encode(new.fingerprint))
            .set("agent_id", &new.agent_id)
            .text("serial", &new.serial)
            .set("issued_at", &new.issued_at)
            .set("expires_at", &new.expires_at);
        self.connection.insert(CERTIFICATES, values, "").await?;
        Ok(())
    }

    /// Revokes all certificates of the agent.
    pub async fn agent_certificates_revoke(&mut self, agent_id: AgentId) -> Result<(), StoreError> {
        let sql = "DELETE FROM agent_certificates WHERE agent_id = $1".to_owned();
        self.connection.execute(sql, Args::new().int(agent_id.0)).await?;
        Ok(())
    }

    /// Revokes a node and deletes its agent. Idempotent.
    pub async fn node_revoke(&mut self, id: NodeId) -> Result<(), StoreError> {
        let values = Values::new().set("node_id", &id).set("revoked_at", &self.now());
        self.connection.insert("node_revocations", values, "ON CONFLICT (node_id) DO NOTHING").await?;
        let sql = "DELETE FROM agents WHERE node_id = $1".to_owned();
        self.connection.execute(sql, Args::new().int(id.0)).await?;
        Ok(())
    }

    /// Lifts the revocation of a node.
    pub async fn node_readmit(&mut self, id: NodeId) -> Result<(), StoreError> {
        let sql = "DELETE FROM node_revocations WHERE node_id = $1".to_owned();
        self.connection.execute(sql, Args::new().int(id.0)).await?;
        Ok(())
    }
}
