//! `stoker notification`: what happened that people want to know of.

use clap::Subcommand;
use serde_json::{Value as Json, json};
use stoker_client::{Method, Request};

use crate::exit::Outcome;
use crate::printer::Printer;
use crate::remote::{Options, Remote, Shared, cell};

/// Notifications: what happened to runs and nodes
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
    List(ListArgs),
    Read(ReadArgs),
    // end sorted
}

/// List what happened, the newest first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker notification list
  stoker notification list --unread --topic run.failed")]
struct ListArgs {
    /// Only those that nobody has read
    #[arg(long)]
    unread: bool,

    /// Only those of this topic, as run.failed; can be given several times
    #[arg(long, value_name = "TOPIC")]
    topic: Vec<String>,

    /// Only those of this cluster
    #[arg(long, short, value_name = "ID", visible_alias = "cluster")]
    env: Option<i64>,

    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: u64,
}

/// Mark notifications as read
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker notification read
  stoker notification read 3 4")]
struct ReadArgs {
    /// Which ones; all if not given
    #[arg(value_name = "ID")]
    ids: Vec<i64>,
}

pub(crate) fn run(args: &Args, earlier: &Options, printer: &mut Printer) -> Outcome {
    let mut remote = Remote::connect(&args.options.over(earlier), printer)?;
    match &args.verb {
        Verb::List(args) => list(args, &mut remote),
        Verb::Read(args) => read(args, &mut remote),
    }
}

fn list(args: &ListArgs, remote: &mut Remote<'_>) -> Outcome {
    let topics = (!args.topic.is_empty()).then(|| args.topic.join(","));
    let request = Request::get("notifications")
        .maybe("status", args.unread.then_some("unread"))
        .maybe("topic", topics.as_ref())
        .maybe("cluster", args.env)
        .maybe("limit", Some(args.limit));
    let listed = remote.get_list(&request)?;
    remote.list(
        &[
            ("id", "id"),
            ("at", "at"),
            ("topic", "topic"),
            ("status", "status"),
            ("cluster", "cluster"),
            ("message", "message"),
        ],
        listed,
    )
}

fn read(args: &ReadArgs, remote: &mut Remote<'_>) -> Outcome {
    let mut body = json!({"status": "read"});
    if !args.ids.is_empty() {
        body["ids"] = Json::from(args.ids.clone());
    }
    let marked = remote.send_json(Method::Put, "notifications", &body)?;
    remote.note(&format!("marked {} as read", cell(&marked["changed"])));
    Ok(())
}
