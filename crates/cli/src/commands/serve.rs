//! `stoker serve`: the server, on embedded defaults or on a database that is there already.

use std::net::SocketAddr;
use std::path::PathBuf;

use stoker_model::{MergeMode, MergeOrder};
use stoker_settings::{DatabaseLocation, Evaluation, Modules, Runs, Secret, Server};

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
would otherwise be seen in the list of processes. STOKER_LOG sets what is logged (`info`, `stoker_server=debug`).

Examples:
  stoker serve
  stoker serve --local-agents
  stoker serve --listen 0.0.0.0:8000 --data-dir /var/lib/stoker
  STOKER_DATABASE_URL=postgres://stoker@db/stoker stoker serve")]
pub(crate) struct Args {
    /// Address and port to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8000")]
    listen: SocketAddr,

    #[command(flatten)]
    location: Location,

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

    /// Forget runs that ended more than so many days ago, with their history and output; 0 keeps them for ever
    #[arg(long, value_name = "DAYS", default_value_t = Runs::default().keep_days)]
    keep_runs: u32,

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

    /// How the log is written to standard error
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = ["text", "json"])]
    log_format: String,
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
    let data_folder = match &database {
        DatabaseLocation::Folder(folder) => folder.clone(),
        DatabaseLocation::Url(_) => environment::data_folder().unwrap_or_default(),
    };
    let runs = Runs {
        nodes_at_once: args.nodes_at_once,
        lost_after_seconds: args.lost_after,
        master_agent: !args.no_master_agent,
        local_agents: args.local_agents,
        keep_days: args.keep_runs,
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
        database,
        runs,
        modules,
        body_bytes_max: args.max_body,
        plugins_root: args.plugins_root.unwrap_or_else(|| data_folder.join("plugins")),
        plugin_scripts_root: args.plugin_scripts_root,
        plugin_bytes_max: args.max_plugin,
        token_seconds: args.token_lifetime,
        merge_order: args.merge_order,
        merge_mode: args.merge_mode,
        evaluation: Evaluation { limit_iterators: args.limit_iterators, memory_quota: args.memory_quota },
        library,
        admin_password: environment::admin_password().map(Secret::new),
    };
    let served = (programs.serve)(settings, &mut |line| printer.note(line));
    served.map_err(|error| Failure::unavailable(error.as_ref()))
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
