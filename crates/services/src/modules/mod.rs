//! Modules: records, encrypted contents, instances that have them, and module runs.
//!
//! Rules and permissions belong to `stoker-modules`, execution to `orchestrator`.

pub mod automatic;
pub mod error;
pub mod instances;
pub mod key_agreement;
pub mod keys;
pub mod lists;
pub mod reapply;
pub mod records;
mod rotate;

pub use self::error::{ModuleError, ModuleResult};
pub use self::keys::ModuleKeys;
pub use self::rotate::{RotateError, Rotated, rotate_keys};
