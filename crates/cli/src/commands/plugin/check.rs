//! `stoker plugin check`: reports all problems of plugins.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use stoker_diagnostics::Severity;
use stoker_model::Json;
use stoker_packages::CheckedFolder;

use crate::exit::{Exit, Failure, Outcome};
use crate::package;
use crate::printer::Printer;

/// Check plugins and report all errors and warnings
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Every file is checked against the rules of its package format version; every problem is reported with its file and line.
Warnings do not make a plugin invalid.

With `--output json`, standard output contains a list with {\"path\", \"sound\", \"problems\"} for each plugin; a problem
has file, path (keys and indexes), line, column, code, severity, message and help. An unreadable plugin has \"error\"
instead of \"problems\".

Exit codes:
  0  all plugins are valid
  1  at least one plugin is invalid
  2  invalid usage
  3  at least one plugin could not be read

Examples:
  stoker plugin check gridnet/
  stoker plugin check plugins/* gridnet-1.0.0.fp --output json")]
pub(super) struct Args {
    /// Plugin directories or archives
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,

    /// Output format: `text` or `json`
    #[arg(long, short, value_name = "FORMAT", hide_possible_values = true, default_value = "text")]
    output: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

pub(super) fn run(args: &Args, printer: &mut Printer) -> Outcome {
    let mut failure: Option<Failure> = None;
    let mut results = Vec::new();
    for path in &args.paths {
        let (checked, exit) = match package::open(path).and_then(|opened| opened.check()) {
            Ok(checked) if checked.result.package.is_some() => (Ok(checked), None),
            Ok(checked) => (Ok(checked), Some(Exit::Failed)),
            Err(error) => (Err(error), Some(Exit::Input)),
        };
        if let Some(exit) = exit {
            let worst = failure.get_or_insert(Failure { exit, diagnostics: Vec::new() });
            worst.exit = if exit == Exit::Input { exit } else { worst.exit };
        }
        match args.output {
            Format::Text => print_text(path, &checked, printer)?,
            Format::Json => results.push(to_json(path, &checked)),
        }
    }
    if args.output == Format::Json {
        printer.data(&format!("{:#}", Json::Array(results)))?;
    }
    failure.map_or(Ok(()), Err)
}

fn print_text(path: &Path, checked: &Outcome<CheckedFolder>, printer: &mut Printer) -> Outcome {
    let checked = match checked {
        Ok(checked) => checked,
        Err(failure) => {
            failure.diagnostics.iter().for_each(|diagnostic| printer.diagnostic(diagnostic));
            return Ok(());
        }
    };
    for diagnostic in package::diagnostics(path, checked) {
        printer.diagnostic(&diagnostic);
    }
    let count =
        |severity| checked.result.problems.iter().filter(|problem| problem.severity == severity).count();
    let (n_errors, n_warnings) = (count(Severity::Error), count(Severity::Warning));
    let warnings = match n_warnings {
        0 => String::new(),
        1 => ", 1 warning".to_owned(),
        n => format!(", {n} warnings"),
    };
    let path = path.display();
    let line = match &checked.result.package {
        Some(package) => {
            let plugin = &package.plugin;
            let (name, version, package_version) = (&plugin.name, &plugin.version, &plugin.package_version);
            format!("{path}: {name} {version} (package version {package_version}) is valid{warnings}")
        }
        None if n_errors == 1 => format!("{path}: 1 error{warnings}"),
        None => format!("{path}: {n_errors} errors{warnings}"),
    };
    Ok(printer.data(&line)?)
}

fn to_json(path: &Path, checked: &Outcome<CheckedFolder>) -> Json {
    let is_valid = checked.as_ref().is_ok_and(|checked| checked.result.package.is_some());
    let mut fields = vec![
        ("path".to_owned(), Json::from(path.display().to_string())),
        ("sound".to_owned(), Json::from(is_valid)),
    ];
    fields.push(match checked {
        Ok(checked) => {
            let problems = checked.result.problems.iter().map(package::problem_json);
            ("problems".to_owned(), problems.collect())
        }
        Err(failure) => {
            let message = failure.diagnostics.first().map_or("", |diagnostic| &diagnostic.message);
            ("error".to_owned(), Json::from(message))
        }
    });
    fields.into_iter().collect()
}
