use std::path::PathBuf;

use serde_json::{Value as Json, json};
use stoker_client::{Body, ClientError, Method, Reason, Request};

use super::gather;
use super::local::File;
use super::owner::{DEFAULT_TYPE, OwnerArgs};
use super::told::{Told, in_short};
use crate::exit::Outcome;
use crate::input::{Text, read_text};
use crate::remote::{Remote, confirm, diagnostic};
use crate::text::counted;

/// Store a graph: make it, or replace its tasks
#[derive(Debug, clap::Args)]
#[command(
    group = clap::ArgGroup::new("source").required(true).args(["file", "dir"]),
    after_help = "\
The file is YAML or JSON: a list of tasks, or a map with `tasks`, `name`, `node_filter`, `on_success`, `on_error` and
`on_stop`. All its mistakes are told at once, with their lines, and then nothing is stored. Without `--type` it is
the graph that deployments run, so this is asked for first; `--yes` answers beforehand.

With `--dir` every file `tasks.yaml` below a folder is read, in the order of their paths, and all of them make up one
graph; anchors are known in their own file only.

Examples:
  stoker graph upload --env 1 --type upgrade --file tasks.yaml
  stoker graph upload --release 2 --type default --file tasks.yaml
  stoker graph upload --plugin 3 --file - --yes < tasks.yaml
  stoker graph upload --release 2 --type default --dir deployment/puppet")]
pub(super) struct Args {
    #[command(flatten)]
    owner: OwnerArgs,

    /// Type of the graph; `default` if not given
    #[arg(long = "type", short = 't', value_name = "TYPE", value_parser = crate::input::graph_type)]
    graph_type: Option<String>,

    /// The graph; `-` is standard input
    #[arg(long, short, value_name = "FILE")]
    file: Option<PathBuf>,

    /// A folder with files `tasks.yaml` in it, at any depth
    #[arg(long, short, value_name = "DIR")]
    dir: Option<PathBuf>,

    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let owner = args.owner.owner()?;
    let graph_type = args.graph_type.as_deref().unwrap_or(DEFAULT_TYPE);
    let question = format!("Replace the graph of {owner} of type `{DEFAULT_TYPE}`?");
    let path = owner.graph_path(graph_type);
    let graph = if let Some(dir) = &args.dir {
        let tasks = gather::tasks(dir, remote.printer)?;
        confirm(&question, args.yes || args.graph_type.is_some())?;
        let body = json!({ "tasks": tasks });
        stored(|method| remote.try_send(&Request::new(method, &path).body(Body::Json(&body)))?.json())
            .map_err(|error| crate::remote::failure(error, None))?
    } else {
        let text = read_text(args.file.as_deref().unwrap_or(std::path::Path::new("-")))?;
        // What is wrong with it is told here, with warnings as such; the server has the last word.
        File::read(text.clone(), remote.printer)?;
        confirm(&question, args.yes || args.graph_type.is_some())?;
        let request = |method| Request::new(method, &path).query("file", &text.origin);
        let graph = stored(|method| remote.try_upload(request(method), &text))
            .map_err(|error| crate::remote::failure(error, Some(&text)))?;
        warn(&graph, &text, remote);
        graph
    };
    let n_tasks = graph["tasks"].as_array().map_or(0, Vec::len);
    let n_tasks = counted(n_tasks, "task");
    remote.made(&format!("stored {n_tasks} of type `{graph_type}` for {owner} in graph"), &graph)
}

/// Tells what the server finds strange. What is strange about the file alone was told already, by the same rules.
fn warn(graph: &Json, text: &Text, remote: &mut Remote<'_>) {
    let warnings = graph["warnings"].as_array().into_iter().flatten();
    let reasons = warnings.filter_map(|warning| serde_json::from_value::<Reason>(warning.clone()).ok());
    let fresh = reasons.filter(|reason| !reason.code.as_deref().unwrap_or_default().starts_with("manifest-"));
    let told = |reason: Reason| Told {
        alone: diagnostic(&reason, Some(text)),
        what: reason.message.clone(),
        task: reason.task.clone(),
    };
    let told = fresh.map(told).collect();
    for diagnostic in in_short(told, remote.is_verbose()) {
        remote.printer.diagnostic(&diagnostic);
    }
}

/// Replaces the graph, or makes it where there is none. The body is judged first either way.
fn stored(mut send: impl FnMut(Method) -> Result<Json, ClientError>) -> Result<Json, ClientError> {
    match send(Method::Put) {
        // Of a missing owner the second request says so too.
        Err(ClientError::Refused(refusal)) if refusal.status == 404 => send(Method::Post),
        answer => answer,
    }
}
