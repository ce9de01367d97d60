//! `stoker plan`: which tasks run on which nodes, in which order, and why.

mod changes;
mod cluster;
mod diagram;
mod display;
mod durations;
mod graph;
mod json;
mod offline;
mod online;
mod summary;
mod text;

use clap::{Subcommand, ValueEnum};

pub(crate) use self::display::DisplayOptions;
use self::display::{DetailLevel, ExitOptions};
pub(crate) use self::online::{PlanOptions, Summary, create_plan};
use crate::exit::Outcome;
use crate::printer::Printer;
use crate::remote::{self, Options, Remote, SharedConnection};
use diagram::DiagramArgs;

/// Create a plan without running it
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
    plan: PlanArgs,

    #[command(flatten)]
    connection: SharedConnection,
}

const AFTER_HELP: &str = "\
With `--env`, the server creates and stores the plan; `stoker apply` runs exactly this plan, unless its inputs have
changed. With `--offline`, the plan is computed from files without a server.

`--nodes` is a directory with a YAML or JSON document for each node; files without a top-level `uid` are ignored. Values that
all documents have in common are the state of the cluster. `--tags` maps UIDs to lists of tags, such as
`{\"1\": [\"primary-controller\"], \"2\": [\"compute\"]}`. `--old` is a directory like `--nodes` with the state of the last
success of every task; without it, all tasks are planned as for a first run.

With `--output json`, standard output contains only {\"instances\": [{\"task\", \"node\", \"action\", \"reason\"}],
\"edges\": [[before, after]], \"fault_tolerance_groups\": […], \"warnings\": […]}; with `--env`, it contains the plan as
returned by the server. Exits with code 1 if planning fails, so that a pipeline can check a graph; with
`--detailed-exitcode`, every error has code 1, and code 2 means that there are changes.

With `--output dot`, `svg` or `mermaid`, the plan is drawn as a diagram of task instances and their order, or with `--graph
tasks` as a diagram of task definitions. `--only-task`, `--only-node`, `--parents-of` and `--runs-only` filter the
diagram; `--only-tasks` and `--only-nodes` filter the plan.

`--durations` is a file with task durations in milliseconds, {\"TASK\": 1200} or {\"TASK\": {\"UID\": 1200}}. The text output
then ends with the estimated duration of the plan and its critical path. Unknown durations are estimated from other
nodes, then from tasks of the same type; the default is 30 seconds.

Examples:
  stoker plan --env 1
  stoker plan --env 1 --show summary --detailed-exitcode
  stoker plan --env 1 --type upgrade --only-nodes 1,2 --by-node
  stoker plan show 5 --all
  stoker plan compare 5 6
  stoker plan --offline --tasks graph.yaml --nodes nodes/ --tags tags.yaml
  stoker plan --offline --tasks a.yaml b.yaml --nodes new/ --old old/ --tags tags.yaml -o json
  stoker plan --offline --tasks graph.yaml --nodes nodes/ --tags tags.yaml -o svg > plan.svg";

/// Options of `stoker plan` without a verb.
#[derive(Debug, clap::Args)]
struct PlanArgs {
    /// Cluster ID; the server creates and stores a plan for this cluster
    #[arg(
        long,
        short,
        value_name = "ID",
        visible_aliases = ["env-id", "cluster"],
        conflicts_with = "offline",
        required_unless_present = "offline"
    )]
    env: Option<i64>,

    /// Compute the plan from files, without a server
    #[arg(long, requires_all = ["tasks", "nodes", "tags"], conflicts_with = "refresh")]
    offline: bool,

    #[command(flatten)]
    options: PlanOptions,

    /// Level of detail: `all` includes skipped tasks, `changes` lists tasks that run, `summary` only counts them
    /// [default: changes]
    #[arg(long, value_name = "LEVEL", conflicts_with = "output", hide_possible_values = true)]
    show: Option<DetailLevel>,

    /// Include skipped tasks in the output, like `--show all`
    #[arg(long, conflicts_with_all = ["output", "show"])]
    all: bool,

    /// Group the output by node instead of by task, without differences of inputs
    #[arg(long, conflicts_with_all = ["output", "offline"])]
    by_node: bool,

    #[command(flatten)]
    exit: ExitOptions,

    /// Output format: `text`, `json`, `yaml`, `dot`, `svg` or `mermaid` [default: text]
    #[arg(long, short, value_name = "FORMAT", hide_possible_values = true)]
    output: Option<Format>,

    #[command(flatten)]
    diagram: DiagramArgs,

    #[command(flatten)]
    files: offline::Files,
}

impl PlanArgs {
    fn display(&self) -> DisplayOptions {
        DisplayOptions { show: self.show, all: self.all, by_node: self.by_node }
    }
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
    /// Returns the format of the response; diagrams have no table format of their own.
    fn response_format(self) -> remote::Format {
        match self {
            Self::Json => remote::Format::Json,
            Self::Yaml => remote::Format::Yaml,
            _ => remote::Format::Table,
        }
    }
}

pub(crate) fn run(args: &Args, earlier: &Options, printer: &mut Printer) -> Outcome {
    let Some(verb) = &args.verb else {
        return match args.plan.env {
            None => offline::run(&args.plan, printer),
            Some(env) => {
                let output = args.plan.output.map(Format::response_format);
                let mut remote = Remote::connect(&args.connection.merge(earlier, output), printer)?;
                online::create_and_print(&args.plan, env, &mut remote)
            }
        };
    };
    let mut remote = Remote::connect(&args.connection.merge(earlier, verb.output()), printer)?;
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
