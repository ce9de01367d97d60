//! Modules on their way to nodes: sealed contents, and lists that go out as one task.
//!
//! What may be done is the business of `stoker-modules`, and how a list is carried out that of `orchestrator`.

pub mod automatic;
pub mod key_agreement;
pub mod keys;
pub mod lists;
pub mod reapply;
mod rotate;

pub use self::keys::ModuleKeys;
pub use self::rotate::{RotateError, Rotated, rotate_keys};
