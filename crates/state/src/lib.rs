//! What a cluster should become: one document that all its nodes have in common, and one for each node.
//!
//! [`new_state`] computes both from records; [`NewState::with_supplied`] puts documents of a user's own in their
//! place. What each key holds is told to users in `docs/state.md`.
//!
//! The crate knows where a value comes from and what wins. It reads no record itself and remembers nothing: which
//! node was primary before is an argument. Plans, old states and the form in which documents are stored are not its
//! business.
//!
//! # Where to begin
//!
//! `common.rs` lists the keys that all nodes share, `nodes.rs` those of a node. A new key is a line in one of them.

pub mod json;

mod common;
mod document;
mod input;
mod nodes;
mod secrets;
mod settings;
mod supplied;
mod tags;

pub use document::{document, document_among, value_of};
pub use input::{EnabledPlugin, NewState, NodeState, StateInput, new_state};
pub use secrets::Secrets;
pub use supplied::{COMMON, Documents, Supplied};
