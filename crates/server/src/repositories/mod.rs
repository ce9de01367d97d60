//! Repositories of plugins, which package managers of nodes read.
//!
//! They are below `/packages/FOLDER/`, where FOLDER is that of the plugin on the server, and not a part of the API: package
//! managers neither log in nor understand its answers. Each node has a name and a password of its own for them, which is good for
//! what the plugins of its cluster bring and for nothing else.

mod access;
mod file;
mod place;
mod read;

pub(crate) use access::PackageAccess;
pub(crate) use place::{authority, former_sources, put_credential, sources_of, wants_credential};
pub(crate) use read::{PLACE, serve};
