//! `stoker config`: effective client configuration.

use clap::Subcommand;
use serde_json::json;

use crate::environment;
use crate::exit::Outcome;
use crate::printer::Printer;
use crate::remote::{Options, Remote, SharedOptions, Target};

/// Show the effective client configuration
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,

    #[command(flatten)]
    options: SharedOptions,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Show(ShowArgs),
}

/// Show the selected server, the credentials and their sources
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Precedence: options, then environment variables (STOKER_SERVER, STOKER_TOKEN, STOKER_CA_FILE), then the last login.
Secrets are not printed. Sends no request to the server.

Examples:
  stoker config show
  stoker config show --output json")]
struct ShowArgs {}

pub(crate) fn run(args: &Args, earlier: &Options, printer: &mut Printer) -> Outcome {
    let Verb::Show(_) = &args.verb;
    let options = args.options.merge(earlier);
    let target = Target::of(&options)?;
    let server_from = match (&options.server, environment::server()) {
        (Some(_), _) => "--server",
        (None, Some(_)) => "STOKER_SERVER",
        (None, None) if target.credentials.current().is_some() => "last login",
        _ => "default",
    };
    let login_from = match (&options.token, environment::token(), &target.stored, environment::password()) {
        (Some(_), ..) => "token from --token",
        (None, Some(_), ..) => "token from STOKER_TOKEN",
        (None, None, Some(_), _) => "stored login",
        (None, None, None, Some(_)) => "password from STOKER_PASSWORD",
        _ => "none; run `stoker login`",
    };
    let stored = target.stored.as_ref();
    let config = json!({
        "server": target.address.as_str(),
        "server_from": server_from,
        "login": login_from,
        "user": stored.map(|login| login.user.clone()),
        "expires": stored.map(|login| login.expires.clone()),
        "ca_file": target.ca_file.as_ref().map(|path| path.display().to_string()),
        "credentials_file": target.credentials.path().map(|path| path.display().to_string()),
        "version": env!("CARGO_PKG_VERSION"),
    });
    let mut remote = Remote::offline(&options, &target, printer)?;
    remote.details(
        &[
            ("server", "server"),
            ("server source", "server_from"),
            ("credentials", "login"),
            ("user", "user"),
            ("expires", "expires"),
            ("CA file", "ca_file"),
            ("credentials file", "credentials_file"),
            ("version", "version"),
        ],
        &config,
    )
}
