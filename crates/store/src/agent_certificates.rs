//! Agent certificates and revoked nodes.

use std::collections::HashSet;

use stoker_model::{AgentId, Micros, NewAgentCertificate, NodeId};

use crate::sql::Args;
use crate::tokens::hex;
use crate::{Session, StoreError, WriteTransaction};

const CERTIFICATES: &str = "agent_certificates";

/// Certificates retained when an agent gets another one. More than one, because an agent may fail to save the
/// newest.
const RETAINED: usize = 2;

impl Session {
    /// Whether the certificate belongs to the agent and has not expired.
    pub async fn agent_certificate_is_valid(
        &mut self,
        agent_id: AgentId,
        fingerprint: &[u8; 32],
        now: Micros,
    ) -> Result<bool, StoreError> {
        let sql =
            "SELECT 1 FROM agent_certificates WHERE fingerprint = $1 AND agent_id = $2 AND expires_at > $3";
        let args = Args::new().text(&hex(fingerprint)).int(agent_id.0).int(now.0);
        Ok(self.connection.fetch_optional(sql.to_owned(), args).await?.is_some())
    }

    /// Expiry of the agent's newest certificate.
    pub async fn agent_certificate_expiry(
        &mut self,
        agent_id: AgentId,
    ) -> Result<Option<Micros>, StoreError> {
        let sql =
            "SELECT expires_at FROM agent_certificates WHERE agent_id = $1 ORDER BY expires_at DESC LIMIT 1";
        let row = self.connection.fetch_optional(sql.to_owned(), Args::new().int(agent_id.0)).await?;
        row.map(|row| row.columns(CERTIFICATES).time()).transpose()
    }

    /// The digests that belong to no agent any more, that is, the revoked credentials.
    pub async fn agents_revoked(&mut self, digests: &[[u8; 32]]) -> Result<Vec<[u8; 32]>, StoreError> {
        let texts: Vec<String> = digests.iter().map(hex).collect();
        let select = self.select().and_texts("digest", texts.iter().map(String::as_str));
        let (condition, args) = select.finish();
        let rows = self.connection.fetch_all(format!("SELECT digest FROM agents{condition}"), args).await?;
        let valid: Result<HashSet<String>, _> = rows.iter().map(|row| row.columns("agents").text()).collect();
        let valid = valid?;
        let revoked = digests.iter().zip(&texts).filter(|(_, text)| !valid.contains(*text));
        Ok(revoked.map(|(digest, _)| *digest).collect())
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
        let sql = "INSERT INTO agent_certificates (fingerprint, agent_id, serial, issued_at, expires_at) \
                   VALUES ($1, $2, $3, $4, $5)";
        let args = Args::new()
            .text(&hex(&new.fingerprint))
            .int(new.agent_id.0)
            .text(&new.serial)
            .int(new.issued_at.0)
            .int(new.expires_at.0);
        self.connection.execute(sql.to_owned(), args).await?;
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
        let sql = "INSERT INTO node_revocations (node_id, revoked_at) VALUES ($1, $2) ON CONFLICT (node_id) DO NOTHING";
        let args = Args::new().int(id.0).int(self.now().0);
        self.connection.execute(sql.to_owned(), args).await?;
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
