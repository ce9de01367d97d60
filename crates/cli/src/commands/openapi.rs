//! `stoker openapi`: the OpenAPI document of the REST API.

use crate::exit::Outcome;
use crate::printer::Printer;
use crate::programs::Programs;

/// Print the OpenAPI 3.1 document of the REST API
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A running server serves the same document at /api/v1/openapi.json, and a documentation page at /api/v1/docs.

Examples:
  stoker openapi > stoker.json")]
pub(crate) struct Args {}

pub(crate) fn run(programs: &Programs, printer: &mut Printer) -> Outcome {
    printer.data(&(programs.openapi)())?;
    Ok(())
}
