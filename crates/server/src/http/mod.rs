//! HTTP infrastructure shared by all operations: bodies, responses, errors, pagination, content negotiation.

pub(crate) mod body;
pub(crate) mod client;
pub(crate) mod document;
pub(crate) mod error;
pub(crate) mod etag;
pub(crate) mod list;
pub(crate) mod media;
pub(crate) mod path;
pub(crate) mod query;
pub(crate) mod read_only;
pub(crate) mod response;
pub(crate) mod rewrite;
