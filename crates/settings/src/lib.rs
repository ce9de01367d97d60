//! What an operator can choose, resolved once at the edge of the program.
//!
//! Whoever takes one of these reads no environment and no file to learn how it should behave.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

use stoker_model::{MergeMode, MergeOrder};

/// The server.
#[derive(Clone, Debug)]
pub struct Server {
    pub listen: SocketAddr,
    pub database: DatabaseLocation,
    /// Larger bodies are refused.
    pub body_bytes_max: usize,
    /// How long the token of a login lives.
    pub token_seconds: i64,
    /// Which layer of a graph wins where a cluster says nothing.
    pub merge_order: MergeOrder,
    pub merge_mode: MergeMode,
    /// The password of the first user; `None`: one is made up.
    pub admin_password: Option<Secret>,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 8000)),
            database: DatabaseLocation::Folder(PathBuf::from(".")),
            body_bytes_max: 16 << 20,
            token_seconds: 12 * 3600,
            merge_order: MergeOrder::default(),
            merge_mode: MergeMode::default(),
            admin_password: None,
        }
    }
}

/// Where the records are kept.
#[derive(Clone)]
pub enum DatabaseLocation {
    /// A folder with the embedded database in it.
    Folder(PathBuf),
    /// A PostgreSQL database.
    Url(Secret),
}

impl DatabaseLocation {
    /// The embedded database inside its folder.
    pub const FILE: &'static str = "stoker.db";
}

impl fmt::Debug for DatabaseLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => write!(f, "Folder({})", folder.display()),
            Self::Url(_) => f.write_str("Url(…)"),
        }
    }
}

/// Text that must not be printed by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: String) -> Self {
        Self(text)
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_printed() {
        let secret = Secret::new("hunter2".to_owned());
        let settings = Server {
            admin_password: Some(secret.clone()),
            database: DatabaseLocation::Url(secret),
            ..Server::default()
        };
        assert!(!format!("{settings:?}").contains("hunter2"));
    }
}
