//! `stoker yaql repl`: evaluates expressions interactively.

mod brackets;
mod command;
mod complete;
mod editor;
mod state;

use std::io::{self, BufRead as _, IsTerminal as _};
use std::path::PathBuf;

use super::session::{self, Session};
use crate::exit::{Exit, Failure, Outcome};
use crate::printer::Printer;
use brackets::is_incomplete;
use state::{Next, State};

/// Evaluate expressions interactively
#[derive(Debug, clap::Args)]
#[command(after_help = "\
On a terminal, supports history, completion with Tab, and expressions over several lines while brackets are open.
Otherwise, reads expressions from standard input without prompts.

`$` is the loaded document, `$_` the previous result. Enter `:help` for a list of commands.

Examples:
  stoker yaql repl --data cluster.yaml
  echo '$.len()' | stoker yaql repl --data list.json

Exit codes:
  0  success
  1  without a terminal: an expression is invalid or its evaluation failed
  2  invalid usage
  3  invalid or unreadable data or helper files")]
pub(crate) struct Args {
    /// JSON or YAML document that expressions read as `$`
    #[arg(long, short, value_name = "FILE")]
    data: Option<PathBuf>,

    #[command(flatten)]
    session: session::Args,
}

pub(crate) fn run(args: &Args, printer: &mut Printer) -> Outcome {
    let session = Session::new(&args.session, printer)?;
    let mut state = State::new(session);
    if let Some(path) = &args.data {
        state.load(path, printer)?;
    }
    if io::stdin().is_terminal() { editor::run(&mut state, printer) } else { run_lines(&mut state, printer) }
}

/// Reads expressions from standard input without a terminal.
fn run_lines(state: &mut State, printer: &mut Printer) -> Outcome {
    let mut has_failed = false;
    let mut text = String::new();
    let mut lines = io::stdin().lock().lines();
    loop {
        let line = lines.next().transpose();
        let line = line.map_err(|error| Failure::input(format!("cannot read standard input: {error}")))?;
        let at_end = line.is_none();
        if let Some(line) = line {
            text.push_str(&line);
            text.push('\n');
        }
        if !at_end && is_incomplete(&text) {
            continue;
        }
        match state.enter(text.trim(), printer) {
            Ok(Next::Continue) => {}
            Ok(Next::Quit) => break,
            Err(failure) if failure.exit == Exit::BrokenPipe || failure.exit == Exit::Output => {
                return Err(failure);
            }
            Err(failure) => {
                failure.diagnostics.iter().for_each(|diagnostic| printer.diagnostic(diagnostic));
                has_failed = true;
            }
        }
        text.clear();
        if at_end {
            break;
        }
    }
    if has_failed { Err(Failure { exit: Exit::Failed, diagnostics: Vec::new() }) } else { Ok(()) }
}
