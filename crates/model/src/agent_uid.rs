//! The uid of an agent.

use std::borrow::Borrow;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::NodeId;

/// The uid of an agent: the id of its node as text, or `master`. Agents report it themselves, so it is
/// trusted only after authentication. The nodes of a plan also have uids, but with arbitrary text in offline
/// plans and with the virtual node of stages, which has no agent.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AgentUid(String);

impl AgentUid {
    /// Uid of the agent that executes the tasks of the master.
    pub const MASTER: &'static str = "master";

    pub fn master() -> Self {
        Self(Self::MASTER.to_owned())
    }

    pub fn is_master(&self) -> bool {
        self.0 == Self::MASTER
    }

    /// The node of the agent; `None` for the master.
    pub fn node_id(&self) -> Option<NodeId> {
        NodeId::parse(&self.0)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<NodeId> for AgentUid {
    fn from(node: NodeId) -> Self {
        Self(node.to_string())
    }
}

impl From<String> for AgentUid {
    fn from(uid: String) -> Self {
        Self(uid)
    }
}

impl From<&str> for AgentUid {
    fn from(uid: &str) -> Self {
        Self(uid.to_owned())
    }
}

impl From<AgentUid> for String {
    fn from(uid: AgentUid) -> Self {
        uid.0
    }
}

impl AsRef<str> for AgentUid {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

/// Maps by uid are searched with the uid of a plan's node.
impl Borrow<str> for AgentUid {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AgentUid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, HashMap};

    use super::*;

    #[test]
    fn only_uids_of_nodes_have_a_node_id() {
        assert_eq!(AgentUid::from(NodeId(7)).node_id(), Some(NodeId(7)));
        for other in ["master", "", "0", "-7", "7 ", "x"] {
            assert_eq!(AgentUid::from(other).node_id(), None, "{other}");
        }
        assert!(AgentUid::master().is_master());
        assert!(!AgentUid::from("Master").is_master());
    }

    #[test]
    fn uids_are_plain_text_in_json() {
        let uid = AgentUid::from("7");
        assert_eq!(serde_json::to_string(&uid).unwrap(), r#""7""#);
        assert_eq!(serde_json::from_str::<AgentUid>(r#""7""#).unwrap(), uid);
        assert!(serde_json::from_str::<AgentUid>("7").is_err());
    }

    #[test]
    fn maps_by_uid_are_searched_with_text() {
        assert_eq!(HashMap::from([(AgentUid::from("7"), 1)]).get("7"), Some(&1));
        assert_eq!(BTreeMap::from([(AgentUid::from("7"), 1)]).get("7"), Some(&1));
    }
}
