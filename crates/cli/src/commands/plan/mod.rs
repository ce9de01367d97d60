//! `stoker plan`: what will run, where, in which order, and why.

mod cluster;
mod durations;
mod graph;
mod json;
mod offline;
mod online;
mod picture;
mod problems;
mod summary;
mod text;

use clap::{Subcommand, ValueEnum};

pub(crate) use self::online::{Looks, Wish, make, tell};
use crate::exit::Outcome;
use crate::printer::Printer;
use crate::remote::{self, Options, Remote, SharedConnection};
use picture::PictureArgs;

/// Compute a plan without running anything
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    after_help = AFTER_HELP,
)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Option<Verb>,

    #[command(flatten)]
    make: MakeArgs,

    #[command(flatten)]
    connection: SharedConnection,
}

const AFTER_HELP: &str = "\
With `--env` the server makes the plan and keeps it: `stoker apply` runs it as it is, if nothing it was made from has
changed since. With `--offline` it is made from files, and no server is asked.

`--nodes` is a folder with a document for each node, YAML or JSON; files without a top-level `uid`
are left alone. What all documents have in common is the state of the cluster. `--tags` maps uids to
lists of tags, as in `{\"1\": [\"primary-controller\"], \"2\": [\"compute\"]}`. `--old` is a folder like
`--nodes`: the state with which every task last succeeded; without it this is a first run.

With `--output json`, standard output holds {\"instances\": [{\"task\", \"node\", \"action\", \"reason\"}],
\"edges\": [[before, after]], \"fault_tolerance_groups\": […], \"warnings\": […]} and nothing else; of a plan
that a server made it is what the server tells of it. The exit code is 1 when there is no plan, so
that a graph can be checked in a pipeline.

With `--output dot`, `svg` or `mermaid` it is a picture: of the task instances and their order, or
with `--graph tasks` of the tasks as they are written. `--only-task`, `--only-node`, `--parents-of`
and `--runs-only` choose what is drawn; `--only-tasks` and `--only-nodes` choose what is planned.

`--durations` is a file with milliseconds, {\"TASK\": 1200} or {\"TASK\": {\"UID\": 1200}}. The text
then ends with how long the plan will take and with the chain of tasks that takes longest. A task
that is not in it is taken to last as long as it does on other nodes, else as tasks of its type do,
else half a minute.

Examples:
  stoker plan --env 1
  stoker plan --env 1 --type upgrade --only-nodes 1,2 --by-node
  stoker plan show 5 --all
  stoker plan compare 5 6
  stoker plan --offline --tasks graph.yaml --nodes nodes/ --tags tags.yaml
  stoker plan --offline --tasks a.yaml b.yaml --nodes new/ --old old/ --tags tags.yaml -o json
  stoker plan --offline --tasks graph.yaml --nodes nodes/ --tags tags.yaml -o svg > plan.svg";

/// What a plan is wanted for, and how it is shown.
#[derive(Debug, clap::Args)]
struct MakeArgs {
    /// For this cluster, on the server
    #[arg(
        long,
        short,
        value_name = "ID",
        visible_alias = "env-id",
        conflicts_with = "offline",
        required_unless_present = "offline"
    )]
    env: Option<i64>,

    /// Plan from files, without a server
    #[arg(long, requires_all = ["tasks", "nodes", "tags"])]
    offline: bool,

    #[command(flatten)]
    wish: Wish,

    /// Tell about what is skipped, too
    #[arg(long, conflicts_with = "output")]
    all: bool,

    /// Tell node by node
    #[arg(long, conflicts_with_all = ["output", "offline"])]
    by_node: bool,

    /// Format of the plan: text (the default), json, yaml, dot, svg or mermaid
    #[arg(long, short, value_name = "FORMAT", hide_possible_values = true)]
    output: Option<Format>,

    #[command(flatten)]
    picture: PictureArgs,

    #[command(flatten)]
    files: offline::Files,
}

#[derive(Debug, Subcommand)]
enum Verb {
    // sorted
    Compare(online::CompareArgs),
    Delete(online::DeleteArgs),
    List(online::ListArgs),
    Make(online::MakeArgs),
    Show(online::ShowArgs),
    // end sorted
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    #[value(alias = "table")]
    Text,
    Json,
    Yaml,
    Dot,
    Svg,
    Mermaid,
}

impl Format {
    /// The format of an answer that is no picture.
    fn of_answer(self) -> remote::Format {
        match self {
            Self::Json => remote::Format::Json,
            Self::Yaml => remote::Format::Yaml,
            _ => remote::Format::Table,
        }
    }
}

pub(crate) fn run(args: &Args, earlier: &Options, printer: &mut Printer) -> Outcome {
    let Some(verb) = &args.verb else {
        return match args.make.env {
            None => offline::run(&args.make, printer),
            Some(env) => {
                let output = args.make.output.map(Format::of_answer);
                let mut remote = Remote::connect(&args.connection.over(earlier, output), printer)?;
                online::make_and_show(&args.make, env, &mut remote)
            }
        };
    };
    let mut remote = Remote::connect(&args.connection.over(earlier, verb.output()), printer)?;
    match verb {
        Verb::Compare(args) => online::compare(args, &mut remote),
        Verb::Delete(args) => online::delete(args, &mut remote),
        Verb::List(args) => online::list(args, &mut remote),
        Verb::Make(args) => online::run_make(args, &mut remote),
        Verb::Show(args) => online::show(args, &mut remote),
    }
}

impl Verb {
    fn output(&self) -> Option<remote::Format> {
        match self {
            Self::Compare(args) => args.output,
            Self::Delete(_) => None,
            Self::List(args) => args.output,
            Self::Make(args) => args.output,
            Self::Show(args) => args.output,
        }
    }
}
