//! Modules: validation of requests, permissions, and the order of application.
//!
//! All functions are pure: the caller, stored records and the time are arguments. [`order`] is the comparison
//! that server and agent share.

pub mod datastore;
mod error;
pub mod input;
mod md5;
pub mod order;
pub mod reapply;
pub mod rules;
mod validate;

pub use datastore::{Datastores, is_compatible};
pub use error::{ErrorKind, ModuleError, ModuleResult};
pub use input::{ApplyRequest, CreateRequest, ReapplyRequest, UpdateRequest};
pub use md5::md5_hex;
pub use order::{ApplyKey, sort_for_apply};
pub use rules::Requester;
