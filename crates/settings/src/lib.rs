//! Settings of the server and the agent, resolved once at startup.
//!
//! Code that takes one of these types reads no environment variables or files to configure itself.

mod traces;

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use stoker_model::{MergeMode, MergeOrder, PLUGIN_SCRIPTS_ROOT, Quotas};
use stoker_yaql::Library;

pub use traces::{Sampling, TRACES_SECRETS, Traces, TracesError};

/// Server settings.
#[derive(Clone, Debug)]
pub struct Server {
    pub listen: SocketAddr,
    /// Server name in a group; defaults to the host name.
    pub name: Option<String>,
    pub database: DatabaseLocation,
    /// NATS connection for servers and agents; `None` for direct connections only.
    pub nats: Option<NatsSettings>,
    /// Maximum size of a request body in bytes.
    pub body_bytes_max: usize,
    /// Directory in which plugin packages are unpacked.
    pub plugins_root: PathBuf,
    /// Absolute path of plugin scripts on nodes.
    pub plugin_scripts_root: String,
    /// URL at which nodes download plugin packages; `None` uses the listen address.
    pub packages_url: Option<String>,
    /// Root of the node's file system, under which package sources are written.
    pub node_root: String,
    /// Maximum size of a plugin package in bytes.
    pub plugin_bytes_max: u64,
    /// Lifetime of login tokens.
    pub token_seconds: i64,
    /// Default layer precedence of graphs, for clusters that do not set one.
    pub merge_order: MergeOrder,
    pub merge_mode: MergeMode,
    /// TLS settings; `None` for plain text.
    pub tls: Option<Tls>,
    pub runs: Runs,
    pub modules: Modules,
    pub webhooks: Webhooks,
    pub limits: RequestLimits,
    /// Limits of expressions in task fields.
    pub evaluation: EvaluationLimits,
    /// Function library of expressions with this server's helpers; `None` without helpers.
    pub library: Option<Arc<Library>>,
    /// Initial admin password; `None` generates one.
    pub admin_password: Option<Secret>,
    /// Trace export; `None` disables it.
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
            limits: RequestLimits::default(),
            evaluation: EvaluationLimits::default(),
            library: None,
            admin_password: None,
            traces: None,
        }
    }
}

/// TLS settings of the server. At least one of `files` and `ca_dir` is set.
#[derive(Clone, Debug)]
pub struct Tls {
    /// Certificate and key files that are managed externally.
    pub files: Option<(PathBuf, PathBuf)>,
    /// Directory of the authority that issues agent certificates, and the server certificate if `files` is
    /// not set.
    pub ca_dir: Option<PathBuf>,
    /// Additional names of the server.
    pub names: Vec<String>,
    /// Lifetime of agent certificates.
    pub agent_certificate_seconds: i64,
}

impl Default for Tls {
    fn default() -> Self {
        Self { files: None, ca_dir: None, names: Vec::new(), agent_certificate_seconds: 30 * 24 * 3600 }
    }
}

/// Settings of runs.
#[derive(Clone, Debug)]
pub struct Runs {
    /// Maximum number of nodes that execute tasks concurrently within one run.
    pub max_concurrent_nodes: u32,
    /// Time without contact after which a node is abandoned.
    pub lost_after_seconds: u32,
    /// Duration of a run lease, after which another server takes over from a server without heartbeat.
    pub lease_seconds: u32,
    /// Whether the server runs a built-in agent for tasks of the master.
    pub master_agent: bool,
    /// Whether nodes without an agent get one inside the server process; for evaluation only.
    pub local_agents: bool,
    /// Days to keep ended runs; 0 keeps them forever.
    pub keep_days: u32,
    /// Days to keep plans that no run uses; 0 keeps them forever.
    pub keep_plans_days: u32,
    /// Operator-supplied programs by hook name, for actions such as erasing a node.
    pub hooks: BTreeMap<String, PathBuf>,
    /// Directory for the journals of built-in agents.
    pub agents_folder: PathBuf,
}

impl Default for Runs {
    fn default() -> Self {
        Self {
            max_concurrent_nodes: 50,
            lost_after_seconds: 300,
            lease_seconds: 8,
            master_agent: true,
            local_agents: false,
            keep_days: 0,
            // Plans are inspected when they are created or after a failure, not months later.
            keep_plans_days: 90,
            hooks: BTreeMap::new(),
            agents_folder: PathBuf::from("agents"),
        }
    }
}

