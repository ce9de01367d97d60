//! Modules: validation of requests, permissions, and the order of application.
//!
//! All functions are pure: the caller, stored records and the time are arguments. [`order`] is the comparison
//! that server and agent share.

pub mod datastore;
pub mod input;
mod md5;
pub mod order;
pub mod reapply;
mod refusal;
pub mod rules;
mod validate;

pub use datastore::{Datastores, fits};
pub use input::{ApplyRequest, Create, ReapplyRequest, Update};
pub use md5::md5_hex;
pub use order::{Rank, sort};
pub use refusal::{Kind, Refusal, Refused};
pub use rules::Who;
