//! Files of package repositories, read by the package managers of nodes.
//!
//! They are served under `/packages/FOLDER/`, where FOLDER is the directory of the plugin on the server. They
//! are not part of the API: package managers neither log in nor understand its responses. Each node has a
//! separate user name and password, which are valid only for the plugins of its cluster.

mod file;
mod read;

pub(crate) use read::{ROUTE, serve};
