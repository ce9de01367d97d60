//! With what nodes prove themselves to be allowed to read packages.
//!
//! A password is computed from a secret of all servers, the node and the moment at which its agent came in. So nothing has to be
//! kept, a node gets the same one again, and sending its agent away makes it worthless.

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

/// The name of the secret among what all servers have in common.
const MARK: &str = "package_key";
const SECRET_CHARS: usize = 64;
const USER_PREFIX: &str = "node-";
/// So many letters tell one password from another and say nothing of it.
const FINGERPRINT_CHARS: usize = 12;

pub struct PackageAccess {
    key: hmac::Key,
    /// Where the server really listens.
    bound: OnceLock<SocketAddr>,
}

/// A name and a password.
pub struct NodeCredential {
    pub user: String,
    pub password: String,
}

impl PackageAccess {
    pub async fn agree(store: &Store, now: Micros) -> ServiceResult<Self> {
        let made = random::hex_text(SECRET_CHARS)?;
        Ok(Self::new(&store.mark_agree(MARK, &made, now).await?))
    }

    fn new(secret: &str) -> Self {
        Self { key: hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()), bound: OnceLock::new() }
    }

    pub fn listens_on(&self, address: SocketAddr) {
        // A server listens once.
        _ = self.bound.set(address);
    }

    pub fn bound(&self) -> Option<SocketAddr> {
        self.bound.get().copied()
    }

    /// What a node with this agent shows. One whose agent the server starts itself has none.
    pub fn credential(&self, node: NodeId, agent: Option<&Agent>) -> NodeCredential {
        NodeCredential {
            user: format!("{USER_PREFIX}{node}"),
            password: self.signed("password", node, agent.map(|agent| agent.joined_at)),
        }
    }

    /// Tells the credential of a node from an earlier one.
    pub fn fingerprint(&self, node: NodeId, joined_at: Option<Micros>) -> String {
        let mut signed = self.signed("fingerprint", node, joined_at);
        signed.truncate(FINGERPRINT_CHARS);
        signed
    }

    /// Whether this is the password of a node.
    pub fn is_right(&self, node: NodeId, agent: Option<&Agent>, password: &str) -> bool {
        self.credential(node, agent).password.as_bytes().ct_eq(password.as_bytes()).into()
    }

    fn signed(&self, what: &str, node: NodeId, joined_at: Option<Micros>) -> String {
        let joined_at = joined_at.map_or_else(|| "-".to_owned(), |at| at.0.to_string());
        let tag = hmac::sign(&self.key, format!("{what} {node} {joined_at}").as_bytes());
        URL_SAFE_NO_PAD.encode(tag.as_ref())
    }
}

/// The node that calls itself so.
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
            uid: "7".to_owned(),
            node_id: Some(NodeId(7)),
            version: "1".to_owned(),
            joined_at: Micros(joined_at),
            last_seen_at: None,
        }
    }

    #[test]
    fn a_password_is_of_one_node_and_one_joining() {
        let access = PackageAccess::new("s");
        let given = access.credential(NodeId(7), Some(&agent(1)));
        assert_eq!(node_of(&given.user), Some(NodeId(7)));
        assert!(access.is_right(NodeId(7), Some(&agent(1)), &given.password));
        for (access, node, agent, why) in [
            (&access, 8, Some(agent(1)), "another node"),
            (&access, 7, Some(agent(2)), "the agent joined again"),
            (&access, 7, None, "the agent was sent away"),
            (&PackageAccess::new("t"), 7, Some(agent(1)), "another secret"),
        ] {
            assert!(!access.is_right(NodeId(node), agent.as_ref(), &given.password), "{why}");
        }
        assert!(!access.is_right(NodeId(7), Some(&agent(1)), ""));
        let print = access.fingerprint(NodeId(7), Some(Micros(1)));
        assert!(!given.password.contains(&print), "it says nothing of the password");
        assert_ne!(print, access.fingerprint(NodeId(7), Some(Micros(2))));
    }

    #[test]
    fn other_names_are_no_nodes() {
        for user in ["admin", "node-", "node-x", "7", "NODE-7"] {
            assert_eq!(node_of(user), None, "{user}");
        }
    }
}
