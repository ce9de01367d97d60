//! `stoker openapi`: the REST API as a document.

use crate::exit::Outcome;
use crate::printer::Printer;
use crate::programs::Programs;

/// Print the REST API as an OpenAPI 3.1 document
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A running server has the same document at /api/v1/openapi.json, and a page for people at /api/v1/docs.

Examples:
  stoker openapi > stoker.json")]
pub(crate) struct Args {}

pub(crate) fn run(programs: &Programs, printer: &mut Printer) -> Outcome {
    printer.data(&(programs.openapi)())?;
    Ok(())
}
