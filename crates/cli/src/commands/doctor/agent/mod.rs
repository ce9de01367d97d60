//! Checks on a node: the state directory of its agent and the connection to the server.

use std::path::PathBuf;

use stoker_client::RestRequest;

use stoker_model::ErrorChain;

use super::check_result::CheckResult;
use super::{clocks, folder};
use crate::exit::Outcome;
use crate::remote::{ResolvedOptions, Target};

/// Check whether this machine can run an agent and reach the server
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker doctor agent --server https://stoker.example:8000
  stoker doctor agent --server http://10.20.0.2:8000 --state /var/lib/stoker-agent --output json")]
pub(super) struct Args {
    /// State directory of the agent on this machine
    #[arg(long, value_name = "DIR", default_value = "/var/lib/stoker-agent")]
    state: PathBuf,
}

pub(super) fn run_checks(args: &Args, options: &ResolvedOptions) -> Outcome<Vec<CheckResult>> {
    let target = Target::of(options)?;
    let client = target.client()?;
    let mut findings = folder::check_folder("state directory", &args.state);
    let server = client.address().to_string();
    match client.send(&RestRequest::get("version")) {
        Ok(response) => {
            findings.push(CheckResult::ok("server", format!("{server} responds")));
            let date = response.date.as_deref().and_then(clocks::parse_http_date);
            // HTTP dates have a resolution of one second.
            findings.extend(date.map(|at| clocks::compare("clock", "the server", at, clocks::SECOND_MICROS)));
        }
        Err(error) => {
            let help = "check the address, firewalls, and whether its certificate is trusted (`--ca-file`)";
            findings.push(CheckResult::problem("server", ErrorChain(&error).to_string(), help));
        }
    }
    Ok(findings)
}
