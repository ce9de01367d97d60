//! `stoker doctor`: diagnoses problems and suggests fixes.
//!
//! Each check is a file of its own and an entry in the list of its directory. Checks are read-only.

mod agent;
mod check_result;
mod clocks;
mod folder;
mod server;
mod setup;

use clap::Subcommand;
use serde_json::Value as Json;

use self::check_result::{CheckResult, Level};
use crate::exit::{Failure, Outcome};
use crate::printer::Printer;
use crate::remote::{Format, Options, SharedOptions};

/// Diagnose problems and suggest fixes
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
    // sorted
    Agent(agent::Args),
    Server(server::Args),
    Setup(setup::Args),
    // end sorted
}

pub(crate) fn run(args: Args, earlier: &Options, printer: &mut Printer) -> Outcome {
    let options = args.options.merge(earlier);
    let findings = match args.verb {
        Verb::Agent(args) => agent::run_checks(&args, &options)?,
        Verb::Server(_) => server::run_checks(&options, printer)?,
        Verb::Setup(args) => setup::run_checks(args)?,
    };
    show(&findings, options.format(), printer)?;
    let n_problems = findings.iter().filter(|finding| finding.level == Level::Problem).count();
    match n_problems {
        0 => Ok(()),
        1 => Err(Failure::failed("found 1 problem")),
        n => Err(Failure::failed(format!("found {n} problems"))),
    }
}

fn show(findings: &[CheckResult], format: Format, printer: &mut Printer) -> Outcome {
    let data = || Json::Array(findings.iter().map(CheckResult::to_json).collect());
    let text = match format {
        Format::Table => findings.iter().map(CheckResult::to_string).collect::<Vec<_>>().join("\n"),
        Format::Json => return Ok(printer.data(&format!("{:#}", data()))?),
        Format::Yaml => return Ok(printer.data(&stoker_manifest::to_yaml(&data()))?),
    };
    Ok(printer.page(&text)?)
}