/// Settings of modules.
#[derive(Clone, Debug)]
pub struct Modules {
    /// File with the encryption keys of module contents.
    pub key_file: PathBuf,
    /// Allowed module types; `None` allows all types with a driver.
    pub types: Option<Vec<String>>,
    /// Maximum time that the caller of an apply waits before it gets a timeout error.
    pub apply_seconds: u32,
    /// Maximum batch size when a module is reapplied to instances, and the delay between batches. Users may
    /// not exceed it.
    pub batch_size: u32,
    pub batch_delay_seconds: u32,
}

impl Modules {
    /// File name of the key file in the database directory.
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

/// Rate limits and quotas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestLimits {
    /// Maximum number of concurrent requests; further requests are rejected.
    pub max_concurrent_requests: u32,
    /// Maximum number of concurrent event streams.
    pub max_concurrent_streams: u32,
    /// Plans per user and minute.
    pub plans_per_minute: u32,
    /// Default quotas of tenants that do not set one.
    pub quotas: Quotas,
}

impl Default for RequestLimits {
    fn default() -> Self {
        Self {
            max_concurrent_requests: 1024,
            max_concurrent_streams: 2048,
            plans_per_minute: 300,
            quotas: Quotas::default(),
        }
    }
}

/// Settings of webhook deliveries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Webhooks {
    /// Response timeout for webhook receivers.
    pub response_timeout: Duration,
    /// Maximum number of delivery attempts.
    pub attempts_max: u32,
    /// Backoff after the first failure; doubled after each further failure.
    pub backoff_min: Duration,
    pub backoff_max: Duration,
}

impl Default for Webhooks {
    fn default() -> Self {
        Self {
            response_timeout: Duration::from_secs(10),
            // The backoffs add up to about six hours, longer than typical downtime of a receiver.
            attempts_max: 17,
            backoff_min: Duration::from_secs(1),
            backoff_max: Duration::from_hours(1),
        }
    }
}

/// Limits of expressions; `None` scales with the number of nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EvaluationLimits {
    /// Maximum length of an iterated collection.
    pub limit_iterators: Option<i64>,
    /// Maximum size of a value in bytes.
    pub memory_quota: Option<i64>,
}

/// Location of the database.
#[derive(Clone)]
pub enum DatabaseLocation {
    /// Directory of the SQLite database.
    Folder(PathBuf),
    /// URL of a PostgreSQL database.
    Url(Secret),
}

impl DatabaseLocation {
    /// File name of the SQLite database in its directory.
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

/// NATS settings of the server.
#[derive(Clone, Debug)]
pub struct NatsSettings {
    /// Server URLs; may contain a password.
    pub url: Secret,
    /// Credentials file of the NATS tools.
    pub credentials: Option<PathBuf>,
    /// CA certificates to trust in addition to those of the system.
    pub ca: Option<PathBuf>,
    /// Signing keys for agent users; without them agents cannot connect through NATS.
    pub keys: Option<PathBuf>,
}

/// Agent settings.
#[derive(Clone, Debug)]
pub struct AgentSettings {
    pub link: AgentConnection,
    /// Node name; defaults to the host name.
    pub node: Option<String>,
    /// State directory, which must not be shared with another agent.
    pub state: PathBuf,
    /// Operator-supplied programs by hook name.
    pub hooks: BTreeMap<String, PathBuf>,
    /// Trace export; `None` disables it.
    pub traces: Option<Traces>,
}

/// Transport settings of an agent.
#[derive(Clone, Debug)]
pub enum AgentConnection {
    /// Connects to a server and joins with the token if there is no credential yet. `url` may be a
    /// comma-separated list, which is tried in order.
    Server { url: String, token: Option<Secret>, trust: AgentTrust, nats: Option<AgentNats> },
    /// Uses standard input and output of the process that started it.
    Stdio,
}

/// NATS connection, preferred over the direct connection.
#[derive(Clone, Debug)]
pub struct AgentNats {
    pub url: String,
    /// CA certificates to trust in addition to those of the system.
    pub ca: Option<PathBuf>,
}

/// Server certificates that an agent trusts.
#[derive(Clone, Debug, Default)]
pub struct AgentTrust {
    /// CA certificates to trust in addition to those of the system.
    pub ca: Option<PathBuf>,
    /// Fingerprint of the only trusted authority.
    pub ca_fingerprint: Option<String>,
}

/// A string that `Debug` does not print.
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
