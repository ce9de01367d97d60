//! Modules: what may be said of them, who may do what, and in which order they are applied.
//!
//! Everything here is a function of its arguments; who asks, what is stored and what time it is are told from outside.
//! [`order`] is the one comparison that server and agent share.

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
