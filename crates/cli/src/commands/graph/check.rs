use std::path::PathBuf;

use serde_json::Value as Json;
use stoker_api_types::graphs::FindingView;
use stoker_client::{RestRequest, encode_segment};
use stoker_diagnostics::{Diagnostic, Severity};
use stoker_graph::{GraphCheckOptions, Layer, MergeRules, Scope, Source, merge};

use super::local::File;
use super::owner::{DEFAULT_TYPE, GraphTarget, LayerArgs, Owner};
use super::summary::{self, Reported};
use crate::exit::{Exit, Failure, Outcome};
use crate::input::read_text;
use crate::remote::{Format, Remote, sanitize, typed};
use crate::text::counted;

/// Check a graph and report errors and warnings
#[derive(Debug, clap::Args)]
#[command(after_help = "\
With `--env`, checks the merged graph of a cluster; with `--release` or `--plugin`, a single layer, where references to
other layers cannot be resolved; with `--file`, a local file without a server. Exits with code 1 if there are errors and
3 if the file is invalid; warnings do not fail the command. Identical warnings for several tasks are grouped; `-v` prints
each of them.

Examples:
  stoker graph check --env 1
  stoker graph check --release 2 --type upgrade
  stoker graph check --file tasks.yaml")]
pub(super) struct Args {
    #[command(flatten)]
    layers: LayerArgs,

    /// Graph type
    #[arg(long = "type", short = 't', value_name = "TYPE", value_parser = crate::input::graph_type, default_value = DEFAULT_TYPE)]
    graph_type: String,

    /// Graph file; `-` for standard input
    #[arg(long, short, value_name = "FILE", conflicts_with_all = ["env", "release", "plugin"])]
    file: Option<PathBuf>,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    if let Some(path) = &args.file {
        return check_file(&File::read(read_text(path)?, remote.printer)?, remote);
    }
    let request = match args.layers.required()? {
        GraphTarget::Layers { cluster, layers } if layers == ["cluster"] => {
            RestRequest::get(format!("{}/check", Owner::Cluster(cluster).graph_path(&args.graph_type)))
        }
        GraphTarget::Layers { layers, .. } if !layers.is_empty() => {
            let help = "omit the layer options, or check one layer with `--release ID` or `--plugin ID`";
            return Err(Failure::usage("a merged graph can only be checked with all layers", help));
        }
        GraphTarget::Layers { cluster, .. } => {
            RestRequest::get(format!("clusters/{cluster}/deployment_tasks/check"))
                .query("graph_type", encode_segment(&args.graph_type))
        }
        GraphTarget::Owner(owner) => {
            RestRequest::get(format!("{}/check", owner.graph_path(&args.graph_type)))
        }
    };
    let findings = remote.get_list(&request)?;
    if remote.format() != Format::Table {
        remote.data(&Json::Array(findings.clone()))?;
    }
    let is_printed = remote.format() == Format::Table;
    let reported: Vec<Reported> =
        findings.iter().map(|finding| typed(finding).map(from_view)).collect::<Outcome<_>>()?;
    finish(reported, 0, is_printed, remote)
}

/// Prints the findings and their number; `n_before` warnings were printed before.
fn finish(reported: Vec<Reported>, n_before: usize, is_printed: bool, remote: &mut Remote<'_>) -> Outcome {
    let count = |severity| reported.iter().filter(|finding| finding.diagnostic.severity == severity).count();
    let (n_errors, n_warnings) = (count(Severity::Error), n_before + count(Severity::Warning));
    if is_printed {
        for diagnostic in summary::summarize(reported, remote.is_verbose()) {
            remote.printer.diagnostic(&diagnostic);
        }
    }
    if n_errors > 0 {
        let (errors, warnings) = (counted(n_errors, "error"), counted(n_warnings, "warning"));
        let message = format!("invalid graph: {errors}, {warnings}");
        return Err(Failure::new(Exit::Failed, Diagnostic::plain(message)));
    }
    match n_warnings {
        0 => remote.note("the graph is valid"),
        _ => remote.note(&format!("the graph is valid; {}", counted(n_warnings, "warning"))),
    }
    Ok(())
}

fn from_view(finding: FindingView) -> Reported {
    let FindingView { severity, code, task, path, message: summary, help, layer, plugin } = finding;
    let message = match &task {
        Some(task) if path.is_empty() => format!("task `{task}`: {summary}"),
        Some(task) => format!("task `{task}`, `{path}`: {summary}"),
        None => summary.clone(),
    };
    let severity = match severity.as_str() {
        "error" => Severity::Error,
        "note" => Severity::Note,
        _ => Severity::Warning,
    };
    let mut diagnostic = Diagnostic::error(code, message).severity(severity).help_if(help);
    if let Some(layer) = layer {
        let plugin = plugin.map(|plugin| format!(": {}", sanitize(&plugin))).unwrap_or_default();
        diagnostic = diagnostic.note(format!("set by layer `{layer}`{plugin}"));
    }
    Reported { diagnostic, summary, task }
}

fn check_file(file: &File, remote: &mut Remote<'_>) -> Outcome {
    // The file may override tasks of any lower layer.
    let layers = [Layer::of_tasks(Source::Cluster, &file.tasks)];
    let merged = merge(&layers, MergeRules::default());
    let library = stoker_planner::library();
    let options = GraphCheckOptions {
        library: Some(&*library),
        parameters: Some(stoker_tasks::check_written),
        ..GraphCheckOptions::new(Scope::Layer)
    };
    let findings = stoker_graph::check(&merged, &options);
    // `BARE_WORD` warnings were printed with exact locations when the file was parsed.
    let fresh = findings.into_iter().filter(|finding| finding.code != stoker_graph::codes::BARE_WORD);
    finish(fresh.map(|finding| in_file(finding, file)).collect(), file.n_warnings, true, remote)
}

/// Replaces task and path with an excerpt of the file. A problem of several tasks has no location.
fn in_file(mut finding: Diagnostic, file: &File) -> Reported {
    let location = std::mem::take(&mut finding.location);
    let span = location.task.as_ref().and_then(|task| file.locate(task, &location.path));
    let summary = finding.message.clone();
    let diagnostic = if span.is_some() { file.text.attach(finding.at(span)) } else { finding };
    Reported { diagnostic, summary, task: location.task }
}
