//! What an operator can choose, resolved once at the edge of the program.
//!
//! Whoever takes one of these reads no environment and no file to learn how it should behave.

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use stoker_model::{MergeMode, MergeOrder, PLUGIN_SCRIPTS_ROOT};
use stoker_yaql::Library;

/// The server.
#[derive(Clone, Debug)]
pub struct Server {
    pub listen: SocketAddr,
    pub database: DatabaseLocation,
    /// Larger bodies are refused.
    pub body_bytes_max: usize,
    /// Where packages of plugins are unpacked.
    pub plugins_root: PathBuf,
    /// Where scripts of plugins are on nodes, from the root.
    pub plugin_scripts_root: String,
    /// Larger packages of plugins are refused.
    pub plugin_bytes_max: u64,
    /// How long the token of a login lives.
    pub token_seconds: i64,
    /// Which layer of a graph wins where a cluster says nothing.
    pub merge_order: MergeOrder,
    pub merge_mode: MergeMode,
    pub runs: Runs,
    pub modules: Modules,
    /// How far expressions of task fields may go.
    pub evaluation: Evaluation,
    /// What expressions of task fields can call, with the helpers of this server in it; `None`: no helpers.
    pub library: Option<Arc<Library>>,
    /// The password of the first user; `None`: one is made up.
    pub admin_password: Option<Secret>,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 8000)),
            database: DatabaseLocation::Folder(PathBuf::from(".")),
            body_bytes_max: 16 << 20,
            plugins_root: PathBuf::from("plugins"),
            plugin_scripts_root: PLUGIN_SCRIPTS_ROOT.to_owned(),
            plugin_bytes_max: 512 << 20,
            token_seconds: 12 * 3600,
            merge_order: MergeOrder::default(),
            merge_mode: MergeMode::default(),
            runs: Runs::default(),
            modules: Modules::default(),
            evaluation: Evaluation::default(),
            library: None,
            admin_password: None,
        }
    }
}

/// How runs are carried out.
#[derive(Clone, Debug)]
pub struct Runs {
    /// Nodes that carry out something at the same time, in one run.
    pub nodes_at_once: u32,
    /// A node of which nothing is heard for so long is given up.
    pub lost_after_seconds: u32,
    /// Whether the server has an agent of its own for tasks of the master.
    pub master_agent: bool,
    /// Whether nodes that have no agent get one inside of the server; for trying out.
    pub local_agents: bool,
    /// For how many days runs that have ended are kept; 0: for ever.
    pub keep_days: u32,
    /// Programs for what only the operator knows how to do (erasing a node, …), by name.
    pub hooks: BTreeMap<String, PathBuf>,
    /// Where agents inside of the server keep their journals.
    pub agents_folder: PathBuf,
}

impl Default for Runs {
    fn default() -> Self {
        Self {
            nodes_at_once: 50,
            lost_after_seconds: 300,
            master_agent: true,
            local_agents: false,
            keep_days: 0,
            hooks: BTreeMap::new(),
            agents_folder: PathBuf::from("agents"),
        }
    }
}

/// How modules are kept and applied.
#[derive(Clone, Debug)]
pub struct Modules {
    /// The keys that contents are sealed with.
    pub key_file: PathBuf,
    /// The types that may be made; `None`: all that there are drivers for.
    pub types: Option<Vec<String>>,
    /// How long an apply may take before its caller is told that the agent does not answer.
    pub apply_seconds: u32,
    /// Instances that a module is applied to again at a time, and the seconds between; users may not ask for more.
    pub batch_size: u32,
    pub batch_delay_seconds: u32,
}

impl Modules {
    /// The embedded default, inside the folder of the database.
    pub const KEY_FILE: &'static str = "modules.key";

    pub fn apply_time(&self) -> Duration {
        Duration::from_secs(u64::from(self.apply_seconds))
    }
}

impl Default for Modules {
    fn default() -> Self {
        Self {
            key_file: PathBuf::from(Self::KEY_FILE),
            types: None,
            apply_seconds: 180,
            batch_size: 50,
            batch_delay_seconds: 2,
        }
    }
}

/// Limits of expressions; what is not given grows with the number of nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Evaluation {
    /// The longest collection that may be walked.
    pub limit_iterators: Option<i64>,
    /// The largest single value, in bytes.
    pub memory_quota: Option<i64>,
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

/// An agent.
#[derive(Clone, Debug)]
pub struct Agent {
    pub link: AgentLink,
    /// How the node is called; the name of the machine where nothing is said.
    pub node: Option<String>,
    /// The folder of the agent, which no other agent shares.
    pub state: PathBuf,
    /// Programs for what only the operator knows how to do, by name.
    pub hooks: BTreeMap<String, PathBuf>,
}

/// How an agent is connected.
#[derive(Clone, Debug)]
pub enum AgentLink {
    /// To a server, which it joins with the token if it has not done so.
    Server { url: String, token: Option<Secret>, ca: Option<PathBuf> },
    /// To whoever started it, through standard input and output.
    Stdio,
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
