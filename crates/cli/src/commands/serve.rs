//! `stoker serve`: runs the server on the embedded database or on PostgreSQL.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use stoker_model::{MergeMode, MergeOrder, Quotas};
use stoker_settings::{
    DatabaseLocation, EvaluationLimits, Modules, NatsSettings, RequestLimits, Runs, Secret, Server, Tls,
    Traces, Webhooks,
};

use crate::environment;
use crate::exit::{Failure, Outcome};
use crate::input::read_library;
use crate::printer::Printer;
use crate::programs::Programs;

/// Run the server
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The first start creates the user `admin` in the tenant `admin`. Its password is read from STOKER_ADMIN_PASSWORD; if that is
not set, a random password is printed once. Set STOKER_DATABASE_URL instead of `--database-url` and STOKER_NATS_URL
instead of `--nats` to keep passwords out of the process list. STOKER_LOG sets the default for `--log`.

Precedence of options: flags, then environment variables, then the configuration file, then defaults. `stoker config show
serve` shows the origin of each value.

Examples:
  stoker serve
  stoker serve --local-agents
  stoker serve --config /etc/stoker/serve.toml
  stoker serve --listen 0.0.0.0:8443 --data-dir /var/lib/stoker --ca-dir /etc/stoker/ca --tls-name stoker.example
  stoker serve --listen 0.0.0.0:8443 --tls-cert server.pem --tls-key server-key.pem
  STOKER_DATABASE_URL=postgres://stoker@db/stoker stoker serve")]
pub(crate) struct Args {
    /// TOML configuration file; `stoker config example serve` prints a template
    // Read before the arguments are parsed; see `crate::configuration`.
    #[arg(id = "config", long = "config", value_name = "FILE")]
    _config: Option<PathBuf>,

    /// Address and port to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8000")]
    listen: SocketAddr,

    /// Unique name of this server among servers that share a database [default: the host name]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    #[command(flatten)]
    location: Location,

    #[command(flatten)]
    nats: NatsArgs,

    #[command(flatten)]
    tls: TlsArgs,

    /// Maximum size of a request body, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = Server::default().body_bytes_max)]
    max_body: usize,

    /// Directory for installed plugins [default: `plugins` in the data directory]
    #[arg(long, value_name = "DIR")]
    plugins_root: Option<PathBuf>,

