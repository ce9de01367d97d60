//! Credentials with which nodes read package repositories.
//!
//! A password is an HMAC of the node and the time its agent joined, keyed with a secret shared by all
//! servers. No password is stored. The password of a node does not change until its agent is revoked, which
//! invalidates it.

use std::net::SocketAddr;
use std::sync::OnceLock;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use stoker_model::{Agent, Micros, NodeId};
use stoker_store::Store;
use subtle::ConstantTimeEq as _;

use crate::error::ServiceResult;
use crate::random;

/// Name of the secret among the values shared by all servers.
const MARK: &str = "package_key";
const SECRET_CHARS: usize = 64;
const USER_PREFIX: &str = "node-";
/// Length of a fingerprint: sufficient to distinguish passwords, too short to reveal one.
const FINGERPRINT_CHARS: usize = 12;

pub struct PackageAccess {
    key: hmac::Key,
    /// Address the server is bound to.
    bound: OnceLock<SocketAddr>,
}

/// User name and password of a node.
pub struct NodeCredential {
    pub user: String,
    pub password: String,
}

impl PackageAccess {
    pub async fn agree(store: &Store, now: Micros) -> ServiceResult<Self> {
        let secret = random::hex_text(SECRET_CHARS)?;
        Ok(Self::new(&store.shared_value_agree(MARK, &secret, now).await?))
    }

    fn new(secret: &str) -> Self {
        Self { key: hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()), bound: OnceLock::new() }
    }

    pub fn listens_on(&self, address: SocketAddr) {
        // The address is set once: a server binds one address.
        _ = self.bound.set(address);
    }

    pub fn bound(&self) -> Option<SocketAddr> {
        self.bound.get().copied()
    }

    /// Returns the credential of a node. Agents started by the server itself have not joined.
    pub fn credential(&self, node: NodeId, agent: Option<&Agent>) -> NodeCredential {
        NodeCredential {
            user: format!("{USER_PREFIX}{node}"),
            password: self.signed("password", node, agent.map(|agent| agent.joined_at)),
        }
    }

    /// Returns a fingerprint that changes with the credential.
    pub fn fingerprint(&self, node: NodeId, joined_at: Option<Micros>) -> String {
        let mut signed = self.signed("fingerprint", node, joined_at);
        signed.truncate(FINGERPRINT_CHARS);
        signed
    }

    /// Checks a password in constant time.
    pub fn verify(&self, node: NodeId, agent: Option<&Agent>, password: &str) -> bool {
        self.credential(node, agent).password.as_bytes().ct_eq(password.as_bytes()).into()
    }

    fn signed(&self, what: &str, node: NodeId, joined_at: Option<Micros>) -> String {
        let joined_at = joined_at.map_or_else(|| "-".to_owned(), |at| at.0.to_string());
        let tag = hmac::sign(&self.key, format!("{what} {node} {joined_at}").as_bytes());
        URL_SAFE_NO_PAD.encode(tag.as_ref())
    }
}

/// Returns the node of a user name.
pub fn node_of(user: &str) -> Option<NodeId> {
    user.strip_prefix(USER_PREFIX)?.parse().ok().map(NodeId)
}

#[cfg(test)]
mod tests {
    use stoker_model::AgentId;

    use super::*;

    fn agent(joined_at: i64) -> Agent {
        Agent {
            id: AgentId(1),
            uid: NodeId(7).into(),
            node_id: Some(NodeId(7)),
            version: "1".to_owned(),
            joined_at: Micros(joined_at),
            last_seen_at: None,
        }
    }

    #[test]
    fn password_is_bound_to_node_and_join() {
        let access = PackageAccess::new("s");
        let credential = access.credential(NodeId(7), Some(&agent(1)));
        assert_eq!(node_of(&credential.user), Some(NodeId(7)));
        assert!(access.verify(NodeId(7), Some(&agent(1)), &credential.password));
        for (access, node, agent, why) in [
            (&access, 8, Some(agent(1)), "another node"),
            (&access, 7, Some(agent(2)), "the agent joined again"),
            (&access, 7, None, "the agent was revoked"),
            (&PackageAccess::new("t"), 7, Some(agent(1)), "another secret"),
        ] {
            assert!(!access.verify(NodeId(node), agent.as_ref(), &credential.password), "{why}");
        }
        assert!(!access.verify(NodeId(7), Some(&agent(1)), ""));
        let print = access.fingerprint(NodeId(7), Some(Micros(1)));
        assert!(!credential.password.contains(&print), "the fingerprint reveals no part of the password");
        assert_ne!(print, access.fingerprint(NodeId(7), Some(Micros(2))));
    }

    #[test]
    fn unrelated_user_names_are_rejected() {
        for user in ["admin", "node-", "node-x", "7", "NODE-7"] {
            assert_eq!(node_of(user), None, "{user}");
        }
    }
}
