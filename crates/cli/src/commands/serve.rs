//! `stoker serve`: the server, on embedded defaults or on a database that is there already.

use std::net::SocketAddr;
use std::path::PathBuf;

use stoker_model::{MergeMode, MergeOrder};
use stoker_settings::{DatabaseLocation, Secret, Server};

use crate::environment;
use crate::exit::{Failure, Outcome};
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

fn merge_order(text: &str) -> Result<MergeOrder, String> {
    MergeOrder::parse(text).ok_or_else(|| format!("must be {}", MergeOrder::NAMES.join(" or ")))
}

fn merge_mode(text: &str) -> Result<MergeMode, String> {
    MergeMode::parse(text).ok_or_else(|| format!("must be {}", MergeMode::NAMES.join(" or ")))
}

pub(crate) fn run(args: Args, programs: &Programs, printer: &mut Printer) -> Outcome {
    start_logging(&args.log_format, printer);
    let settings = Server {
        listen: args.listen,
        database: args.location.resolve()?,
        body_bytes_max: args.max_body,
        token_seconds: args.token_lifetime,
        merge_order: args.merge_order,
        merge_mode: args.merge_mode,
        admin_password: environment::admin_password().map(Secret::new),
    };
    let served = (programs.serve)(settings, &mut |line| printer.note(line));
    served.map_err(|error| Failure::unavailable(error.as_ref()))
}

fn start_logging(format: &str, printer: &Printer) {
    let filter = tracing_subscriber::EnvFilter::new(environment::log_filter());
    let logs = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(printer.has_colors());
    // A second subscriber in one process is refused, which only tests notice.
    _ = if format == "json" { logs.json().try_init() } else { logs.try_init() };
}
