//! `stoker serve`: the server, on embedded defaults or on a database that is there already.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use stoker_model::{MergeMode, MergeOrder, Quotas};
use stoker_settings::{
    DatabaseLocation, Evaluation, Limits, Modules, Nats, Runs, Secret, Server, Tls, Traces, Webhooks,
};

use crate::environment;
use crate::exit::{Failure, Outcome};
use crate::input::read_library;
use crate::printer::Printer;
use crate::programs::Programs;

/// Run the server
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The first start makes the user `admin` in the tenant `admin`. Its password is taken from STOKER_ADMIN_PASSWORD;
without that one is made up and printed once. STOKER_DATABASE_URL stands in for --database-url, whose password
would otherwise be seen in the list of processes, and STOKER_NATS_URL for --nats. STOKER_LOG sets what is logged (`info`, `stoker_server=debug`).

Examples:
  stoker serve
  stoker serve --local-agents
  stoker serve --listen 0.0.0.0:8443 --data-dir /var/lib/stoker --ca-dir /etc/stoker/ca --tls-name stoker.example
  stoker serve --listen 0.0.0.0:8443 --tls-cert server.pem --tls-key server-key.pem
  STOKER_DATABASE_URL=postgres://stoker@db/stoker stoker serve")]
pub(crate) struct Args {
    /// Address and port to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8000")]
    listen: SocketAddr,

    /// How this server is called among those that share its database [default: the name of the machine]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    #[command(flatten)]
    location: Location,

    #[command(flatten)]
    nats: NatsArgs,

    #[command(flatten)]
    tls: TlsArgs,

    /// Largest body of a request, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = Server::default().body_bytes_max)]
    max_body: usize,

    /// Where packages of plugins are unpacked [default: `plugins` beside the embedded database]
    #[arg(long, value_name = "DIR")]
    plugins_root: Option<PathBuf>,

    /// Where scripts of plugins are copied to on nodes
    #[arg(long, value_name = "DIR", default_value_t = Server::default().plugin_scripts_root,
          value_parser = absolute)]
    plugin_scripts_root: String,

    /// Where nodes reach this server to read packages of plugins [default: the address it listens on]
    #[arg(long, value_name = "URL", value_parser = web_address)]
    packages_url: Option<String>,

    /// Root of the disk of nodes, below which sources of packages are written; another one is for trying out
    #[arg(long, value_name = "DIR", default_value_t = Server::default().node_root, value_parser = absolute)]
    node_root: String,

    /// Largest package of a plugin, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = Server::default().plugin_bytes_max)]
    max_plugin: u64,

    /// How long the token of a login lives, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = Server::default().token_seconds,
          value_parser = clap::value_parser!(i64).range(60..=315_360_000))]
    token_lifetime: i64,

    /// Which layer of a graph wins, weak to strong; a cluster may say otherwise
    #[arg(long, value_name = "ORDER", default_value = MergeOrder::NAMES[0], value_parser = merge_order)]
    merge_order: MergeOrder,

    /// What a stronger layer overrides: attributes, or the whole task (replace)
    #[arg(long, value_name = "MODE", default_value = MergeMode::NAMES[0], value_parser = merge_mode)]
    merge_mode: MergeMode,

    /// Give every node that has no agent one inside of the server; for trying out
    #[arg(long)]
    local_agents: bool,

    /// Start no agent for tasks of the master; one on the master joins by itself
    #[arg(long)]
    no_master_agent: bool,

    /// Nodes that carry out something at the same time, in one run
    #[arg(long, value_name = "N", default_value_t = Runs::default().nodes_at_once,
          value_parser = clap::value_parser!(u32).range(1..))]
    nodes_at_once: u32,

    /// Give a node up when nothing is heard of it for so long, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = Runs::default().lost_after_seconds,
          value_parser = clap::value_parser!(u32).range(1..))]
    lost_after: u32,

    /// Where several servers share a database: take the runs of one over of which nothing is heard for so long, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = Runs::default().lease_seconds,
          value_parser = clap::value_parser!(u32).range(2..=300))]
    lease: u32,

    /// Forget runs that ended more than so many days ago, with their history and output; 0 keeps them for ever
    #[arg(long, value_name = "DAYS", default_value_t = Runs::default().keep_days)]
    keep_runs: u32,

    /// Forget plans that were made more than so many days ago and that no run needs; 0 keeps them for ever
    #[arg(long, value_name = "DAYS", default_value_t = Runs::default().keep_plans_days)]
    keep_plans: u32,

    /// A program for what only you know how to do, as `erase_node=/path`; can be given several times
    #[arg(long, value_name = "NAME=PATH", value_parser = super::agent::hook)]
    hook: Vec<(String, PathBuf)>,

    /// File with the keys that contents of modules are sealed with; made if it is missing [default: in the data folder]
    #[arg(long, value_name = "FILE")]
    modules_key_file: Option<PathBuf>,

    /// Folder of helper files, or one such file, whose functions task fields and node filters can call
    #[arg(long, value_name = "DIR")]
    helpers: Option<PathBuf>,

    /// Longest collection an expression may walk; grows with the number of nodes if not given
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    limit_iterators: Option<i64>,

    /// Largest single value of an expression, in bytes; grows with the number of nodes if not given
    #[arg(long, value_name = "BYTES", allow_negative_numbers = true)]
    memory_quota: Option<i64>,

    /// Types of modules that may be made, with commas between; all that there are drivers for if not given
    #[arg(long, value_name = "TYPES", value_delimiter = ',')]
    module_types: Option<Vec<String>>,

    /// Requests that are answered at the same time; more are told to come back (503)
    #[arg(long, value_name = "N", default_value_t = Limits::default().requests_at_once,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    max_requests: u32,

    /// Those who may watch runs at the same time
    #[arg(long, value_name = "N", default_value_t = Limits::default().streams_at_once,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    max_streams: u32,

    /// Plans that one user may ask for in a minute; more are told to come back (429)
    #[arg(long, value_name = "N", default_value_t = Limits::default().plans_per_minute,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    plans_per_minute: u32,

    /// Clusters that a tenant may have of which nothing else is said; as many as it likes if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(0..))]
    quota_clusters: Option<i64>,

    /// The same for nodes in its clusters
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(0..))]
    quota_nodes: Option<i64>,

    /// The same for its modules
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(0..))]
    quota_modules: Option<i64>,

    /// How long a webhook may take to answer, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = Webhooks::default().answer_time.as_secs(),
          value_parser = clap::value_parser!(u64).range(1..=300))]
    webhook_timeout: u64,

    /// How often a message to a webhook is tried before it is given up
    #[arg(long, value_name = "N", default_value_t = Webhooks::default().attempts_max,
          value_parser = clap::value_parser!(u32).range(1..=100))]
    webhook_attempts: u32,

    /// How the log is written to standard error
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = ["text", "json"])]
    log_format: String,
}

