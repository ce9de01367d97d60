//! A server that runs, as a client sees it.

mod agents;
mod background;
mod clock;
mod login;
mod reach;
mod runs;
mod version;
mod webhooks;

use super::finding::{Finding, Level};
use crate::exit::Outcome;
use crate::printer::Printer;
use crate::remote::{Remote, Wanted};

/// Look at a server that runs
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker doctor server
  stoker doctor server --server https://stoker.example --output json")]
pub(super) struct Args {}

/// One line for each check, in an order in which one is of no use without those before.
const CHECKS: &[fn(&mut Remote<'_>) -> Vec<Finding>] = &[
    reach::check,
    clock::check,
    version::check,
    login::check,
    agents::check,
    runs::check,
    background::check,
    webhooks::check,
];

pub(super) fn look(wanted: &Wanted, printer: &mut Printer) -> Outcome<Vec<Finding>> {
    let mut remote = Remote::connect(wanted, printer)?;
    let mut findings = Vec::new();
    for check in CHECKS {
        let found = check(&mut remote);
        let is_bad = found.iter().any(|finding| finding.level == Level::Problem);
        findings.extend(found);
        if is_bad {
            break;
        }
    }
    Ok(findings)
}
