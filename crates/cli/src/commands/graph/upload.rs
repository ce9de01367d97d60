use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Value as Json, json};
use stoker_api_types::graphs::GraphView;
use stoker_client::{Body, ClientError, Method, Reason, RestRequest};

use super::gather;
use super::local::File;
use super::owner::{DEFAULT_TYPE, OwnerArgs};
use super::summary::{Reported, summarize};
use crate::exit::Outcome;
use crate::input::{Text, read_text};
use crate::remote::{Remote, confirm, diagnostic, typed};
use crate::text::counted;

/// Create a graph or replace its tasks
#[derive(Debug, clap::Args)]
#[command(
    group = clap::ArgGroup::new("source").required(true).args(["file", "dir"]),
    after_help = "\
The file is YAML or JSON: a list of tasks, or a map with `tasks`, `name`, `node_filter`, `on_definition_change`,
`on_success`, `on_error` and `on_stop`. All problems are reported together with their lines, and an invalid graph is not
stored. Asks for confirmation if `--type` is omitted, because the graph `default` is the one that deployments run.

With `--dir`, all files named `tasks.yaml` below a directory are read in the order of their paths and form one graph; YAML
anchors are local to their file.

Examples:
  stoker graph upload --env 1 --type upgrade --file tasks.yaml
  stoker graph upload --release 2 --type default --file tasks.yaml
  stoker graph upload --plugin 3 --file - --yes < tasks.yaml
  stoker graph upload --release 2 --type default --dir deployment/puppet")]
pub(super) struct Args {
    #[command(flatten)]
    owner: OwnerArgs,

    /// Graph type [default: default]
    #[arg(long = "type", short = 't', value_name = "TYPE", value_parser = crate::input::graph_type)]
    graph_type: Option<String>,

    /// Graph file; `-` for standard input
    #[arg(long, short, value_name = "FILE")]
    file: Option<PathBuf>,

    /// Directory to search recursively for `tasks.yaml` files
    #[arg(long, short, value_name = "DIR")]
    dir: Option<PathBuf>,

    /// Skip the confirmation prompt
    #[arg(long, short)]
    yes: bool,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let owner = args.owner.owner()?;
    let graph_type = args.graph_type.as_deref().unwrap_or(DEFAULT_TYPE);
    let question = format!("Replace the `{DEFAULT_TYPE}` graph of {owner}?");
    let path = owner.graph_path(graph_type);
    let graph = if let Some(dir) = &args.dir {
        let tasks = gather::tasks(dir, remote.printer)?;
        confirm(&question, args.yes || args.graph_type.is_some())?;
        let body = json!({ "tasks": tasks });
        store(|method| remote.try_send(&RestRequest::new(method, &path).body(Body::Json(&body)))?.json())
            .map_err(|error| crate::remote::failure(error, None))?
    } else {
        let text = read_text(args.file.as_deref().unwrap_or(std::path::Path::new("-")))?;
        // Check locally first to print warnings with source locations; the server checks again.
        File::read(text.clone(), remote.printer)?;
        confirm(&question, args.yes || args.graph_type.is_some())?;
        let request = |method| RestRequest::new(method, &path).query("file", &text.origin);
        let graph = store(|method| remote.try_upload(request(method), &text))
            .map_err(|error| crate::remote::failure(error, Some(&text)))?;
        print_warnings(&typed::<GraphWarnings>(&graph)?.warnings, &text, remote);
        graph
    };
    let n_tasks = typed::<GraphView>(&graph)?.tasks.len();
    let n_tasks = counted(n_tasks, "task");
    remote.report_change(&format!("stored {n_tasks} of type `{graph_type}` for {owner} in graph"), &graph)
}

/// Warnings in the response to an upload, as the client reads the reasons of errors.
#[derive(Deserialize)]
struct GraphWarnings {
    #[serde(default)]
    warnings: Vec<Reason>,
}

/// Prints warnings of the server. Warnings about the file itself were printed by the local check.
fn print_warnings(warnings: &[Reason], text: &Text, remote: &mut Remote<'_>) {
    let fresh =
        warnings.iter().filter(|reason| !reason.code.as_deref().unwrap_or_default().starts_with("manifest-"));
    let reported = |reason: &Reason| Reported {
        diagnostic: diagnostic(reason, Some(text)),
        summary: reason.message.clone(),
        task: reason.task.clone(),
    };
    let reported = fresh.map(reported).collect();
    for diagnostic in summarize(reported, remote.is_verbose()) {
        remote.printer.diagnostic(&diagnostic);
    }
}

/// Replaces the graph, or creates it if it does not exist. Both requests validate the body first.
fn store(mut send: impl FnMut(Method) -> Result<Json, ClientError>) -> Result<Json, ClientError> {
    match send(Method::Put) {
        // If the owner is missing, the second request reports it.
        Err(ClientError::Rejected(refusal)) if refusal.status == 404 => send(Method::Post),
        result => result,
    }
}
