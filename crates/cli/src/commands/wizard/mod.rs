//! `stoker wizard`: interactive cluster creation.

mod control;

use clap::Subcommand;
use serde_json::{Value as Json, json};
use stoker_api_types::wizard::{ControlView, EvaluationView, WizardView};
use stoker_client::Method;

use crate::exit::{Failure, Outcome};
use crate::printer::Printer;
use crate::remote::{Format, Options, Remote, SharedOptions, cell, confirm, grid, sanitize, typed};
use crate::terminal;

/// Create a cluster interactively, by answering the questions of a release
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
    Run(RunArgs),
    Show(ShowArgs),
    // end sorted
}

/// Run the wizard and create a cluster
#[derive(Debug, clap::Args)]
#[command(after_help = "\
An empty answer selects the default. Options that conflict with earlier answers are disabled, with the reason. Without a
terminal, answers are read from the lines of standard input.

Examples:
  stoker wizard run --release 1
  stoker wizard run --release 1 --name shop --answer Network.manager=gridnet
  stoker wizard run --release 1 --name shop --defaults --yes")]
struct RunArgs {
    /// Release ID
    #[arg(long, short, value_name = "ID")]
    release: i64,

    /// Cluster name [default: asked interactively]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Answer to a question, so that it is not asked; can be repeated
    #[arg(long = "answer", short, value_name = "PANE.CONTROL=VALUE")]
    answers: Vec<String>,

    /// Answer all questions without `--answer` with their defaults, instead of asking
    #[arg(long)]
    defaults: bool,

    /// Skip the confirmation prompt
    #[arg(long, short)]
    yes: bool,
}

/// Show the questions of the wizard, including those of plugins
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker wizard show --release 1
  stoker wizard show --release 1 --output yaml")]
struct ShowArgs {
    /// Release ID
    #[arg(long, short, value_name = "ID")]
    release: i64,
}

pub(crate) fn run(args: &Args, earlier: &Options, printer: &mut Printer) -> Outcome {
    let mut remote = Remote::connect(&args.options.merge(earlier), printer)?;
    match &args.verb {
        Verb::Run(args) => create_cluster(args, &mut remote),
        Verb::Show(args) => show(args, &mut remote),
    }
}

fn show(args: &ShowArgs, remote: &mut Remote<'_>) -> Outcome {
    let wizard = remote.get(format!("releases/{}/wizard", args.release))?;
    if remote.format() != Format::Table {
        return remote.data(&wizard);
    }
    let wizard: WizardView = typed(&wizard)?;
    let evaluation = evaluate(remote, args.release, &json!({}))?;
    let row = |state: &ControlView| {
        let control = control::Control::new(&wizard, state);
        let options: Vec<String> = control.options().iter().map(control::Choice::title).collect();
        vec![control.path(), control.heading.clone(), control.title(), cell(&state.value), options.join(", ")]
    };
    let controls = evaluation.controls.iter().filter(|state| !state.hidden);
    let rows: Vec<Vec<String>> = controls.map(row).collect();
    let header = ["control", "pane", "question", "default", "options"];
    Ok(remote.printer.page(&grid(&header, rows.into_iter()))?)
}

fn create_cluster(args: &RunArgs, remote: &mut Remote<'_>) -> Outcome {
    let mut answers = json!({});
    for text in &args.answers {
        let (pane, control, value) = control::parse_answer(text)?;
        answers[pane][control] = value;
    }
    let wizard: WizardView = remote.read(format!("releases/{}/wizard", args.release))?;
    if !args.defaults {
        ask_all(args.release, &wizard, &mut answers, remote)?;
    }
    let evaluation = evaluate(remote, args.release, &answers)?;
    reject_problems(&evaluation)?;
    let name = match &args.name {
        Some(name) => name.clone(),
        None => terminal::ask_line("Cluster name:")?,
    };
    let components = sanitize(&evaluation.components.join(", "));
    if !components.is_empty() {
        remote.note(&format!("components: {components}"));
    }
    let plugins = sanitize(&evaluation.plugins.join(", "));
    if !plugins.is_empty() {
        remote.note(&format!("plugins: {plugins}"));
    }
    confirm(&format!("Create cluster `{name}`?"), args.yes)?;
    let body = json!({"name": name, "release_id": args.release, "wizard": answers});
    let cluster = remote.send_json(Method::Post, "clusters", &body)?;
    remote.report_change("created cluster", &cluster)
}

/// Prompts for each control; evaluates the wizard after every answer, because it can change other controls.
fn ask_all(release: i64, wizard: &WizardView, answers: &mut Json, remote: &mut Remote<'_>) -> Outcome {
    let mut visited: Vec<String> = Vec::new();
    let mut pane = String::new();
    loop {
        let evaluation = evaluate(remote, release, answers)?;
        let next =
            evaluation.controls.iter().map(|state| control::Control::new(wizard, state)).find(|control| {
                let is_answered = !answers[control.pane.as_str()][control.name.as_str()].is_null();
                !visited.contains(&control.path()) && !is_answered
            });
        let Some(control) = next else { return Ok(()) };
        visited.push(control.path());
        if control.is_hidden {
            continue;
        }
        if control.pane != pane {
            control.pane.clone_into(&mut pane);
            remote.printer.note(&format!("\n{}", control.heading));
        }
        if control.is_disabled {
            remote.printer.note(&format!("  {}: {}", control.label, control.reason()));
            continue;
        }
        if let Some(value) = control.ask(remote.printer)? {
            answers[control.pane.as_str()][control.name.as_str()] = value;
        }
    }
}

fn evaluate(remote: &mut Remote<'_>, release: i64, answers: &Json) -> Outcome<EvaluationView> {
    let body = json!({ "answers": answers });
    typed(&remote.send_json(Method::Post, format!("releases/{release}/wizard/evaluate"), &body)?)
}

/// Reports all problems with the answers before the confirmation.
fn reject_problems(evaluation: &EvaluationView) -> Outcome {
    let mut messages: Vec<String> = Vec::new();
    for problem in &evaluation.problems {
        messages.push(format!("{}: {}", sanitize(&problem.path), sanitize(&problem.message)));
    }
    for conflict in &evaluation.conflicts {
        messages.push(sanitize(&conflict.message));
    }
    if messages.is_empty() {
        return Ok(());
    }
    let failures: Vec<Failure> = messages.into_iter().map(Failure::failed).collect();
    let exit = crate::exit::Exit::Failed;
    Err(Failure { exit, diagnostics: failures.into_iter().flat_map(|failure| failure.diagnostics).collect() })
}
