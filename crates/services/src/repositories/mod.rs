//! Package repositories of plugins: the repositories that the nodes of a cluster use, and the credentials to
//! read them.
//!
//! `server` serves the files.

mod access;
mod sources;

pub use access::{NodeCredential, PackageAccess, node_of};
pub(crate) use sources::AppliedSources;
pub use sources::{Repositories, SourceHere, put_credential, sources_of, wants_credential};
