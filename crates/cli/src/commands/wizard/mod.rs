//! `stoker wizard`: a cluster by questions and answers.

mod ask;

use clap::Subcommand;
use serde_json::{Value as Json, json};
use stoker_client::Method;

use crate::exit::{Failure, Outcome};
use crate::printer::Printer;
use crate::remote::{Format, Options, Remote, Shared, cell, confirm, grid};
use crate::terminal;

/// The wizard of a release: make a cluster by answering questions
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
    Run(RunArgs),
    Show(ShowArgs),
    // end sorted
}

/// Ask what the cluster is to be, and make it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Every question has a default, which an empty answer takes. What cannot be chosen any more is not offered, and it is
told why. Without a terminal answers are lines of standard input. `--answer` answers beforehand, and with `--defaults`
nothing else is asked.

Examples:
  stoker wizard run --release 1
  stoker wizard run --release 1 --name shop --answer Network.manager=gridnet
  stoker wizard run --release 1 --name shop --defaults --yes")]
struct RunArgs {
    /// The release
    #[arg(long, short, value_name = "ID")]
    release: i64,

    /// What the cluster is called; asked for if not given
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// An answer; can be given several times
    #[arg(long = "answer", short, value_name = "PANE.CONTROL=VALUE")]
    answers: Vec<String>,

    /// Ask nothing that has a default
    #[arg(long)]
    defaults: bool,

    /// Make the cluster without asking once more
    #[arg(long, short)]
    yes: bool,
}

/// Show the questions of the wizard, those of plugins among them
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker wizard show --release 1
  stoker wizard show --release 1 --output yaml")]
struct ShowArgs {
    /// The release
    #[arg(long, short, value_name = "ID")]
    release: i64,
}

pub(crate) fn run(args: &Args, earlier: &Options, printer: &mut Printer) -> Outcome {
    let mut remote = Remote::connect(&args.options.over(earlier), printer)?;
    match &args.verb {
        Verb::Run(args) => make(args, &mut remote),
        Verb::Show(args) => show(args, &mut remote),
    }
}

fn show(args: &ShowArgs, remote: &mut Remote<'_>) -> Outcome {
    let wizard = remote.get(format!("releases/{}/wizard", args.release))?;
    if remote.format() != Format::Table {
        return remote.data(&wizard);
    }
    let evaluation = evaluate(remote, args.release, &json!({}))?;
    let row = |state: &Json| {
        let control = ask::Control::new(&wizard, state);
        let options: Vec<String> = control.options().iter().map(|option| option.label.clone()).collect();
        vec![control.path(), control.label.clone(), cell(&state["value"]), options.join(", ")]
    };
    let rows: Vec<Vec<String>> = evaluation["controls"].as_array().into_iter().flatten().map(row).collect();
    let header = ["control", "question", "default", "options"];
    Ok(remote.printer.page(&grid(&header, rows.into_iter()))?)
}

fn make(args: &RunArgs, remote: &mut Remote<'_>) -> Outcome {
    let mut answers = json!({});
    for text in &args.answers {
        let (pane, control, value) = ask::answer(text)?;
        answers[pane][control] = value;
    }
    let wizard = remote.get(format!("releases/{}/wizard", args.release))?;
    if !args.defaults {
        ask_all(args.release, &wizard, &mut answers, remote)?;
    }
    let evaluation = evaluate(remote, args.release, &answers)?;
    refuse_problems(&evaluation)?;
    let name = match &args.name {
        Some(name) => name.clone(),
        None => terminal::question("What is the cluster called?")?,
    };
    let components = cell(&evaluation["components"]);
    if !components.is_empty() {
        remote.note(&format!("components: {components}"));
    }
    let plugins = cell(&evaluation["plugins"]);
    if !plugins.is_empty() {
        remote.note(&format!("plugins: {plugins}"));
    }
    confirm(&format!("Make the cluster `{name}`?"), args.yes)?;
    let body = json!({"name": name, "release_id": args.release, "wizard": answers});
    let cluster = remote.send_json(Method::Post, "clusters", &body)?;
    remote.made("made cluster", &cluster)
}

/// Asks control after control; what can be chosen is looked at anew after every answer.
fn ask_all(release: i64, wizard: &Json, answers: &mut Json, remote: &mut Remote<'_>) -> Outcome {
    let mut asked: Vec<String> = Vec::new();
    let mut pane = String::new();
    loop {
        let evaluation = evaluate(remote, release, answers)?;
        let controls = evaluation["controls"].as_array().cloned().unwrap_or_default();
        let next = controls.iter().map(|state| ask::Control::new(wizard, state)).find(|control| {
            let is_given = !answers[control.pane.as_str()][control.name.as_str()].is_null();
            !asked.contains(&control.path()) && !is_given
        });
        let Some(control) = next else { return Ok(()) };
        asked.push(control.path());
        if control.is_hidden {
            continue;
        }
        if control.pane != pane {
            control.pane.clone_into(&mut pane);
            remote.printer.note(&format!("\n{}", control.heading));
        }
        if control.is_disabled {
            remote.printer.note(&format!("  {}: {}", control.label, control.why()));
            continue;
        }
        if let Some(value) = control.ask(remote.printer)? {
            answers[control.pane.as_str()][control.name.as_str()] = value;
        }
    }
}

fn evaluate(remote: &mut Remote<'_>, release: i64, answers: &Json) -> Outcome<Json> {
    let body = json!({ "answers": answers });
    remote.send_json(Method::Post, format!("releases/{release}/wizard/evaluate"), &body)
}

/// All of what is wrong with the answers, before anything is asked for the last time.
fn refuse_problems(evaluation: &Json) -> Outcome {
    let mut messages: Vec<String> = Vec::new();
    for problem in evaluation["problems"].as_array().into_iter().flatten() {
        messages.push(format!("{}: {}", cell(&problem["path"]), cell(&problem["message"])));
    }
    for conflict in evaluation["conflicts"].as_array().into_iter().flatten() {
        messages.push(cell(&conflict["message"]));
    }
    if messages.is_empty() {
        return Ok(());
    }
    let failures: Vec<Failure> = messages.into_iter().map(Failure::failed).collect();
    let exit = crate::exit::Exit::Failed;
    Err(Failure { exit, diagnostics: failures.into_iter().flat_map(|failure| failure.diagnostics).collect() })
}
