//! `stoker facts`: what tasks of a cluster work from.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};
use serde_json::Value as Json;
use stoker_client::{Method, Request};

use super::env::EnvArg;
use super::settings::save;
use crate::exit::Outcome;
use crate::input::read_text;
use crate::printer::Printer;
use crate::remote::{Format, Options, Remote, Shared};

/// Facts of a cluster: what tasks work from
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
    Delete(DeleteArgs),
    Download(DownloadArgs),
    Upload(UploadArgs),
    // end sorted
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    Deployment,
    Provisioning,
}

#[derive(Debug, clap::Args)]
struct Of {
    #[command(flatten)]
    env: EnvArg,

    /// Which facts: deployment or provisioning
    #[arg(long, value_name = "KIND", default_value = "deployment", hide_possible_values = true)]
    kind: Kind,
}

impl Of {
    fn path(&self) -> String {
        let kind = if self.kind == Kind::Deployment { "deployment" } else { "provisioning" };
        format!("clusters/{}/orchestrator/{kind}", self.env.id())
    }
}

/// Write the facts to a file
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker facts download 1
  stoker facts download 1 --node 1,2 --file facts.yaml
  stoker facts download 1 --defaults --kind provisioning --output json")]
struct DownloadArgs {
    #[command(flatten)]
    of: Of,

    /// Only of these nodes
    #[arg(long = "node", short, value_name = "ID", value_delimiter = ',', visible_alias = "nodes")]
    nodes: Vec<String>,

    /// Computed anew, whatever was uploaded
    #[arg(long)]
    defaults: bool,

    /// What is common to all nodes apart
    #[arg(long)]
    split: bool,

    /// Where to; standard output if not given
    #[arg(long, short, value_name = "FILE")]
    file: Option<PathBuf>,
}

/// Use the facts of a file in place of those that are computed
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker facts upload 1 --file facts.yaml")]
struct UploadArgs {
    #[command(flatten)]
    of: Of,

    /// The facts; `-` is standard input
    #[arg(long, short, value_name = "FILE")]
    file: PathBuf,
}

/// Go back to facts that are computed
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker facts delete 1")]
struct DeleteArgs {
    #[command(flatten)]
    of: Of,
}

pub(crate) fn run(args: &Args, earlier: &Options, printer: &mut Printer) -> Outcome {
    let mut remote = Remote::connect(&args.options.over(earlier), printer)?;
    match &args.verb {
        Verb::Delete(args) => {
            remote.delete(args.of.path())?;
            remote.note("facts are computed again");
            Ok(())
        }
        Verb::Download(args) => download(args, &mut remote),
        Verb::Upload(args) => upload(args, &mut remote),
    }
}

fn download(args: &DownloadArgs, remote: &mut Remote<'_>) -> Outcome {
    let end = if args.defaults { "/defaults" } else { "" };
    let request = Request::get(format!("{}{end}", args.of.path()))
        .maybe("nodes", (!args.nodes.is_empty()).then(|| args.nodes.join(",")))
        .maybe("split", args.split.then_some(1));
    let facts = remote.send(&request)?;
    save(remote, &facts, args.file.as_ref(), "the facts")
}

fn upload(args: &UploadArgs, remote: &mut Remote<'_>) -> Outcome {
    let text = read_text(&args.file)?;
    let facts: Json = remote.upload(Request::new(Method::Put, args.of.path()), &text)?;
    if remote.format() != Format::Table {
        return remote.data(&facts);
    }
    remote
        .note("these facts are used from now on; `stoker facts delete` goes back to those that are computed");
    Ok(())
}
