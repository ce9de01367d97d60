//! Modules: small named payloads that are applied to nodes in a controlled order.

use crate::{ClusterId, Micros, ModuleId, NodeId, RunId, TenantId, words};

words! {
    /// What a node is asked to do with modules.
    ModuleAction {
        Apply => "apply",
        Remove => "remove",
    }
}

words! {
    /// How a module ended on a node.
    ModuleStatus {
        Ok => "OK",
        Error => "ERROR",
    }
}

/// Everything about a module but its contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    pub id: ModuleId,
    pub generation: i64,
    /// Random; the id that clients know.
    pub uuid: String,
    pub body: ModuleBody,
    pub created_at: Micros,
    pub updated_at: Micros,
}

/// What is decided about a module when it is made or changed.
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own that a user names")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleBody {
    pub name: String,
    /// The driver that applies it, in lower case.
    pub module_type: String,
    pub description: Option<String>,
    /// `None`: every tenant.
    pub tenant_id: Option<TenantId>,
    /// The name of the releases it is for; `None`: all.
    pub datastore: Option<String>,
    /// Their version; `None`: all.
    pub datastore_version: Option<String>,
    pub auto_apply: bool,
    pub visible: bool,
    pub live_update: bool,
    pub priority_apply: bool,
    /// 0 to 9.
    pub apply_order: i64,
    /// Once an admin's, always an admin's; see the rules of modules.
    pub is_admin: bool,
    /// Of the contents as they were sent.
    pub md5: String,
}

/// Contents that nobody can read without the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// The name of the key.
    pub key: String,
    pub bytes: Vec<u8>,
}

/// A module as it goes to a node: nothing in it changes any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleItem {
    pub uuid: String,
    pub body: ModuleBody,
    pub contents: Sealed,
}

/// Modules on their way to one node, as one list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleRun {
    pub run_id: RunId,
    pub node_id: NodeId,
    pub action: ModuleAction,
    /// Not before this run has ended.
    pub after: Option<RunId>,
    /// Nobody waits for it any longer than this.
    pub deadline: Option<Micros>,
    /// In the order of application.
    pub items: Vec<ModuleItem>,
}

/// What became of a module on a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeModule {
    pub node_id: NodeId,
    /// The cluster of the node: what was applied in another one is forgotten.
    pub cluster_id: ClusterId,
    /// The module as it was applied; it may have been changed or deleted since.
    pub uuid: String,
    pub body: ModuleBody,
    pub status: ModuleStatus,
    pub message: Option<String>,
    /// Of the first time.
    pub created_at: Micros,
    /// Of the last time; no two of a node are equal.
    pub updated_at: Micros,
    pub removed_at: Option<Micros>,
    pub contents: Sealed,
}
