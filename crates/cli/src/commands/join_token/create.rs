use serde_json::json;
use stoker_client::Method;

use crate::exit::Outcome;
use crate::remote::{Format, Remote, cell};

/// Make a token with which agents join; what it is can be read only now
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Standard output has the token and nothing else.

Examples:
  STOKER_JOIN_TOKEN=$(stoker join-token create 'rack 7' --uses 20 --hours 2)
  stoker join-token create 'node 5 was reinstalled' --uses 1 --may-replace")]
pub(super) struct Args {
    /// What it is for
    #[arg(value_name = "LABEL")]
    label: Option<String>,

    /// How many agents may join with it; as many as like if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..=1_000_000))]
    uses: Option<i64>,

    /// How long it lives
    #[arg(long, value_name = "HOURS", default_value_t = 24, value_parser = clap::value_parser!(i64).range(1..=8760))]
    hours: i64,

    /// Agents may take the place of others, be that of the master, and be of nodes that were revoked
    #[arg(long)]
    may_replace: bool,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let body = json!({
        "label": args.label, "uses": args.uses, "expires_in": args.hours * 3600, "may_replace": args.may_replace,
    });
    let made = remote.send_json(Method::Post, "join_tokens", &body)?;
    if remote.format() != Format::Table {
        return remote.data(&made);
    }
    remote.note(&format!("join token {} lives until {}", cell(&made["id"]), cell(&made["expires_at"])));
    Ok(remote.printer.data(&cell(&made["token"]))?)
}
