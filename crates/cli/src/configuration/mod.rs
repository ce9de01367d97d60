//! Configuration of `stoker serve` and `stoker agent`: flags, environment variables, a TOML file and defaults.
//!
//! The clap arguments of the two commands are the only declaration of an option; `catalog` derives the file key, type,
//! unit and default from them. Options that the command line does not set are inserted into it before it is parsed, so
//! that one parser validates values of all origins.

mod catalog;
mod file;
mod redact;
mod reference;
mod resolve;

use std::ffi::OsString;

use clap::Command;
use clap::error::ErrorKind;

use self::catalog::ADMIN_PASSWORD_KEY;
pub(crate) use self::catalog::{Catalog, Program};
pub(crate) use self::reference::{example, page};
pub(crate) use self::resolve::{Origin, Resolved, resolve};
use crate::exit::{Failure, Outcome};
use crate::printer::Printer;

/// The arguments to parse, and how to explain errors in those that the user did not pass.
pub(crate) struct Expansion {
    pub(crate) arguments: Vec<OsString>,
    resolved: Option<(Catalog, Resolved)>,
}

/// Inserts options from the environment and the configuration file into the arguments of `serve` and `agent`. Other
/// commands are returned unchanged. `root` is the command of the whole program. On failure, also returns a printer with the color setting of the arguments.
pub(crate) fn expand(
    arguments: Vec<OsString>,
    root: Command,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Expansion, (Failure, Printer)> {
    let is_program = |argument: &OsString| Program::ALL.iter().any(|program| argument == program.name());
    let Some(at) = arguments.iter().skip(1).position(is_program).map(|idx| idx + 1) else {
        return Ok(Expansion { arguments, resolved: None });
    };
    // Errors are ignored here and reported when the expanded arguments are parsed.
    let relaxed = root.clone().ignore_errors(true).try_get_matches_from(&arguments);
    let Ok(matches) = relaxed else { return Ok(Expansion { arguments, resolved: None }) };
    let subcommand =
        matches.subcommand().and_then(|(name, matches)| Some((Program::from_name(name)?, matches)));
    let Some((program, program_matches)) = subcommand else {
        return Ok(Expansion { arguments, resolved: None });
    };
    let catalog = Catalog::of(program, root);
    let resolved = match resolve(&catalog, program_matches, variable) {
        Ok(resolved) => resolved,
        Err(failure) => {
            let color = matches.get_one::<clap::ColorChoice>("color").copied().unwrap_or_default();
            return Err((failure, Printer::new(color)));
        }
    };
    let (before, after) = arguments.split_at(at + 1);
    let arguments = [before, &resolved.inserted_arguments(&catalog), after].concat();
    Ok(Expansion { arguments, resolved: Some((catalog, resolved)) })
}

impl Expansion {
    /// The initial password of the user `admin`, which has no flag.
    pub(crate) fn admin_password(&self) -> Option<String> {
        let (catalog, resolved) = self.resolved.as_ref()?;
        resolved.value_without_flag(catalog, ADMIN_PASSWORD_KEY)
    }

    /// Returns where the options are set that an error mentions, one line each.
    pub(crate) fn explain(&self, error: &clap::Error) -> Vec<String> {
        let Some((catalog, resolved)) = &self.resolved else { return Vec::new() };
        resolved.explain(catalog, &error.to_string())
    }
}

/// Resolves the options that `stoker PROGRAM ARGUMENTS` would use.
pub(crate) fn inspect(
    program: Program,
    arguments: &[OsString],
    root: Command,
    variable: impl Fn(&str) -> Option<String>,
) -> Outcome<(Catalog, Resolved)> {
    let catalog = Catalog::of(program, root);
    let name = || std::iter::once(OsString::from(program.name()));
    let relaxed = catalog.command().clone().ignore_errors(true);
    let matches = relaxed.try_get_matches_from(name().chain(arguments.iter().cloned()));
    let matches = matches.map_err(|error| usage(&error, Vec::new()))?;
    let resolved = resolve(&catalog, &matches, variable)?;
    let expanded = name().chain(resolved.inserted_arguments(&catalog)).chain(arguments.iter().cloned());
    match catalog.command().clone().try_get_matches_from(expanded) {
        Err(error) if error.kind() != ErrorKind::DisplayHelp => {
            let notes = resolved.explain(&catalog, &error.to_string());
            Err(usage(&error, notes))
        }
        _ => Ok((catalog, resolved)),
    }
}

fn usage(error: &clap::Error, notes: Vec<String>) -> Failure {
    let text = error.to_string();
    // The first paragraph is the message; usage and hints follow.
    let lines: Vec<&str> = text.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    let message = lines.join(" ");
    let message = message.strip_prefix("error: ").unwrap_or(&message);
    let mut failure = Failure::usage(message, "see `--help` of the command for its options");
    failure.diagnostics[0].notes = notes.into_iter().map(Into::into).collect();
    failure
}
