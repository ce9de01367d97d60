//! The desired state of a cluster: a document common to all nodes, and one own document per node.
//!
//! [`desired_state`] computes both from records; [`DesiredState::effective_documents`] replaces them by user-supplied
//! documents. The keys are documented for users in `docs/state.md`.
//!
//! The crate decides where a value comes from and which source takes precedence. It reads no records and has
//! no memory: the previous primaries and the applied states are arguments. Plans and the storage format of documents
//! belong to other crates.
//!
//! [`Document`] is a document as expressions read it, [`EffectiveState`] what one node sees, and [`AppliedStates`] the states with
//! which tasks last succeeded; [`AppliedLedger`] has the rules by which they are recorded.
//!
//! # Where to begin
//!
//! `common.rs` lists the keys that all nodes share, `nodes.rs` those of a node. To add a key, add a line to
//! one of them.

pub mod json;

mod applied;
mod common;
mod compute;
mod document;
mod input;
mod ledger;
mod nodes;
mod secret_names;
mod secrets;
mod settings;
mod settle;
mod state;
mod supplied;
mod tags;
mod updates;

pub use applied::{
    AppliedGraph, AppliedStates, AttributeChange, AttributeChangeKind, Doubt, GraphIdx, InputsDigest,
    InvalidInputsDigest, NodePast, SourceDigests, StateIdx, Taint,
};
pub use compute::desired_state;
pub use document::{document, intern_document, value_of};
pub use input::{DesiredState, EnabledPlugin, NodeState, StateInput};
pub use ledger::{AppliedLedger, LedgerEntry, LedgerScope, LedgerSuccess};
pub use secret_names::is_secret;
pub use secrets::Secrets;
pub use settle::{
    NodeSummary, Settled, cluster_status_after, set_status, settle_common, settle_legacy_common,
    settle_legacy_own, settled,
};
pub use state::{
    Document, DocumentInterner, EffectiveState, MASTER, SYNC, compare_keys, master_document, overlay,
};
pub use supplied::{COMMON_UID, EffectiveDocuments, SuppliedDocuments};
pub use updates::update_condition;
