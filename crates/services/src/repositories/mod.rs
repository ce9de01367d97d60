//! Package repositories of plugins: which of them nodes of a cluster use, and the credential with which a node reads them.
//!
//! Serving the files is the business of `server`.

mod access;
mod sources;

pub use access::{NodeCredential, PackageAccess, node_of};
pub use sources::{Repositories, SourceHere, former_sources, put_credential, sources_of, wants_credential};