    /// Directory for plugin scripts on nodes
    #[arg(long, value_name = "DIR", default_value_t = Server::default().plugin_scripts_root,
          value_parser = absolute)]
    plugin_scripts_root: String,

    /// Base URL of this server for nodes that download plugin packages [default: the listen address]
    #[arg(long, value_name = "URL", value_parser = http_url)]
    packages_url: Option<String>,

    /// Root directory for package manager configuration on nodes; for tests only
    #[arg(long, value_name = "DIR", default_value_t = Server::default().node_root, value_parser = absolute)]
    node_root: String,

    /// Maximum size of a plugin package, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = Server::default().plugin_bytes_max)]
    max_plugin: u64,

    /// Lifetime of login tokens, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = Server::default().token_seconds,
          value_parser = clap::value_parser!(i64).range(60..=315_360_000))]
    token_lifetime: i64,

    /// Order in which graph layers are merged, lowest precedence first; clusters can override it
    #[arg(long, value_name = "ORDER", default_value = MergeOrder::NAMES[0], value_parser = merge_order)]
    merge_order: MergeOrder,

    /// Effect of a task on the same task in an earlier layer: `attributes` overrides the attributes it sets, `replace` the whole task; clusters can override it
    #[arg(long, value_name = "MODE", default_value = MergeMode::NAMES[0], value_parser = merge_mode)]
    merge_mode: MergeMode,

    /// Start an in-process agent for every node that has no agent; for evaluation only
    #[arg(long)]
    local_agents: bool,

    /// Do not start an in-process agent for tasks on the master; a separate agent must join for it
    #[arg(long)]
    no_master_agent: bool,

    /// Maximum number of nodes per run that run tasks concurrently
    #[arg(long, value_name = "N", default_value_t = Runs::default().max_concurrent_nodes,
          value_parser = clap::value_parser!(u32).range(1..))]
    nodes_at_once: u32,

    /// Time without contact after which a node counts as failed, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = Runs::default().lost_after_seconds,
          value_parser = clap::value_parser!(u32).range(1..))]
    lost_after: u32,

    /// Duration of run leases, in seconds; another server takes over a run whose lease is not renewed
    #[arg(long, value_name = "SECONDS", default_value_t = Runs::default().lease_seconds,
          value_parser = clap::value_parser!(u32).range(2..=300))]
    lease: u32,

    /// Days to keep finished runs with their history and output; 0 keeps them forever
    #[arg(long, value_name = "DAYS", default_value_t = Runs::default().keep_days)]
    keep_runs: u32,

    /// Days to keep plans that no run uses; 0 keeps them forever
    #[arg(long, value_name = "DAYS", default_value_t = Runs::default().keep_plans_days)]
    keep_plans: u32,

    /// Program to run for a hook, such as `erase_node=/usr/local/bin/erase`; can be repeated
    #[arg(long, value_name = "NAME=PATH", value_parser = super::agent::hook)]
    hook: Vec<(String, PathBuf)>,

    /// File with the encryption keys for module payloads; created if missing [default: `modules.key` in the data directory]
    #[arg(long, value_name = "FILE")]
    modules_key_file: Option<PathBuf>,

    /// Helper file, or directory with helper files, that define functions for task fields and node filters
    #[arg(long, value_name = "DIR")]
    helpers: Option<PathBuf>,

    /// Maximum number of elements an expression may iterate over [default: scales with the number of nodes]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    limit_iterators: Option<i64>,

    /// Maximum size of a value in an expression, in bytes [default: scales with the number of nodes]
    #[arg(long, value_name = "BYTES", allow_negative_numbers = true)]
    memory_quota: Option<i64>,

    /// Allowed module types, comma-separated [default: all types with a driver]
    #[arg(long, value_name = "TYPES", value_delimiter = ',')]
    module_types: Option<Vec<String>>,

    /// Maximum number of concurrent HTTP requests; the server rejects others with status 503
    #[arg(long, value_name = "N", default_value_t = RequestLimits::default().max_concurrent_requests,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    max_requests: u32,

    /// Maximum number of concurrent event streams
    #[arg(long, value_name = "N", default_value_t = RequestLimits::default().max_concurrent_streams,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    max_streams: u32,

    /// Maximum number of plans per user and minute; the server rejects others with status 429
    #[arg(long, value_name = "N", default_value_t = RequestLimits::default().plans_per_minute,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    plans_per_minute: u32,

    /// Maximum number of clusters per tenant without a separate quota [default: unlimited]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(0..))]
    quota_clusters: Option<i64>,

    /// Maximum number of nodes per tenant without a separate quota [default: unlimited]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(0..))]
    quota_nodes: Option<i64>,

    /// Maximum number of modules per tenant without a separate quota [default: unlimited]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(0..))]
    quota_modules: Option<i64>,

    /// Timeout for webhook requests, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = Webhooks::default().response_timeout.as_secs(),
          value_parser = clap::value_parser!(u64).range(1..=300))]
    webhook_timeout: u64,

    /// Maximum number of attempts per webhook delivery
    #[arg(long, value_name = "N", default_value_t = Webhooks::default().attempts_max,
          value_parser = clap::value_parser!(u32).range(1..=100))]
    webhook_attempts: u32,

    /// Initial password of the user `admin`. Not a flag: a password must not appear in the process list.
    #[arg(skip)]
    pub(crate) admin_password: Option<String>,

    #[command(flatten)]
    log: LogArgs,
}

/// Log options.
#[derive(Debug, clap::Args)]
pub(super) struct LogArgs {
    /// Log filter, such as `info` or `stoker_orchestrator=debug`
    #[arg(id = "log", long = "log", value_name = "FILTER", default_value = "warn")]
    filter: String,

    /// Log format on standard error
    #[arg(id = "log_format", long = "log-format", value_name = "FORMAT", default_value = "text", value_parser = ["text", "json"])]
    format: String,
}

/// TLS options.
#[derive(Debug, clap::Args)]
struct TlsArgs {
    /// PEM file with the server certificate and its chain; reloaded when it changes and on SIGHUP
    #[arg(long, help_heading = "TLS", value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,

    /// PEM file with the private key for `--tls-cert`
    #[arg(long, help_heading = "TLS", value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,

    /// Directory of the certificate authority (see `stoker ca init`). The server issues agent certificates and requires them, and issues its own certificate unless `--tls-cert` is passed
    #[arg(long, help_heading = "TLS", value_name = "DIR")]
    ca_dir: Option<PathBuf>,