/// How connections are encrypted.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "TLS")]
struct TlsArgs {
    /// Certificate of this server with its chain, in PEM form; read again when it changes and on SIGHUP
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,

    /// Its key, in PEM form
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,

    /// Folder of `stoker ca init`: agents get certificates from it and must show them, and so does this server without --tls-cert
    #[arg(long, value_name = "DIR")]
    ca_dir: Option<PathBuf>,

    /// A further host name or address of this server, for the certificate it makes with --ca-dir
    #[arg(long = "tls-name", value_name = "HOST", requires = "ca_dir", conflicts_with = "tls_cert")]
    tls_names: Vec<stoker_tls::Name>,

    /// How long certificates of agents are good, in seconds; they are renewed before
    #[arg(long, value_name = "SECONDS", requires = "ca_dir", default_value_t = Tls::default().agent_certificate_seconds,
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

/// Which database a command is about.
#[derive(Debug, clap::Args)]
pub(crate) struct Location {
    /// Where the embedded database lives [default: ~/.local/share/stoker]
    #[arg(long, value_name = "DIR", conflicts_with = "database_url")]
    data_dir: Option<PathBuf>,

    /// A PostgreSQL database in place of the embedded one
    #[arg(long, value_name = "URL")]
    database_url: Option<String>,
}

/// How the server reaches others besides straight connections.
#[derive(Debug, clap::Args)]
struct NatsArgs {
    /// NATS, through which servers of one database and agents reach each other; several have commas between them
    #[arg(id = "nats", long = "nats", value_name = "URL")]
    url: Option<String>,

    /// File with the credentials of this server for NATS
    #[arg(id = "nats_credentials", long = "nats-credentials", value_name = "FILE")]
    credentials: Option<PathBuf>,

    /// Certificates to trust in place of those of the system, for a NATS with TLS
    #[arg(id = "nats_ca", long = "nats-ca", value_name = "FILE")]
    ca: Option<PathBuf>,

