//! `stoker doctor`: looks at a set-up and says what to do.
//!
//! One file for each check and one line in the list of its folder. A check looks and changes nothing; what it finds
//! says what that means and what to do about it.

mod agent;
mod finding;
mod place;
mod server;
mod setup;
mod times;

use clap::Subcommand;
use serde_json::Value as Json;

use self::finding::{Finding, Level};
use crate::exit::{Failure, Outcome};
use crate::printer::Printer;
use crate::remote::{Format, Options, Shared};

/// Look at a set-up and say what to do: before a server starts, while it runs, on a node
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
    // sorted
    Agent(agent::Args),
    Server(server::Args),
    Setup(setup::Args),
    // end sorted
}

pub(crate) fn run(args: Args, earlier: &Options, printer: &mut Printer) -> Outcome {
    let wanted = args.options.over(earlier);
    let findings = match args.verb {
        Verb::Agent(args) => agent::look(&args, &wanted)?,
        Verb::Server(_) => server::look(&wanted, printer)?,
        Verb::Setup(args) => setup::look(args)?,
    };
    show(&findings, wanted.format(), printer)?;
    let n_problems = findings.iter().filter(|finding| finding.level == Level::Problem).count();
    match n_problems {
        0 => Ok(()),
        1 => Err(Failure::failed("there is a problem")),
        n => Err(Failure::failed(format!("there are {n} problems"))),
    }
}

fn show(findings: &[Finding], format: Format, printer: &mut Printer) -> Outcome {
    let data = || Json::Array(findings.iter().map(Finding::to_json).collect());
    let text = match format {
        Format::Table => findings.iter().map(Finding::to_string).collect::<Vec<_>>().join("\n"),
        Format::Json => return Ok(printer.data(&format!("{:#}", data()))?),
        Format::Yaml => return Ok(printer.data(&stoker_manifest::to_yaml(&data()))?),
    };
    Ok(printer.page(&text)?)
}
