//! `stoker yaql repl`: one expression after another.

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
use brackets::is_unfinished;
use state::{Next, State};

/// Try expressions one after another
///
/// With a terminal there is a history, completion with Tab, and lines go on while brackets are open. Without one,
/// expressions are read from standard input in the same way, without prompts.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
`$` is the data, `$_` the last result. Type `:help` for what else there is.

Examples:
  stoker yaql repl --data cluster.yaml
  echo '$.len()' | stoker yaql repl --data list.json

Exit codes:
  0  the end was reached
  1  without a terminal: some expression is wrong or failed
  2  wrong usage
  3  data or helper files could not be read or make no sense")]
pub(crate) struct Args {
    /// Document to read as `$`, JSON or YAML
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

/// Lines that nobody edits.
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
        if !at_end && is_unfinished(&text) {
            continue;
        }
        match state.enter(text.trim(), printer) {
            Ok(Next::Go) => {}
            Ok(Next::Quit) => break,
            Err(failure) if failure.exit == Exit::Unread || failure.exit == Exit::Output => {
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
