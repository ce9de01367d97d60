//! `stoker facts`: input data of the tasks of a cluster.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};
use serde_json::Value as Json;
use stoker_client::{Method, RestRequest};

use super::env::EnvArg;
use super::settings::save;
use crate::exit::Outcome;
use crate::input::read_text;
use crate::printer::Printer;
use crate::remote::{Format, Options, Remote, SharedOptions};

/// Manage the facts of a cluster: the input data of its tasks
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
    Delete(DeleteArgs),
    Download(DownloadArgs),
    Upload(UploadArgs),
    // end sorted
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FactsKind {
    Deployment,
    Provisioning,
}

#[derive(Debug, clap::Args)]
struct FactsArgs {
    #[command(flatten)]
    env: EnvArg,

    /// Kind of facts: `deployment` or `provisioning`
    #[arg(long, value_name = "KIND", default_value = "deployment", hide_possible_values = true)]
    kind: FactsKind,
}

impl FactsArgs {
    fn path(&self) -> String {
        let kind = if self.kind == FactsKind::Deployment { "deployment" } else { "provisioning" };
        format!("clusters/{}/orchestrator/{kind}", self.env.id())
    }
}

/// Download facts
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker facts download 1
  stoker facts download 1 --node 1,2 --file facts.yaml
  stoker facts download 1 --defaults --kind provisioning --output json")]
struct DownloadArgs {
    #[command(flatten)]
    facts: FactsArgs,

    /// Node ID to include; can be repeated (default: all nodes)
    #[arg(long = "node", short, value_name = "ID", value_delimiter = ',', visible_alias = "nodes")]
    nodes: Vec<String>,

    /// Compute facts instead of using uploaded ones
    #[arg(long)]
    defaults: bool,

    /// Separate facts that all nodes have in common
    #[arg(long)]
    split: bool,

    /// Output file (default: standard output)
    #[arg(long, short, value_name = "FILE")]
    file: Option<PathBuf>,
}

/// Upload facts that replace the computed ones
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker facts upload 1 --file facts.yaml")]
struct UploadArgs {
    #[command(flatten)]
    facts: FactsArgs,

    /// Facts file; `-` for standard input
    #[arg(long, short, value_name = "FILE")]
    file: PathBuf,
}

/// Delete uploaded facts and use computed ones again
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker facts delete 1")]
struct DeleteArgs {
    #[command(flatten)]
    facts: FactsArgs,
}

pub(crate) fn run(args: &Args, earlier: &Options, printer: &mut Printer) -> Outcome {
    let mut remote = Remote::connect(&args.options.merge(earlier), printer)?;
    match &args.verb {
        Verb::Delete(args) => {
            remote.delete(args.facts.path())?;
            remote.note("deleted uploaded facts; facts are computed again");
            Ok(())
        }
        Verb::Download(args) => download(args, &mut remote),
        Verb::Upload(args) => upload(args, &mut remote),
    }
}

fn download(args: &DownloadArgs, remote: &mut Remote<'_>) -> Outcome {
    let suffix = if args.defaults { "/defaults" } else { "" };
    let request = RestRequest::get(format!("{}{suffix}", args.facts.path()))
        .query_opt("nodes", (!args.nodes.is_empty()).then(|| args.nodes.join(",")))
        .query_opt("split", args.split.then_some(1));
    let facts = remote.send(&request)?;
    save(remote, &facts, args.file.as_ref(), "facts")
}

fn upload(args: &UploadArgs, remote: &mut Remote<'_>) -> Outcome {
    let text = read_text(&args.file)?;
    let facts: Json = remote.upload(RestRequest::new(Method::Put, args.facts.path()), &text)?;
    if remote.format() != Format::Table {
        return remote.data(&facts);
    }
    remote.note("uploaded facts; run `stoker facts delete` to use computed facts again");
    Ok(())
}
