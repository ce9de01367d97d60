use std::path::PathBuf;

use serde_json::Value as Json;
use stoker_client::{Request, segment};
use stoker_graph::{CheckOptions, Finding, Layer, MergeRules, Scope, Source, merge};

use super::local::File;
use super::owner::{DEFAULT_TYPE, LayerArgs, Owner, Place};
use super::told::{self, Told};
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
3 if the file cannot be understood. Warnings alone are no failure. A warning that many tasks have is told once, with
their number and the first of them; `-v` tells each.

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
    let told: Vec<Told> = findings.iter().map(told).collect();
    conclude(told, is_shown, remote)
}

fn conclude(told: Vec<Told>, is_shown: bool, remote: &mut Remote<'_>) -> Outcome {
    let n_errors = told.iter().filter(|each| each.alone.severity == Severity::Error).count();
    let n_warnings = told.len() - n_errors;
    if is_shown {
        for diagnostic in told::in_short(told, remote.is_verbose()) {
            remote.printer.diagnostic(&diagnostic);
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

fn told(finding: &Json) -> Told {
    let word = |name: &str| finding[name].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let what = word("message").unwrap_or_default();
    let mut message = what.clone();
    let task = word("task");
    if let Some(task) = &task {
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
    Told { alone: shown, what, task }
}

fn check_file(file: &File, remote: &mut Remote<'_>) -> Outcome {
    let layers = [Layer::of_tasks(Source::Release, &file.tasks)];
    let merged = merge(&layers, MergeRules::default());
    let library = stoker_planner::library();
    let options = CheckOptions { library: Some(&*library), ..CheckOptions::new(Scope::Layer) };
    let findings = stoker_graph::check(&merged, &options);
    // Words without quotes were told when the file was read, with their very places.
    let fresh = findings.iter().filter(|finding| finding.code != stoker_graph::codes::BARE_WORD);
    conclude(fresh.map(|finding| in_file(finding, file)).collect(), true, remote)
}

fn in_file(finding: &Finding, file: &File) -> Told {
    let severity = match finding.severity {
        stoker_graph::Severity::Error => Severity::Error,
        stoker_graph::Severity::Warning => Severity::Warning,
    };
    let place = finding.task.as_ref().and_then(|task| file.place(task, &finding.path));
    let diagnostic = Diagnostic { severity, place, ..Diagnostic::error(&finding.message) };
    let alone = diagnostic.code(finding.code).help(finding.help.clone());
    Told { alone, what: finding.message.clone(), task: finding.task.as_ref().map(ToString::to_string) }
}
