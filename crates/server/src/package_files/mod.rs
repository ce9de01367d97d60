//! Files of package repositories, which package managers of nodes read.
//!
//! They are below `/packages/FOLDER/`, where FOLDER is that of the plugin on the server, and not a part of the API: package
//! managers neither log in nor understand its answers. Each node has a user name and a password of its own, which are good for
//! what the plugins of its cluster bring and for nothing else.

mod file;
mod read;

pub(crate) use read::{PLACE, serve};
