//! `stoker sequence`: graph types that run one after another.

use std::path::PathBuf;

use clap::Subcommand;
use serde_json::{Value as Json, json};
use stoker_api_types::sequences::SequenceView;
use stoker_client::{Method, RestRequest};

use super::run::{RunOptions, report_started};
use crate::exit::{Failure, Outcome};
use crate::input::read_text;
use crate::printer::Printer;
use crate::remote::{Columns, Options, Remote, SharedOptions, set, typed};

/// Manage sequences: lists of graph types that run in order
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
    Create(CreateArgs),
    Delete(IdArgs),
    Execute(ExecuteArgs),
    List(ListArgs),
    Show(ShowArgs),
    Update(UpdateArgs),
    // end sorted
}

/// Create a sequence
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker sequence create --release 1 --name upgrade --graph pre-upgrade,upgrade,post-upgrade
  stoker sequence create --file sequence.yaml")]
struct CreateArgs {
    /// Release ID
    #[arg(long, short, value_name = "ID", required_unless_present = "file")]
    release: Option<i64>,

    /// Sequence name
    #[arg(long, value_name = "NAME", required_unless_present = "file")]
    name: Option<String>,

    /// Graph types in execution order; can be repeated or comma-separated
    #[arg(
        long = "graph",
        short = 't',
        value_name = "TYPE", value_parser = crate::input::graph_type,
        value_delimiter = ',',
        visible_alias = "graphs",
        required_unless_present = "file"
    )]
    graphs: Vec<String>,

    /// YAML or JSON document with `release`, `name` and `graphs`; `-` for standard input
    #[arg(long, short, value_name = "FILE", conflicts_with_all = ["release", "name", "graphs"])]
    file: Option<PathBuf>,
}

/// Update a sequence; omitted fields keep their values
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker sequence update 1 --name everything --graph provision,default")]
struct UpdateArgs {
    /// Sequence ID
    #[arg(value_name = "SEQUENCE")]
    sequence: i64,

    /// New name
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Graph types in execution order; can be repeated or comma-separated
    #[arg(long = "graph", short = 't', value_name = "TYPE", value_parser = crate::input::graph_type, value_delimiter = ',', visible_alias = "graphs")]
    graphs: Vec<String>,
}

/// Delete a sequence
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker sequence delete 1")]
struct IdArgs {
    /// Sequence ID
    #[arg(value_name = "SEQUENCE")]
    sequence: i64,
}

/// Show a sequence
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker sequence show 1 --output yaml")]
struct ShowArgs {
    /// Sequence ID
    #[arg(value_name = "SEQUENCE")]
    sequence: i64,
}

/// List sequences
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker sequence list
  stoker sequence list --env 1")]
struct ListArgs {
    /// Filter by release ID
    #[arg(long, short, value_name = "ID", conflicts_with = "env")]
    release: Option<i64>,

    /// Cluster ID; lists the sequences of its release
    #[arg(long, short, value_name = "ID", visible_aliases = ["env-id", "cluster"])]
    env: Option<i64>,
}

/// Run the graphs of a sequence on a cluster
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker sequence execute 1 --env 1 --follow
  stoker sequence execute 1 --env 1 --dry-run")]
struct ExecuteArgs {
    /// Sequence ID
    #[arg(value_name = "SEQUENCE")]
    sequence: i64,

    /// Cluster ID
    #[arg(long, short, value_name = "ID", visible_aliases = ["env-id", "cluster"])]
    env: i64,

    #[command(flatten)]
    run_options: RunOptions,
}

const COLUMNS: Columns<'static> =
    &[("id", "id"), ("name", "name"), ("release", "release_id"), ("graphs", "graph_types")];

pub(crate) fn run(args: &Args, earlier: &Options, printer: &mut Printer) -> Outcome {
    let mut remote = Remote::connect(&args.options.merge(earlier), printer)?;
    let remote = &mut remote;
    match &args.verb {
        Verb::Create(args) => create(args, remote),
        Verb::Delete(args) => {
            remote.delete(format!("sequences/{}", args.sequence))?;
            remote.note(&format!("deleted sequence {}", args.sequence));
            Ok(())
        }
        Verb::Execute(args) => {
            let body = args.run_options.apply_to(json!({"cluster": args.env}));
            let run =
                remote.send_json(Method::Post, format!("sequences/{}/execute", args.sequence), &body)?;
            report_started(remote, &run, args.run_options.follow)
        }
        Verb::List(args) => {
            let request = RestRequest::get("sequences")
                .query_opt("release", args.release)
                .query_opt("cluster", args.env);
            let sequences = remote.get_list(&request)?;
            let sequences =
                sequences.into_iter().map(|sequence| with_types(sequence, remote)).collect::<Outcome<_>>()?;
            remote.list(COLUMNS, sequences)
        }
        Verb::Show(args) => {
            let sequence = remote.get(format!("sequences/{}", args.sequence))?;
            let sequence = with_types(sequence, remote)?;
            remote.details(COLUMNS, &sequence)
        }
        Verb::Update(args) => update(args, remote),
    }
}

/// Adds the graph types as a list of names, for tables.
fn with_types(mut sequence: Json, remote: &Remote<'_>) -> Outcome<Json> {
    if remote.format() == crate::remote::Format::Table {
        let types: Vec<String> =
            typed::<SequenceView>(&sequence)?.graphs.into_iter().map(|graph| graph.graph_type).collect();
        set(&mut sequence, "graph_types", types);
    }
    Ok(sequence)
}

fn graphs(types: &[String]) -> Json {
    types.iter().map(|graph_type| json!({"type": graph_type})).collect()
}

fn create(args: &CreateArgs, remote: &mut Remote<'_>) -> Outcome {
    let sequence = if let Some(path) = &args.file {
        remote.upload(RestRequest::new(Method::Post, "sequences"), &read_text(path)?)?
    } else {
        let body = json!({"release": args.release, "name": args.name, "graphs": graphs(&args.graphs)});
        remote.send_json(Method::Post, "sequences", &body)?
    };
    remote.report_change("created sequence", &sequence)
}

fn update(args: &UpdateArgs, remote: &mut Remote<'_>) -> Outcome {
    let mut body = json!({});
    if let Some(name) = &args.name {
        set(&mut body, "name", name);
    }
    if !args.graphs.is_empty() {
        set(&mut body, "graphs", graphs(&args.graphs));
    }
    if body == json!({}) {
        return Err(Failure::usage("no fields to update", "pass `--name` or `--graph`"));
    }
    let sequence = remote.send_json(Method::Put, format!("sequences/{}", args.sequence), &body)?;
    remote.report_change("updated sequence", &sequence)
}
