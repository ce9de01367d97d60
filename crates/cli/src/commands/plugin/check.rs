//! `stoker plugin check`: everything that is wrong with a plugin.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use stoker_manifest::Severity as Judgement;
use stoker_model::Json;
use stoker_packages::CheckedFolder;

use crate::exit::{Exit, Failure, Outcome};
use crate::package;
use crate::printer::Printer;

/// Tell everything that is wrong with plugins
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Every file is judged by the rules of the package version, every problem has its file and line. Warnings do not make
a plugin wrong.

With `--output json`, standard output holds a list with {\"path\", \"sound\", \"problems\"} for each plugin; a problem
has file, path (keys and indexes), line, column, code, severity, message, help. What cannot be read at all
has \"error\" in place of \"problems\".

Exit codes:
  0  all are sound
  1  something is wrong with at least one
  2  wrong usage
  3  at least one could not be read

Examples:
  stoker plugin check gridnet/
  stoker plugin check plugins/* gridnet-1.0.0.fp --output json")]
pub(super) struct Args {
    /// Folders of plugins, or archives
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,

    /// Format of the findings: text (the default) or json
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
    let mut answers = Vec::new();
    for path in &args.paths {
        let (found, exit) = match package::open(path).and_then(|opened| opened.check()) {
            Ok(found) if found.checked.package.is_some() => (Ok(found), None),
            Ok(found) => (Ok(found), Some(Exit::Failed)),
            Err(error) => (Err(error), Some(Exit::Input)),
        };
        if let Some(exit) = exit {
            let worst = failure.get_or_insert(Failure { exit, diagnostics: Vec::new() });
            worst.exit = if exit == Exit::Input { exit } else { worst.exit };
        }
        match args.output {
            Format::Text => tell(path, &found, printer)?,
            Format::Json => answers.push(answer(path, &found)),
        }
    }
    if args.output == Format::Json {
        printer.data(&format!("{:#}", Json::Array(answers)))?;
    }
    failure.map_or(Ok(()), Err)
}

fn tell(path: &Path, found: &Outcome<CheckedFolder>, printer: &mut Printer) -> Outcome {
    let found = match found {
        Ok(found) => found,
        Err(failure) => {
            failure.diagnostics.iter().for_each(|diagnostic| printer.diagnostic(diagnostic));
            return Ok(());
        }
    };
    for diagnostic in package::diagnostics(path, found) {
        printer.diagnostic(&diagnostic);
    }
    let count =
        |severity| found.checked.problems.iter().filter(|problem| problem.severity == severity).count();
    let (n_errors, n_warnings) = (count(Judgement::Error), count(Judgement::Warning));
    let warnings = match n_warnings {
        0 => String::new(),
        1 => ", 1 warning".to_owned(),
        n => format!(", {n} warnings"),
    };
    let shown = path.display();
    let line = match &found.checked.package {
        Some(package) => {
            let plugin = &package.plugin;
            let (name, version, rules) = (&plugin.name, &plugin.version, &plugin.package_version);
            format!("{shown}: {name} {version} (package version {rules}) is sound{warnings}")
        }
        None if n_errors == 1 => format!("{shown}: 1 error{warnings}"),
        None => format!("{shown}: {n_errors} errors{warnings}"),
    };
    Ok(printer.data(&line)?)
}

fn answer(path: &Path, found: &Outcome<CheckedFolder>) -> Json {
    let is_sound = found.as_ref().is_ok_and(|found| found.checked.package.is_some());
    let mut fields = vec![
        ("path".to_owned(), Json::from(path.display().to_string())),
        ("sound".to_owned(), Json::from(is_sound)),
    ];
    fields.push(match found {
        Ok(found) => {
            let problems = found.checked.problems.iter().map(package::problem_json);
            ("problems".to_owned(), problems.collect())
        }
        Err(failure) => {
            let message = failure.diagnostics.first().map_or("", |diagnostic| &diagnostic.message);
            ("error".to_owned(), Json::from(message))
        }
    });
    fields.into_iter().collect()
}
