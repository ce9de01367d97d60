//! On a node: the folder of its agent, and the way to the server.

use std::path::PathBuf;

use stoker_client::Request;

use super::finding::Finding;
use super::{place, times};
use crate::exit::Outcome;
use crate::remote::{Target, Wanted};

/// Look at this machine as the node of an agent
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker doctor agent --server https://stoker.example:8000
  stoker doctor agent --server http://10.20.0.2:8000 --state /var/lib/stoker-agent --output json")]
pub(super) struct Args {
    /// The folder of the agent
    #[arg(long, value_name = "DIR", default_value = "/var/lib/stoker-agent")]
    state: PathBuf,
}

pub(super) fn look(args: &Args, wanted: &Wanted) -> Outcome<Vec<Finding>> {
    let target = Target::of(wanted)?;
    let client = target.client()?;
    let mut findings = place::folder("state folder", &args.state);
    let server = client.address().to_string();
    match client.send(&Request::get("version")) {
        Ok(answer) => {
            findings.push(Finding::ok("server", format!("{server} answers")));
            let date = answer.date.as_deref().and_then(times::of_http);
            // Answers are dated to the second.
            findings.extend(date.map(|at| times::compare("clock", "the server", at, times::SECOND)));
        }
        Err(error) => {
            let help = "is the address right, does a firewall stand between, is its certificate trusted (`--ca-file`)?";
            findings.push(Finding::problem("server", error.to_string(), help));
        }
    }
    Ok(findings)
}
