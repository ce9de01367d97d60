//! What an operator can choose, resolved once at the edge of the program.
//!
//! Whoever takes one of these reads no environment and no file to learn how it should behave.

mod traces;

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use stoker_model::{MergeMode, MergeOrder, PLUGIN_SCRIPTS_ROOT, Quotas};
use stoker_yaql::Library;

pub use traces::{Sampling, TRACES_SECRETS, Traces};

/// The server.
#[derive(Clone, Debug)]
pub struct Server {
    pub listen: SocketAddr,
    /// How the server is called among others; the name of the machine where nothing is said.
    pub name: Option<String>,
    pub database: DatabaseLocation,
    /// How servers and agents reach each other besides straight connections; `None`: there is only this server.
    pub nats: Option<Nats>,
    /// Larger bodies are refused.
    pub body_bytes_max: usize,
    /// Where packages of plugins are unpacked.
    pub plugins_root: PathBuf,
    /// Where scripts of plugins are on nodes, from the root.
    pub plugin_scripts_root: String,
    /// Where nodes reach the server to read packages of plugins; `None`: where it listens.
    pub packages_url: Option<String>,
    /// The root of the disk of nodes, below which sources of packages are written.
    pub node_root: String,
    /// Larger packages of plugins are refused.
    pub plugin_bytes_max: u64,
    /// How long the token of a login lives.
    pub token_seconds: i64,
    /// Which layer of a graph wins where a cluster says nothing.
    pub merge_order: MergeOrder,
    pub merge_mode: MergeMode,
    /// How connections are encrypted; `None`: they are not.
    pub tls: Option<Tls>,
    pub runs: Runs,
    pub modules: Modules,
    pub webhooks: Webhooks,
    pub limits: Limits,
    /// How far expressions of task fields may go.
    pub evaluation: Evaluation,
    /// What expressions of task fields can call, with the helpers of this server in it; `None`: no helpers.
    pub library: Option<Arc<Library>>,
    /// The password of the first user; `None`: one is made up.
    pub admin_password: Option<Secret>,
    /// Who collects traces; `None`: nobody.
    pub traces: Option<Traces>,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 8000)),
            name: None,
            database: DatabaseLocation::Folder(PathBuf::from(".")),
            nats: None,
            body_bytes_max: 16 << 20,
            plugins_root: PathBuf::from("plugins"),
            plugin_scripts_root: PLUGIN_SCRIPTS_ROOT.to_owned(),
            packages_url: None,
            node_root: "/".to_owned(),
            plugin_bytes_max: 512 << 20,
            token_seconds: 12 * 3600,
            merge_order: MergeOrder::default(),
            merge_mode: MergeMode::default(),
            tls: None,
            runs: Runs::default(),
            modules: Modules::default(),
            webhooks: Webhooks::default(),
            limits: Limits::default(),
            evaluation: Evaluation::default(),
            library: None,
            admin_password: None,
            traces: None,
        }
    }
}

/// How the server speaks TLS. At least one of files and authority is there.
#[derive(Clone, Debug)]
pub struct Tls {
    /// A certificate and its key, which somebody else makes and renews.
    pub files: Option<(PathBuf, PathBuf)>,
    /// Folder of an authority that makes certificates of agents, and the server's own where there are no files.
    pub ca_dir: Option<PathBuf>,
    /// Further names under which the server is reached.
    pub names: Vec<String>,
    /// How long certificates of agents are good.
    pub agent_certificate_seconds: i64,
}

impl Default for Tls {
    fn default() -> Self {
        Self { files: None, ca_dir: None, names: Vec::new(), agent_certificate_seconds: 30 * 24 * 3600 }
    }
}

/// How runs are carried out.
#[derive(Clone, Debug)]
pub struct Runs {
    /// Nodes that carry out something at the same time, in one run.
    pub nodes_at_once: u32,
    /// A node of which nothing is heard for so long is given up.
    pub lost_after_seconds: u32,
    /// How long a run stays with a server of which nothing is heard, where there are several.
    pub lease_seconds: u32,
    /// Whether the server has an agent of its own for tasks of the master.
    pub master_agent: bool,
    /// Whether nodes that have no agent get one inside of the server; for trying out.
    pub local_agents: bool,
    /// For how many days runs that have ended are kept; 0: for ever.
    pub keep_days: u32,
    /// For how many days plans are kept that no run needs; 0: for ever.
    pub keep_plans_days: u32,
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
            lease_seconds: 8,
            master_agent: true,
            local_agents: false,
            keep_days: 0,
            // Plans are looked at when they are made and when something went wrong, not a season later.
            keep_plans_days: 90,
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

/// How much anybody may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Requests that are answered at the same time; more are turned away.
    pub requests_at_once: u32,
    /// Those who watch runs at the same time.
    pub streams_at_once: u32,
    /// Plans that one user may have computed in a minute.
    pub plans_per_minute: u32,
    /// What a tenant may have of which nothing else is said.
    pub quotas: Quotas,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            requests_at_once: 1024,
            streams_at_once: 2048,
            plans_per_minute: 300,
            quotas: Quotas::default(),
        }
    }
}

/// How webhooks are told what happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Webhooks {
    /// How long a receiver may take to answer.
    pub answer_time: Duration,
    /// How often a message is tried before it is given up.
    pub attempts_max: u32,
    /// After the first failure; each one doubles it.
    pub pause_min: Duration,
    pub pause_max: Duration,
}

impl Default for Webhooks {
    fn default() -> Self {
        Self {
            answer_time: Duration::from_secs(10),
            // The pauses add up to some six hours: longer than a receiver is usually away.
            attempts_max: 17,
            pause_min: Duration::from_secs(1),
            pause_max: Duration::from_hours(1),
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

/// Where NATS is, and who this server is to it.
#[derive(Clone, Debug)]
pub struct Nats {
    /// May have a password in it.
    pub url: Secret,
    /// A file as tools of NATS write it.
    pub credentials: Option<PathBuf>,
    /// Certificates to trust, where those of the system do not do.
    pub ca: Option<PathBuf>,
    /// The keys with which agents are given users of their own; without them agents do not come over NATS.
    pub keys: Option<PathBuf>,
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
    /// Who collects traces; `None`: nobody.
    pub traces: Option<Traces>,
}

/// How an agent is connected.
#[derive(Clone, Debug)]
pub enum AgentLink {
    /// To a server, which it joins with the token if it has not done so; addresses of several, with commas between, are tried
    /// in turn.
    Server { url: String, token: Option<Secret>, trust: AgentTrust, nats: Option<AgentNats> },
    /// To whoever started it, through standard input and output.
    Stdio,
}

/// The way through NATS, taken before the straight one.
#[derive(Clone, Debug)]
pub struct AgentNats {
    pub url: String,
    /// Certificates to trust, where those of the system do not do.
    pub ca: Option<PathBuf>,
}

/// Whom an agent trusts.
#[derive(Clone, Debug, Default)]
pub struct AgentTrust {
    /// Certificates besides those of the system.
    pub ca: Option<PathBuf>,
    /// The fingerprint of the one authority that is trusted.
    pub ca_fingerprint: Option<String>,
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
