//! `stoker task-types`: the reference of task types.

use crate::exit::Outcome;
use crate::printer::Printer;

/// Print a Markdown reference of all task types
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker task-types | less")]
pub(crate) struct Args {}

pub(crate) fn run(printer: &mut Printer) -> Outcome {
    printer.page(&stoker_tasks::reference::page())?;
    Ok(())
}