    /// Additional host name or IP address in the certificate issued with `--ca-dir`; can be repeated
    #[arg(
        long = "tls-name",
        help_heading = "TLS",
        value_name = "HOST",
        requires = "ca_dir",
        conflicts_with = "tls_cert"
    )]
    tls_names: Vec<stoker_tls::Name>,

    /// Validity of agent certificates, in seconds; agents renew them automatically
    #[arg(long, help_heading = "TLS", value_name = "SECONDS", requires = "ca_dir", default_value_t = Tls::default().agent_certificate_seconds,
          value_parser = clap::value_parser!(i64).range(10..=315_360_000))]
    agent_certificate_life: i64,
}

impl TlsArgs {
    fn resolve(self) -> Option<Tls> {
        let files = self.tls_cert.zip(self.tls_key);
        if files.is_none() && self.ca_dir.is_none() {
            return None;
        }
        Some(Tls {
            files,
            ca_dir: self.ca_dir,
            names: self.tls_names.iter().map(ToString::to_string).collect(),
            agent_certificate_seconds: self.agent_certificate_life,
        })
    }
}

/// Database options of a command.
#[derive(Debug, clap::Args)]
pub(crate) struct Location {
    /// Directory with the embedded database [default: ~/.local/share/stoker]
    #[arg(long, value_name = "DIR", conflicts_with = "database_url")]
    data_dir: Option<PathBuf>,

    /// PostgreSQL database URL, used instead of the embedded database
    #[arg(long, value_name = "URL")]
    database_url: Option<String>,
}

/// Database options of a command that works on the data of a server.
#[derive(Debug, clap::Args)]
pub(crate) struct ServerData {
    /// Configuration file of `stoker serve`, for options that are not passed
    // Read before the arguments are parsed; see `crate::configuration`.
    #[arg(id = "config", long = "config", value_name = "FILE")]
    _config: Option<PathBuf>,

    #[command(flatten)]
    location: Location,
}

impl ServerData {
    pub(crate) fn resolve(self) -> Outcome<DatabaseLocation> {
        self.location.resolve()
    }
}

/// NATS options of the server.
#[derive(Debug, clap::Args)]
struct NatsArgs {
    /// NATS URL for messages between servers and agents; can be several, comma-separated
    #[arg(id = "nats", long = "nats", value_name = "URL")]
    url: Option<String>,

    /// File with the NATS credentials for servers (see `stoker nats init`)
    #[arg(id = "nats_credentials", long = "nats-credentials", value_name = "FILE")]
    credentials: Option<PathBuf>,

    /// PEM file with the CA certificates to trust for NATS with TLS, instead of the system's
    #[arg(id = "nats_ca", long = "nats-ca", value_name = "FILE")]
    ca: Option<PathBuf>,

    /// File with the keys that sign NATS credentials for agents (see `stoker nats init`); without it, agents connect to servers directly
    #[arg(id = "nats_keys", long = "nats-keys", value_name = "FILE")]
    keys: Option<PathBuf>,
}

impl NatsArgs {
    fn resolve(self) -> Outcome<Option<NatsSettings>> {
        let Self { url, credentials, ca, keys } = self;
        match url {
            Some(url) => Ok(Some(NatsSettings { url: Secret::new(url), credentials, ca, keys })),
            None if credentials.is_some() || ca.is_some() || keys.is_some() => {
                let help = "pass `--nats URL` or set STOKER_NATS_URL";
                Err(Failure::usage("NATS options need a NATS URL", help))
            }
            None => Ok(None),
        }
    }
}

impl Location {
    /// Resolves the location of the database. Precedence: options, environment variables, the data directory
    /// of the user.
    pub(crate) fn resolve(self) -> Outcome<DatabaseLocation> {
        let url = self.database_url.or_else(|| self.data_dir.is_none().then(environment::database_url)?);
        if let Some(url) = url {
            return Ok(DatabaseLocation::Url(Secret::new(url)));
        }
        let folder = self.data_dir.or_else(environment::data_folder);
        let folder = folder.ok_or_else(|| Failure::input("no home directory; pass `--data-dir`"))?;
        Ok(DatabaseLocation::Folder(folder))
    }
}

/// Returns the path of the key file of modules.
pub(super) fn key_file(path: Option<PathBuf>, database: &DatabaseLocation) -> PathBuf {
    path.unwrap_or_else(|| match database {
        DatabaseLocation::Folder(folder) => folder.join(Modules::KEY_FILE),
        DatabaseLocation::Url(_) => environment::data_folder().unwrap_or_default().join(Modules::KEY_FILE),
    })
}

