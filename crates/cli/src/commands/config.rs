//! `stoker config`: effective configuration of the client, the server and the agent.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Subcommand;
use serde_json::{Value as Json, json};

use crate::configuration::{self, Origin, Program};
use crate::environment;
use crate::exit::{Failure, Outcome};
use crate::printer::Printer;
use crate::remote::{Format, Options, Remote, ResolvedOptions, SharedOptions, Target, cell, grid};

/// Show the configuration of the client, the server and the agent, and its reference
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
    Example(ExampleArgs),
    Reference(ReferenceArgs),
    Show(ShowArgs),
}

/// Print a configuration file with all options commented out
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker config example serve > serve.toml
  stoker config example agent > agent.toml")]
struct ExampleArgs {
    /// Program that reads the file: `serve` or `agent`
    #[arg(value_name = "PROGRAM", hide_possible_values = true)]
    program: Program,
}

/// Print a Markdown reference of all options for `stoker serve` and `stoker agent`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker config reference > configuration.md")]
struct ReferenceArgs {}

/// Show the effective configuration: the value and origin of each option
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without PROGRAM, shows the server that client commands use, their credentials and the origin of both. Precedence: options,
then environment variables (STOKER_SERVER, STOKER_TOKEN, STOKER_CA_FILE), then the last login.

With PROGRAM, checks the configuration file and shows the value, unit and origin of each option of `stoker serve` or
`stoker agent`: flag, environment variable, file with line, or default. Flags to include follow `--`.

Secrets are masked. Sends no request to the server. Exit codes: 2 invalid flag or combination; 3 invalid configuration file.

Examples:
  stoker config show
  stoker config show --output json
  stoker config show serve --config /etc/stoker/serve.toml
  stoker config show agent --config /etc/stoker/agent.toml -- --node node-5")]
struct ShowArgs {
    /// Program to inspect: `serve` or `agent` [default: the client]
    #[arg(value_name = "PROGRAM", hide_possible_values = true)]
    program: Option<Program>,

    /// Configuration file to read for PROGRAM
    #[arg(long, value_name = "FILE", requires = "program")]
    config: Option<PathBuf>,

    /// Command-line flags to include for PROGRAM
    #[arg(value_name = "FLAGS", last = true, requires = "program")]
    flags: Vec<OsString>,
}

pub(crate) fn run(args: &Args, earlier: &Options, grammar: clap::Command, printer: &mut Printer) -> Outcome {
    let options = args.options.merge(earlier);
    match &args.verb {
        Verb::Example(example) => Ok(printer.data(&configuration::example(example.program, grammar))?),
        Verb::Reference(_) => Ok(printer.data(&configuration::page(&grammar))?),
        Verb::Show(show) => match show.program {
            Some(program) => show_program(program, show, &options, grammar, printer),
            None => show_client(&options, printer),
        },
    }
}

fn show_program(
    program: Program,
    show: &ShowArgs,
    options: &ResolvedOptions,
    grammar: clap::Command,
    printer: &mut Printer,
) -> Outcome {
    let has_config_flag =
        |flag: &OsString| flag == "--config" || flag.as_encoded_bytes().starts_with(b"--config=");
    if show.config.is_some() && show.flags.iter().any(has_config_flag) {
        return Err(Failure::usage("`--config` is passed twice", "pass it once, before `--`"));
    }
    let config = show.config.iter().flat_map(|path| [OsString::from("--config"), path.into()]);
    let arguments: Vec<OsString> = config.chain(show.flags.iter().cloned()).collect();
    let (catalog, resolved) = configuration::inspect(program, &arguments, grammar, environment::variable)?;
    if options.format() == Format::Table {
        let rows = resolved.rows(&catalog).map(|(setting, value, origin)| {
            let value = match (&value, &setting.computed_default) {
                (Json::Null, Some(default)) => format!("({default})"),
                _ => cell(&value),
            };
            vec![setting.key.clone(), value, setting.unit.unwrap_or_default().to_owned(), origin.text()]
        });
        return Ok(printer.page(&grid(&["key", "value", "unit", "origin"], rows))?);
    }
    let rows = resolved.rows(&catalog).map(|(setting, value, origin)| {
        let (kind, variable, file, line) = match origin {
            Origin::Flag => ("flag", None, None, None),
            Origin::Environment(variable) => ("environment", Some(variable), None, None),
            Origin::File { file, line } => ("file", None, Some(file), Some(line)),
            Origin::Default => ("default", None, None, None),
        };
        json!({
            "key": setting.key,
            "value": value,
            "unit": setting.unit,
            "origin": kind,
            "variable": variable,
            "file": file,
            "line": line,
        })
    });
    let rows = Json::Array(rows.collect());
    let text = match options.format() {
        Format::Yaml => stoker_manifest::to_yaml(&rows),
        Format::Table | Format::Json => format!("{rows:#}"),
    };
    Ok(printer.data(&text)?)
}

fn show_client(options: &ResolvedOptions, printer: &mut Printer) -> Outcome {
    let target = Target::of(options)?;
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
    let mut remote = Remote::offline(options, &target, printer)?;
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
