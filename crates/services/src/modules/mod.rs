//! Delivery of modules to nodes: encrypted contents, and module runs.
//!
//! Rules and permissions belong to `stoker-modules`, execution to `orchestrator`.

pub mod automatic;
pub mod key_agreement;
pub mod keys;
pub mod lists;
pub mod reapply;
mod rotate;

pub use self::keys::ModuleKeys;
pub use self::rotate::{RotateError, Rotated, rotate_keys};
