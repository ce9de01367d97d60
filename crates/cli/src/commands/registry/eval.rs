//! `stoker registry eval --jsonl`: JSON Lines protocol for test cases.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;

use stoker_model::Json;
use stoker_registry::cases::evaluate_case;

use crate::exit::{Failure, Outcome};
use crate::input::{Line, Lines, catch_panic};
use crate::printer::Printer;

/// Evaluate test cases for component compatibility, wizards and stage order
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Each input line is a case with `kind` and `id`; each output line is {\"id\", \"result\"} or {\"id\", \"error\"}. An invalid
line produces an error and does not end the command.

  decision         {components, plugins: [{name, version?, releases?, provides?, components?}], selection,
                   required_types?, release?}: {compatible, conflicts}
  wizard_mix       {release_wizard, plugin_wizards: [{plugin, version?, wizard}]}: the wizard, or
                   a list of {path, kind, plugin} as error
  stage_order      {plugins: [{name, package_version?, tasks: [{stage}]}]}: [[plugin, index], …], or
                   a list of {plugin, task, code} as error
  restriction_gen  {wizard, components, plugins}: added restrictions, by `Pane.control` or `Pane.control[data]`

Examples:
  stoker registry eval --jsonl < cases.jsonl
  stoker registry eval --jsonl cases.jsonl")]
pub(super) struct Args {
    /// Read one JSON test case per line (required)
    #[arg(long, required = true)]
    jsonl: bool,

    /// File with test cases [default: standard input]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
}

/// Maximum size of a case; the values of longer cases take a multiple of that in memory.
const LINE_BYTES_MAX: usize = 16 << 20;

pub(super) fn run(args: &Args, printer: &mut Printer) -> Outcome {
    match args.file.as_ref().filter(|path| path.as_os_str() != "-") {
        None => evaluate_all(io::stdin().lock(), "standard input", printer),
        Some(path) => {
            let origin = format!("`{}`", path.display());
            let file =
                File::open(path).map_err(|error| Failure::input(format!("cannot read {origin}: {error}")))?;
            evaluate_all(BufReader::new(file), &origin, printer)
        }
    }
}

fn evaluate_all(source: impl BufRead, origin: &str, printer: &mut Printer) -> Outcome {
    let mut lines = Lines::new(source, origin, LINE_BYTES_MAX);
    while let Some(line) = lines.next()? {
        let answer = match &line {
            Line::Bytes(bytes) => match std::str::from_utf8(bytes).map(str::trim) {
                Ok("") => continue,
                Ok(text) => evaluate(text),
                Err(_) => error_response("invalid UTF-8"),
            },
            Line::TooLong => error_response(&format!("line exceeds {LINE_BYTES_MAX} bytes")),
        };
        printer.data(&answer.to_string())?;
    }
    Ok(())
}

fn evaluate(text: &str) -> Json {
    match text.parse::<Json>() {
        Ok(case) => catch_panic(|| evaluate_case(&case))
            .unwrap_or_else(|| error_response("internal error: this case triggered a bug in stoker")),
        Err(error) => error_response(&format!("invalid JSON: {error}")),
    }
}

/// Returns the error response to a line without an ID.
fn error_response(error: &str) -> Json {
    [("id".to_owned(), Json::Null), ("error".to_owned(), Json::from(error))].into_iter().collect()
}