/// Requires an absolute path: nodes have no defined working directory.
fn absolute(text: &str) -> Result<String, String> {
    if text.starts_with('/') { Ok(text.to_owned()) } else { Err("expected an absolute path".to_owned()) }
}

/// Rejects characters that would need quoting in configuration files of package managers.
fn http_url(text: &str) -> Result<String, String> {
    let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    let is_unquoted = |rest: &str| {
        !rest.is_empty()
            && rest.chars().all(|letter| letter.is_ascii_graphic() && !"\"'<>@?#".contains(letter))
    };
    if rest.is_some_and(is_unquoted) {
        return Ok(text.to_owned());
    }
    Err("expected a URL such as `https://stoker.example:8443`, without credentials".to_owned())
}

fn merge_order(text: &str) -> Result<MergeOrder, String> {
    MergeOrder::parse(text).ok_or_else(|| format!("expected {}", MergeOrder::NAMES.join(" or ")))
}

fn merge_mode(text: &str) -> Result<MergeMode, String> {
    MergeMode::parse(text).ok_or_else(|| format!("expected {}", MergeMode::NAMES.join(" or ")))
}

pub(crate) fn run(args: Args, programs: &Programs, printer: &mut Printer) -> Outcome {
    start_logging(&args.log, printer);
    // Fail before any other step if a helper is invalid.
    let library = args.helpers.as_deref().map(|path| read_library(path, printer)).transpose()?;
    let database = args.location.resolve()?;
    let nats = args.nats.resolve()?;
    let data_folder = match &database {
        DatabaseLocation::Folder(folder) => folder.clone(),
        DatabaseLocation::Url(_) => environment::data_folder().unwrap_or_default(),
    };
    let runs = Runs {
        max_concurrent_nodes: args.nodes_at_once,
        lost_after_seconds: args.lost_after,
        lease_seconds: args.lease,
        master_agent: !args.no_master_agent,
        local_agents: args.local_agents,
        keep_days: args.keep_runs,
        keep_plans_days: args.keep_plans,
        hooks: args.hook.into_iter().collect(),
        agents_folder: data_folder.join("agents"),
    };
    let modules = Modules {
        key_file: key_file(args.modules_key_file, &database),
        types: args.module_types,
        ..Modules::default()
    };
    let settings = Server {
        listen: args.listen,
        name: args.name,
        tls: args.tls.resolve(),
        database,
        nats,
        runs,
        modules,
        limits: RequestLimits {
            max_concurrent_requests: args.max_requests,
            max_concurrent_streams: args.max_streams,
            plans_per_minute: args.plans_per_minute,
            quotas: Quotas {
                clusters: args.quota_clusters,
                modules: args.quota_modules,
                nodes: args.quota_nodes,
            },
        },
        webhooks: Webhooks {
            response_timeout: Duration::from_secs(args.webhook_timeout),
            attempts_max: args.webhook_attempts,
            ..Webhooks::default()
        },
        body_bytes_max: args.max_body,
        plugins_root: args.plugins_root.unwrap_or_else(|| data_folder.join("plugins")),
        plugin_scripts_root: args.plugin_scripts_root,
        packages_url: args.packages_url,
        node_root: args.node_root,
        plugin_bytes_max: args.max_plugin,
        token_seconds: args.token_lifetime,
        merge_order: args.merge_order,
        merge_mode: args.merge_mode,
        evaluation: EvaluationLimits {
            limit_iterators: args.limit_iterators,
            memory_quota: args.memory_quota,
        },
        library,
        admin_password: args.admin_password.map(Secret::new),
        traces: traces("stoker-server", printer),
    };
    let result = (programs.serve)(settings, &mut |line| printer.note(line));
    result.map_err(|error| Failure::unavailable(error.as_ref()))
}

/// Returns the trace export settings. Invalid settings only disable tracing and are reported as warnings.
pub(super) fn traces(service: &str, printer: &mut Printer) -> Option<Traces> {
    environment::traces(service).unwrap_or_else(|problems| {
        for problem in problems {
            printer.note(&format!("warning: trace export is disabled: {problem}"));
        }
        None
    })
}

pub(super) fn start_logging(args: &LogArgs, printer: &Printer) {
    let filter = tracing_subscriber::EnvFilter::new(&args.filter);
    let logs = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(printer.has_colors());
    // Fails if a subscriber is already installed, which happens only in tests.
    _ = if args.format == "json" { logs.json().try_init() } else { logs.try_init() };
}
