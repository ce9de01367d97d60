//! The desired state of a cluster: a document common to all nodes, and one own document per node.
//!
//! [`new_state`] computes both from records; [`NewState::with_supplied`] replaces them by user-supplied
//! documents. The keys are documented for users in `docs/state.md`.
//!
//! The crate decides where a value comes from and which source takes precedence. It reads no records and has
//! no memory: the previous primaries are an argument. Plans, old states and the storage format of documents
//! belong to other crates.
//!
//! # Where to begin
//!
//! `common.rs` lists the keys that all nodes share, `nodes.rs` those of a node. To add a key, add a line to
//! one of them.

pub mod json;

mod common;
mod document;
mod input;
mod nodes;
mod secrets;
mod settings;
mod supplied;
mod tags;

pub use document::{document, intern_document, value_of};
pub use input::{DesiredState, EnabledPlugin, NodeState, StateInput, desired_state};
pub use secrets::Secrets;
pub use supplied::{COMMON_UID, EffectiveDocuments, SuppliedDocuments};
