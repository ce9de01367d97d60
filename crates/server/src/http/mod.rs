//! What all operations share: how bodies come in and answers go out.

pub(crate) mod answer;
pub(crate) mod body;
pub(crate) mod client;
pub(crate) mod document;
pub(crate) mod error;
pub(crate) mod etag;
pub(crate) mod list;
pub(crate) mod media;
pub(crate) mod path;
pub(crate) mod query;
pub(crate) mod rewrite;
