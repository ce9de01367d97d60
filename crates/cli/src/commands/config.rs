//! `stoker config`: what commands would use.

use clap::Subcommand;
use serde_json::json;

use crate::environment;
use crate::exit::Outcome;
use crate::printer::Printer;
use crate::remote::{Options, Remote, Shared, Target};

/// What commands would use: server, login, files
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,

    #[command(flatten)]
    options: Shared,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Show(ShowArgs),
}

/// Show which server commands talk to, as whom, and why
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Options come first, then variables (STOKER_SERVER, STOKER_TOKEN, STOKER_CA_FILE), then the last login. Secrets are
not shown. No server is asked.

Examples:
  stoker config show
  stoker config show --output json")]
struct ShowArgs {}

pub(crate) fn run(args: &Args, earlier: &Options, printer: &mut Printer) -> Outcome {
    let Verb::Show(_) = &args.verb;
    let wanted = args.options.over(earlier);
    let target = Target::of(&wanted)?;
    let server_from = match (&wanted.server, environment::server()) {
        (Some(_), _) => "--server",
        (None, Some(_)) => "STOKER_SERVER",
        (None, None) if target.credentials.current().is_some() => "the last login",
        _ => "the default",
    };
    let login_from = match (&wanted.token, environment::token(), &target.stored, environment::password()) {
        (Some(_), ..) => "the token of --token",
        (None, Some(_), ..) => "the token of STOKER_TOKEN",
        (None, None, Some(_), _) => "the login",
        (None, None, None, Some(_)) => "the password of STOKER_PASSWORD",
        _ => "nobody: log in with `stoker login`",
    };
    let stored = target.stored.as_ref();
    let shown = json!({
        "server": target.address.as_str(),
        "server_from": server_from,
        "login": login_from,
        "user": stored.map(|login| login.user.clone()),
        "expires": stored.map(|login| login.expires.clone()),
        "ca_file": target.ca_file.as_ref().map(|path| path.display().to_string()),
        "credentials_file": target.credentials.path().map(|path| path.display().to_string()),
        "version": env!("CARGO_PKG_VERSION"),
    });
    let mut remote = Remote::show_only(&wanted, &target, printer)?;
    remote.details(
        &[
            ("server", "server"),
            ("as said by", "server_from"),
            ("acts as", "login"),
            ("user", "user"),
            ("until", "expires"),
            ("certificates", "ca_file"),
            ("credentials", "credentials_file"),
            ("version", "version"),
        ],
        &shown,
    )
}
