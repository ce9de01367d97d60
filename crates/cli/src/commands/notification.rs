//! `stoker notification`: notifications about runs and nodes.

use clap::Subcommand;
use serde_json::json;
use stoker_api_types::notifications::MarkedView;
use stoker_client::{Method, RestRequest};

use crate::exit::Outcome;
use crate::printer::Printer;
use crate::remote::{Options, Remote, SharedOptions, set, typed};

/// Manage notifications about runs and nodes
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
    List(ListArgs),
    Read(ReadArgs),
    // end sorted
}

/// List notifications, newest first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker notification list
  stoker notification list --unread --topic run.failed")]
struct ListArgs {
    /// List only unread notifications
    #[arg(long)]
    unread: bool,

    /// Filter by topic, such as `run.failed`; can be repeated
    #[arg(long, value_name = "TOPIC")]
    topic: Vec<String>,

    /// Filter by cluster ID
    #[arg(long, short, value_name = "ID", visible_aliases = ["env-id", "cluster"])]
    env: Option<i64>,

    /// Maximum number of notifications to list
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: u64,
}

/// Mark notifications as read
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The state is shared: a notification is marked as read for all users.

Examples:
  stoker notification read
  stoker notification read 3 4")]
struct ReadArgs {
    /// Notification IDs [default: all notifications]
    #[arg(value_name = "ID")]
    ids: Vec<i64>,
}

pub(crate) fn run(args: &Args, earlier: &Options, printer: &mut Printer) -> Outcome {
    let mut remote = Remote::connect(&args.options.merge(earlier), printer)?;
    match &args.verb {
        Verb::List(args) => list(args, &mut remote),
        Verb::Read(args) => read(args, &mut remote),
    }
}

fn list(args: &ListArgs, remote: &mut Remote<'_>) -> Outcome {
    let topics = (!args.topic.is_empty()).then(|| args.topic.join(","));
    let request = RestRequest::get("notifications")
        .query_opt("status", args.unread.then_some("unread"))
        .query_opt("topic", topics.as_ref())
        .query_opt("cluster", args.env)
        .query_opt("limit", Some(args.limit));
    let notifications = remote.get_list(&request)?;
    remote.list(
        &[
            ("id", "id"),
            ("time", "at"),
            ("topic", "topic"),
            ("status", "status"),
            ("cluster", "cluster"),
            ("message", "message"),
        ],
        notifications,
    )
}

fn read(args: &ReadArgs, remote: &mut Remote<'_>) -> Outcome {
    let mut body = json!({"status": "read"});
    if !args.ids.is_empty() {
        set(&mut body, "ids", &args.ids);
    }
    let marked: MarkedView = typed(&remote.send_json(Method::Put, "notifications", &body)?)?;
    remote.note(&format!("marked {} notifications as read", marked.changed));
    Ok(())
}
