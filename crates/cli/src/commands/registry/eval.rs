//! `stoker registry eval --jsonl`: cases in, answers out, a line each.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;

use stoker_model::Json;
use stoker_registry::cases::answer;

use crate::exit::{Failure, Outcome};
use crate::input::{Line, Lines, guarded};
use crate::printer::Printer;

/// Answer cases about components, wizards and stages
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Each line is a case with `kind` and `id`; each answer is a line {\"id\", \"result\"} or {\"id\", \"error\"}. A line that
is no case is answered with an error, and the next one is read.

  decision         {components, plugins: [{name, version?, releases?, provides?, components?}], selection,
                   required_types?, release?}: {compatible, conflicts}
  wizard_mix       {release_wizard, plugin_wizards: [{plugin, version?, wizard}]}: the wizard, or
                   a list of {path, kind, plugin} as error
  stage_order      {plugins: [{name, package_version?, tasks: [{stage}]}]}: [[plugin, index], …], or
                   a list of {plugin, task, code} as error
  restriction_gen  {wizard, components, plugins}: what is added, by `Pane.control` or `Pane.control[data]`

Examples:
  stoker registry eval --jsonl < cases.jsonl
  stoker registry eval --jsonl cases.jsonl")]
pub(super) struct Args {
    /// One case a line, JSON
    #[arg(long, required = true)]
    jsonl: bool,

    /// File of cases; standard input if not given
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
}

/// A case that is longer is refused: its values would take many times as much memory.
const LINE_BYTES_MAX: usize = 16 << 20;

pub(super) fn run(args: &Args, printer: &mut Printer) -> Outcome {
    match args.file.as_ref().filter(|path| path.as_os_str() != "-") {
        None => answer_all(io::stdin().lock(), "standard input", printer),
        Some(path) => {
            let shown = format!("`{}`", path.display());
            let file =
                File::open(path).map_err(|error| Failure::input(format!("cannot read {shown}: {error}")))?;
            answer_all(BufReader::new(file), &shown, printer)
        }
    }
}

fn answer_all(source: impl BufRead, origin: &str, printer: &mut Printer) -> Outcome {
    let mut lines = Lines::new(source, origin, LINE_BYTES_MAX);
    while let Some(line) = lines.next()? {
        let answer = match &line {
            Line::Bytes(bytes) => match std::str::from_utf8(bytes).map(str::trim) {
                Ok("") => continue,
                Ok(text) => answer_to(text),
                Err(_) => refusal("a case is UTF-8 text"),
            },
            Line::TooLong => refusal(&format!("a case has at most {LINE_BYTES_MAX} bytes")),
        };
        printer.data(&answer.to_string())?;
    }
    Ok(())
}

fn answer_to(text: &str) -> Json {
    match text.parse::<Json>() {
        Ok(case) => guarded(|| answer(&case)).unwrap_or_else(|| refusal("this case met a bug of stoker")),
        Err(error) => refusal(&format!("the line is no JSON: {error}")),
    }
}

/// An answer to what has no id.
fn refusal(error: &str) -> Json {
    [("id".to_owned(), Json::Null), ("error".to_owned(), Json::from(error))].into_iter().collect()
}
