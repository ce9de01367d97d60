//! Checks of a running server over its API.

mod agents;
mod background;
mod clock;
mod login;
mod reach;
mod runs;
mod version;
mod webhooks;

use super::check_result::{CheckResult, Level};
use crate::exit::Outcome;
use crate::printer::Printer;
use crate::remote::{Remote, ResolvedOptions};

/// Check a running server
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker doctor server
  stoker doctor server --server https://stoker.example --output json")]
pub(super) struct Args {}

/// Checks in order: a problem ends the list, because later checks depend on earlier ones.
const CHECKS: &[fn(&mut Remote<'_>) -> Vec<CheckResult>] = &[
    reach::check,
    clock::check,
    version::check,
    login::check,
    agents::check,
    runs::check,
    background::check,
    webhooks::check,
];

pub(super) fn run_checks(options: &ResolvedOptions, printer: &mut Printer) -> Outcome<Vec<CheckResult>> {
    let mut remote = Remote::connect(options, printer)?;
    let mut findings = Vec::new();
    for check in CHECKS {
        let results = check(&mut remote);
        let has_problem = results.iter().any(|finding| finding.level == Level::Problem);
        findings.extend(results);
        if has_problem {
            break;
        }
    }
    Ok(findings)
}
