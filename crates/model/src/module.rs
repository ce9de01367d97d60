//! Modules: small named payloads that are applied to nodes in a defined order.

use crate::{ClusterId, Micros, ModuleId, NodeId, RunId, TenantId, words};

words! {
    /// The operation on modules that a node performs.
    ModuleAction {
        Apply => "apply",
        Remove => "remove",
    }
}

words! {
    /// The result of a module on a node.
    ModuleStatus {
        Ok => "OK",
        Error => "ERROR",
    }
}

/// A module without its contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    pub id: ModuleId,
    pub generation: i64,
    /// Random ID that clients use.
    pub uuid: String,
    pub body: ModuleBody,
    pub created_at: Micros,
    pub updated_at: Micros,
}

/// The user-defined properties of a module.
#[expect(clippy::struct_excessive_bools, reason = "each is an independent user option")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleBody {
    pub name: String,
    /// Name of the driver that applies it, in lower case.
    pub module_type: String,
    pub description: Option<String>,
    /// Tenant that the module applies to; `None` means all tenants.
    pub tenant_id: Option<TenantId>,
    /// Name of the releases that the module applies to; `None` means all releases.
    pub datastore: Option<String>,
    /// Version of the releases that the module applies to; `None` means all versions.
    pub datastore_version: Option<String>,
    pub auto_apply: bool,
    pub visible: bool,
    pub live_update: bool,
    pub priority_apply: bool,
    /// Position in the apply order, from 0 to 9.
    pub apply_order: i64,
    /// Whether the module is an admin module. Once set, it stays set: see `stoker_modules::rules`.
    pub is_admin: bool,
    /// MD5 of the contents as received.
    pub md5: String,
}

/// Encrypted contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncryptedContents {
    /// Name of the encryption key.
    pub key: String,
    pub bytes: Vec<u8>,
}

/// A snapshot of a module for application to a node; immutable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleItem {
    pub uuid: String,
    pub body: ModuleBody,
    pub contents: EncryptedContents,
}

/// Modules to apply to one node in one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleRun {
    pub run_id: RunId,
    pub node_id: NodeId,
    pub action: ModuleAction,
    /// The run must not start before this run has ended.
    pub after: Option<RunId>,
    /// Callers stop waiting for the run at this time.
    pub deadline: Option<Micros>,
    /// Modules in the order of application.
    pub items: Vec<ModuleItem>,
}

/// The result of a module on a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeModule {
    pub node_id: NodeId,
    /// The cluster of the node; results of another cluster are ignored.
    pub cluster_id: ClusterId,
    /// UUID of the module as applied; the module may have been changed or deleted since.
    pub uuid: String,
    pub body: ModuleBody,
    pub status: ModuleStatus,
    pub message: Option<String>,
    /// Time when the module was first applied to the node.
    pub created_at: Micros,
    /// Time when the module was last applied to the node; unique per node.
    pub updated_at: Micros,
    pub removed_at: Option<Micros>,
    pub contents: EncryptedContents,
}
