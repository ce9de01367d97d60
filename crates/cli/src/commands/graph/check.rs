use std::path::PathBuf;

use serde_json::Value as Json;
use stoker_client::{Request, segment};
use stoker_graph::{CheckOptions, Finding, Layer, MergeRules, Scope, Source, merge};

use super::local::File;
use super::owner::{DEFAULT_TYPE, LayerArgs, Owner, Place};
use crate::diagnostic::{Diagnostic, Severity};
use crate::exit::{Exit, Failure, Outcome};
use crate::input::read_text;
use crate::remote::{Format, Remote, cell};
use crate::text::counted;

/// Tell everything that is wrong with a graph, or probably wrong
#[derive(Debug, clap::Args)]
#[command(after_help = "\
With `--env` the merged graph of the cluster is looked at; with `--release` or `--plugin` one layer, of which it is not
known what will be beside it; with `--file` a file, without a server. The exit code is 1 if there is an error,
3 if the file cannot be understood. Warnings alone are no failure.

Examples:
  stoker graph check --env 1
  stoker graph check --release 2 --type upgrade
  stoker graph check --file tasks.yaml")]
pub(super) struct Args {
    #[command(flatten)]
    layers: LayerArgs,

    /// Type of the graph
    #[arg(long = "type", short = 't', value_name = "TYPE", value_parser = crate::input::graph_type, default_value = DEFAULT_TYPE)]
    graph_type: String,

    /// A file to look at; `-` is standard input
    #[arg(long, short, value_name = "FILE", conflicts_with_all = ["env", "release", "plugin"])]
    file: Option<PathBuf>,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    if let Some(path) = &args.file {
        return check_file(&File::read(read_text(path)?, remote.printer)?, remote);
    }
    let request = match args.layers.required()? {
        Place::Layers { cluster, layers } if layers == ["cluster"] => {
            Request::get(format!("{}/check", Owner::Cluster(cluster).graph_path(&args.graph_type)))
        }
        Place::Layers { layers, .. } if !layers.is_empty() => {
            let help = "leave the layers out, or look at one with `--release ID` or `--plugin ID`";
            return Err(Failure::usage("a merged graph is looked at with all its layers", help));
        }
        Place::Layers { cluster, .. } => Request::get(format!("clusters/{cluster}/deployment_tasks/check"))
            .query("graph_type", segment(&args.graph_type)),
        Place::Owner(owner) => Request::get(format!("{}/check", owner.graph_path(&args.graph_type))),
    };
    let findings = remote.get_list(&request)?;
    if remote.format() != Format::Table {
        remote.data(&Json::Array(findings.clone()))?;
    }
    let is_shown = remote.format() == Format::Table;
    let diagnostics: Vec<Diagnostic> = findings.iter().map(diagnostic).collect();
    conclude(&diagnostics, is_shown, remote)
}

fn conclude(diagnostics: &[Diagnostic], is_shown: bool, remote: &mut Remote<'_>) -> Outcome {
    let n_errors = diagnostics.iter().filter(|each| each.severity == Severity::Error).count();
    let n_warnings = diagnostics.len() - n_errors;
    if is_shown {
        for diagnostic in diagnostics {
            remote.printer.diagnostic(diagnostic);
        }
    }
    if n_errors > 0 {
        let (errors, warnings) = (counted(n_errors, "error"), counted(n_warnings, "warning"));
        let message = format!("the graph cannot run like this: {errors}, {warnings}");
        return Err(Failure::new(Exit::Failed, Diagnostic::error(message)));
    }
    match n_warnings {
        0 => remote.note("nothing is wrong with it"),
        _ => remote.note(&format!("it can run; {}", counted(n_warnings, "warning"))),
    }
    Ok(())
}

fn diagnostic(finding: &Json) -> Diagnostic {
    let word = |name: &str| finding[name].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let mut message = word("message").unwrap_or_default();
    if let Some(task) = word("task") {
        let field = word("path").map(|path| format!(", `{path}`")).unwrap_or_default();
        message = format!("task `{task}`{field}: {message}");
    }
    let is_error = finding["severity"] == "error";
    let severity = if is_error { Severity::Error } else { Severity::Warning };
    let mut shown = Diagnostic { severity, ..Diagnostic::error(message) }.help(word("help"));
    shown.code = word("code");
    if let Some(layer) = word("layer") {
        let plugin = word("plugin").map(|plugin| format!(": {}", cell(&plugin.into()))).unwrap_or_default();
        shown.notes.push(format!("set by the layer `{layer}`{plugin}"));
    }
    shown
}

fn check_file(file: &File, remote: &mut Remote<'_>) -> Outcome {
    let layers = [Layer::of_tasks(Source::Release, &file.tasks)];
    let merged = merge(&layers, MergeRules::default());
    let library = stoker_planner::library();
    let options = CheckOptions { library: Some(&*library), ..CheckOptions::new(Scope::Layer) };
    let findings = stoker_graph::check(&merged, &options);
    let diagnostics: Vec<Diagnostic> = findings.iter().map(|finding| in_file(finding, file)).collect();
    conclude(&diagnostics, true, remote)
}

fn in_file(finding: &Finding, file: &File) -> Diagnostic {
    let severity = match finding.severity {
        stoker_graph::Severity::Error => Severity::Error,
        stoker_graph::Severity::Warning => Severity::Warning,
    };
    let place = finding.task.as_ref().and_then(|task| file.place(task, &finding.path));
    let diagnostic = Diagnostic { severity, place, ..Diagnostic::error(&finding.message) };
    diagnostic.code(finding.code).help(finding.help.clone())
}
