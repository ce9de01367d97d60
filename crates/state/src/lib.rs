//! The desired state of a cluster: a document common to all nodes, and one own document per node.
//!
//! [`new_state`] computes both from records; [`NewState::with_supplied`] replaces them by user-supplied
//! documents. The keys are documented for users in `docs/state.md`.
//!
//! The crate decides where a value comes from and which source takes precedence. It reads no records and has
//! no memory: the previous primaries and the applied states are arguments. Plans and the storage format of documents
//! belong to other crates.
//!
//! [`Document`] is a document as expressions read it, [`State`] what one node sees, and [`OldStates`] the states with
//! which tasks last succeeded.
//!
//! # Where to begin
//!
//! `common.rs` lists the keys that all nodes share, `nodes.rs` those of a node. To add a key, add a line to
//! one of them.

pub mod json;

mod common;
mod compute;
mod document;
mod input;
mod nodes;
mod secret_names;
mod secrets;
mod settings;
mod state;
mod supplied;
mod tags;

pub use compute::desired_state;
pub use document::{document, intern_document, value_of};
pub use input::{EnabledPlugin, DesiredState, NodeState, StateInput};
pub use secret_names::is_secret;
pub use secrets::Secrets;
pub use state::{
    Document, DocumentInterner, MASTER, NodePast, OldStates, SYNC, StateDocument, StateIdx, compare_keys, master_document,
    overlay,
};
pub use supplied::{COMMON_UID, EffectiveDocuments, SuppliedDocuments};
