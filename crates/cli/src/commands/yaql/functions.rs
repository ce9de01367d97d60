//! `stoker yaql functions`: documentation of functions.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use anstyle::Style;
use clap::ValueEnum;
use stoker_diagnostics::Diagnostic;
use stoker_yaql::library::Function;
use stoker_yaql::stdlib::Legacy;
use stoker_yaql::value::Map;
use stoker_yaql::{Engine, Options, Value};

use crate::exit::{Exit, Failure, Outcome};
use crate::input::read_helpers;
use crate::output::{Format, to_text};
use crate::printer::Printer;
use stoker_yaql::presentation::{Entry, entries, find, suggest_title};
use stoker_yaql::presentation::{collapse_whitespace, first_sentence};

/// List functions, or describe one
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker yaql functions
  stoker yaql functions where
  stoker yaql functions '=~'
  stoker yaql functions --helpers helpers/ --output json

Exit codes:
  0  success
  1  the function does not exist
  2  invalid usage
  3  invalid or unreadable helper files")]
pub(crate) struct Args {
    /// Function, method, operator or property to describe
    #[arg(value_name = "NAME", allow_hyphen_values = true)]
    name: Option<String>,

    /// Helper file, or directory with helper files; includes their functions
    #[arg(long, value_name = "DIR")]
    helpers: Option<PathBuf>,

    /// Output format
    #[arg(long, short, value_name = "FORMAT", default_value = "table")]
    output: Listing,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Listing {
    Table,
    Json,
    Yaml,
}

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

pub(crate) fn run(args: &Args, printer: &mut Printer) -> Outcome {
    let mut functions = all_functions();
    if let Some(path) = &args.helpers {
        let engine = Engine::default();
        let n_standard = engine.library().functions().len();
        let helpers = read_helpers(path, engine.library())?;
        helpers.warnings.iter().for_each(|warning| printer.diagnostic(warning));
        functions.extend_from_slice(&helpers.library.functions()[n_standard..]);
    }
    let entries = entries(&functions);
    let selected: Vec<&Entry> = match &args.name {
        Some(name) => find(&entries, name),
        None => entries.iter().collect(),
    };
    if let (Some(name), true) = (&args.name, selected.is_empty()) {
        return Err(unknown_function(name, &entries));
    }
    let format = match args.output {
        Listing::Json => Format::Json,
        Listing::Yaml => Format::Yaml,
        Listing::Table if args.name.is_some() => return Ok(printer.page(&pages(&selected))?),
        Listing::Table => return Ok(printer.page(&table(&selected))?),
    };
    let value = Value::tuple(selected.iter().map(|entry| entry_value(entry)).collect());
    let text =
        to_text(&value, format, &Options::default()).map_err(|error| Failure::input(&*error.message))?;
    Ok(printer.data(&text)?)
}

/// Returns functions of all dialects: the standard library, then those added by delegates and legacy mode.
pub(super) fn all_functions() -> Vec<Arc<dyn Function>> {
    let standard = Engine::default();
    let n_standard = standard.library().functions().len();
    let mut functions = standard.library().functions().to_vec();
    for engine in [Engine::with_dialect(true, Legacy::Off), Engine::with_dialect(false, Legacy::Context)] {
        functions.extend_from_slice(&engine.library().functions()[n_standard..]);
    }
    functions
}

fn unknown_function(name: &str, entries: &[Entry]) -> Failure {
    let help = match suggest_title(entries, name) {
        Some(best) => format!("did you mean `{best}`?"),
        None => "run `stoker yaql functions` to list all functions".to_owned(),
    };
    let diagnostic = Diagnostic::plain(format!("unknown function `{name}`")).help(help);
    Failure::new(Exit::Failed, diagnostic)
}

/// Lists signatures and first sentences by family.
fn table(entries: &[&Entry]) -> String {
    let mut out = String::new();
    let mut family = "";
    for entry in entries {
        if entry.family != family {
            let blank = if family.is_empty() { "" } else { "\n" };
            _ = writeln!(out, "{blank}{BOLD}{}{BOLD:#}", entry.family);
            family = &entry.family;
        }
        for signature in &entry.signatures {
            _ = writeln!(out, "  {signature}");
        }
        _ = writeln!(out, "      {DIM}{}{DIM:#}", first_sentence(&entry.doc));
    }
    out
}

/// Renders the full documentation of functions.
pub(super) fn pages(entries: &[&Entry]) -> String {
    entries.iter().map(|entry| page(entry)).collect::<Vec<_>>().join("\n")
}

fn page(entry: &Entry) -> String {
    let mut out = format!("{BOLD}{}{BOLD:#} ({})\n\n", entry.title, entry.family);
    for signature in &entry.signatures {
        _ = writeln!(out, "  {signature}");
    }
    _ = write!(out, "\n{}\n", collapse_whitespace(&entry.doc));
    if entry.is_impure {
        out.push_str("\nThe result depends on the clock or on random numbers.\n");
    }
    if !entry.examples.is_empty() {
        out.push_str("\nExamples:\n");
    }
    for (expression, result) in &entry.examples {
        _ = write!(out, "  {expression}\n      {DIM}→{DIM:#} {result}\n");
    }
    out
}

fn entry_value(entry: &Entry) -> Value {
    let text = |text: &str| Value::str(text);
    let examples = entry.examples.iter().map(|(expression, result)| {
        Value::frozen_dict(Map::from_strings([("expression", text(expression)), ("result", text(result))]))
    });
    Value::frozen_dict(Map::from_strings([
        ("name", text(&entry.title)),
        ("family", text(&entry.family)),
        ("signatures", Value::tuple(entry.signatures.iter().map(|signature| text(signature)).collect())),
        ("doc", text(&collapse_whitespace(&entry.doc))),
        ("impure", Value::Bool(entry.is_impure)),
        ("examples", Value::tuple(examples.collect())),
    ]))
}