    /// File with the keys that give agents users of NATS, made by `stoker nats init`; without it agents come straight
    #[arg(id = "nats_keys", long = "nats-keys", value_name = "FILE")]
    keys: Option<PathBuf>,
}

impl NatsArgs {
    fn resolve(self) -> Outcome<Option<Nats>> {
        let Self { url, credentials, ca, keys } = self;
        match url.or_else(environment::nats_url) {
            Some(url) => Ok(Some(Nats { url: Secret::new(url), credentials, ca, keys })),
            None if credentials.is_some() || ca.is_some() || keys.is_some() => {
                let help = "say where it is with `--nats URL` or STOKER_NATS_URL";
                Err(Failure::usage("options for NATS mean nothing without NATS", help))
            }
            None => Ok(None),
        }
    }
}

impl Location {
    /// What the options say, else the environment, else the folder for data of this user.
    pub(crate) fn resolve(self) -> Outcome<DatabaseLocation> {
        let url = self.database_url.or_else(|| self.data_dir.is_none().then(environment::database_url)?);
        if let Some(url) = url {
            return Ok(DatabaseLocation::Url(Secret::new(url)));
        }
        let folder = self.data_dir.or_else(environment::data_folder);
        let folder =
            folder.ok_or_else(|| Failure::input("there is no home folder; say where with `--data-dir`"))?;
        Ok(DatabaseLocation::Folder(folder))
    }
}

/// Where the keys of modules are.
pub(super) fn key_file(given: Option<PathBuf>, database: &DatabaseLocation) -> PathBuf {
    given.unwrap_or_else(|| match database {
        DatabaseLocation::Folder(folder) => folder.join(Modules::KEY_FILE),
        DatabaseLocation::Url(_) => environment::data_folder().unwrap_or_default().join(Modules::KEY_FILE),
    })
}

/// A folder of nodes, where nobody knows from where a relative one would count.
fn absolute(text: &str) -> Result<String, String> {
    if text.starts_with('/') { Ok(text.to_owned()) } else { Err("must begin with `/`".to_owned()) }
}

/// It stands in files of package managers, where a blank would begin something else.
fn web_address(text: &str) -> Result<String, String> {
    let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    let is_plain = |rest: &str| {
        !rest.is_empty()
            && rest.chars().all(|letter| letter.is_ascii_graphic() && !"\"'<>@?#".contains(letter))
    };
    if rest.is_some_and(is_plain) {
        return Ok(text.to_owned());
    }
    Err("must be an address such as `https://stoker.example:8443`, without a user in it".to_owned())
}

fn merge_order(text: &str) -> Result<MergeOrder, String> {
    MergeOrder::parse(text).ok_or_else(|| format!("must be {}", MergeOrder::NAMES.join(" or ")))
}

fn merge_mode(text: &str) -> Result<MergeMode, String> {
    MergeMode::parse(text).ok_or_else(|| format!("must be {}", MergeMode::NAMES.join(" or ")))
}

pub(crate) fn run(args: Args, programs: &Programs, printer: &mut Printer) -> Outcome {
    start_logging(&args.log_format, printer);
    // Read first: with a broken helper there is no server.
    let library = args.helpers.as_deref().map(|path| read_library(path, printer)).transpose()?;
    let database = args.location.resolve()?;
    let nats = args.nats.resolve()?;
    let data_folder = match &database {
        DatabaseLocation::Folder(folder) => folder.clone(),
        DatabaseLocation::Url(_) => environment::data_folder().unwrap_or_default(),
    };
    let runs = Runs {
        nodes_at_once: args.nodes_at_once,
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
        limits: Limits {
            requests_at_once: args.max_requests,
            streams_at_once: args.max_streams,
            plans_per_minute: args.plans_per_minute,
            quotas: Quotas {
                clusters: args.quota_clusters,
                modules: args.quota_modules,
                nodes: args.quota_nodes,
            },
        },
        webhooks: Webhooks {
            answer_time: Duration::from_secs(args.webhook_timeout),
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
        evaluation: Evaluation { limit_iterators: args.limit_iterators, memory_quota: args.memory_quota },
        library,
        admin_password: environment::admin_password().map(Secret::new),
        traces: traces("stoker-server", printer),
    };
    let served = (programs.serve)(settings, &mut |line| printer.note(line));
    served.map_err(|error| Failure::unavailable(error.as_ref()))
}

/// Who collects traces. Nothing depends on it, so a mistake is told and goes no further.
pub(super) fn traces(service: &str, printer: &mut Printer) -> Option<Traces> {
    environment::traces(service).unwrap_or_else(|problems| {
        for problem in problems {
            printer.note(&format!("Warning: no traces are sent: {problem}"));
        }
        None
    })
}

pub(super) fn start_logging(format: &str, printer: &Printer) {
    let filter = tracing_subscriber::EnvFilter::new(environment::log_filter());
    let logs = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(printer.has_colors());
    // A second subscriber in one process is refused, which only tests notice.
    _ = if format == "json" { logs.json().try_init() } else { logs.try_init() };
}
