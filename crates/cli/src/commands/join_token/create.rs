use serde_json::json;
use stoker_api_types::join_tokens::JoinTokenView;
use stoker_client::Method;

use crate::exit::Outcome;
use crate::remote::{Format, Remote, display, typed};

/// Create a join token; its value is shown only once
#[derive(Debug, clap::Args)]
#[command(after_help = "\
In the default output format, standard output contains only the token.

Examples:
  STOKER_JOIN_TOKEN=$(stoker join-token create 'rack 7' --uses 20 --hours 2)
  stoker join-token create 'node 5 was reinstalled' --uses 1 --may-replace")]
pub(super) struct Args {
    /// Description of the token's purpose, shown in lists
    #[arg(value_name = "LABEL")]
    label: Option<String>,

    /// Maximum number of agents that can join with the token [default: unlimited]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..=1_000_000))]
    uses: Option<i64>,

    /// Lifetime of the token in hours
    #[arg(long, value_name = "HOURS", default_value_t = 24, value_parser = clap::value_parser!(i64).range(1..=8760))]
    hours: i64,

    /// Allow an agent to join as a node, including the master, that already has an agent or whose agent was revoked
    #[arg(long)]
    may_replace: bool,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let body = json!({
        "label": args.label, "uses": args.uses, "expires_in": args.hours * 3600, "may_replace": args.may_replace,
    });
    let response = remote.send_json(Method::Post, "join_tokens", &body)?;
    if remote.format() != Format::Table {
        return remote.data(&response);
    }
    let token: JoinTokenView = typed(&response)?;
    remote.note(&format!("created join token {}, expires at {}", token.id, display(&token.expires_at)));
    Ok(remote.printer.data(&token.token.unwrap_or_default())?)
}
