//! Modules on their way to nodes: sealed contents, lists that go out as one task, and those who wait for the end.
//!
//! What may be done is the business of `stoker-modules`, and how a list is carried out that of `runs`.

pub(crate) mod automatic;
pub(crate) mod keys;
pub(crate) mod lists;
pub(crate) mod reapply;
mod rotate;
mod wait;

pub(crate) use self::keys::ModuleKeys;
pub use self::rotate::{RotateError, Rotated, rotate_keys};
pub(crate) use self::wait::wait;
