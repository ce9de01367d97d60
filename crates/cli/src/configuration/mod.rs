//! Configuration of `stoker serve` and `stoker agent`: flags, environment variables, a TOML file and defaults. Commands
//! that work on the data of a server read the file of `stoker serve`, too.
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

use clap::error::ErrorKind;
use clap::{ArgMatches, Command};

use self::catalog::ADMIN_PASSWORD_KEY;
pub(crate) use self::catalog::{Catalog, Program};
pub(crate) use self::reference::{example, page};
pub(crate) use self::resolve::{Origin, Resolved, resolve};
use stoker_model::ErrorChain;

use crate::exit::{Failure, Outcome};
use crate::printer::Printer;

/// Commands other than `serve` that read its configuration file, for the options that they share with it.
const READERS: &[&[&str]] = &[&["backup"], &["doctor", "setup"], &["restore"]];

/// The arguments to parse, and the environment variable or file to name in errors about injected ones.
pub(crate) struct Expansion {
    pub(crate) arguments: Vec<OsString>,
    resolved: Option<(Catalog, Resolved)>,
}

/// Inserts options from the environment and the configuration file into the arguments of commands that read one. Other
/// commands are returned unchanged. `root` is the command of the whole program. On failure, also returns a printer with
/// the colour setting of the arguments.
pub(crate) fn expand(
    arguments: Vec<OsString>,
    root: Command,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Expansion, (Failure, Printer)> {
    let is_reader = |argument: &OsString| {
        Program::ALL.iter().any(|program| argument == program.name())
            || READERS.iter().any(|path| argument == path[0])
    };
    if !arguments.iter().skip(1).any(is_reader) {
        return Ok(Expansion { arguments, resolved: None });
    }
    // Errors are ignored here and reported when the expanded arguments are parsed.
    let relaxed = root.clone().ignore_errors(true).try_get_matches_from(&arguments);
    let Ok(matches) = relaxed else { return Ok(Expansion { arguments, resolved: None }) };
    let reader = reader(&matches).and_then(|reader| Some((position(&arguments, &reader.path)?, reader)));
    let Some((at, Reader { program, matches: program_matches, .. })) = reader else {
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
    let arguments = [before, &resolved.inserted_arguments(&catalog, program_matches), after].concat();
    Ok(Expansion { arguments, resolved: Some((catalog, resolved)) })
}

/// A command that reads a configuration file.
struct Reader<'m> {
    /// Names of the command, such as `doctor` and `setup`.
    path: Vec<&'m str>,
    /// The program whose file it reads.
    program: Program,
    matches: &'m ArgMatches,
}

fn reader(matches: &ArgMatches) -> Option<Reader<'_>> {
    let (mut path, mut matches) = (Vec::new(), matches);
    while let Some((name, inner)) = matches.subcommand() {
        path.push(name);
        matches = inner;
    }
    let program = match path[..] {
        [name] if Program::from_name(name).is_some() => Program::from_name(name),
        _ => READERS.contains(&&path[..]).then_some(Program::Serve),
    };
    Some(Reader { program: program?, path, matches })
}

/// Returns the position of the last name of a command in the arguments.
fn position(arguments: &[OsString], path: &[&str]) -> Option<usize> {
    path.iter().try_fold(0, |at, name| {
        let next = arguments.iter().skip(at + 1).position(|argument| argument == name)?;
        Some(at + 1 + next)
    })
}

impl Expansion {
    /// Returns the initial password of the user `admin`, which has no flag.
    pub(crate) fn admin_password(&self) -> Option<String> {
        let (catalog, resolved) = self.resolved.as_ref()?;
        resolved.value_without_flag(catalog, ADMIN_PASSWORD_KEY)
    }

    /// Returns one line for each option that an error mentions, with the location where the option is set.
    pub(crate) fn explain(&self, error: &clap::Error) -> Vec<String> {
        let Some((catalog, resolved)) = &self.resolved else { return Vec::new() };
        resolved.explain(catalog, &ErrorChain(error).to_string())
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
    let inserted = resolved.inserted_arguments(&catalog, &matches);
    let expanded = name().chain(inserted).chain(arguments.iter().cloned());
    match catalog.command().clone().try_get_matches_from(expanded) {
        Err(error) if error.kind() != ErrorKind::DisplayHelp => {
            let notes = resolved.explain(&catalog, &ErrorChain(&error).to_string());
            Err(usage(&error, notes))
        }
        _ => Ok((catalog, resolved)),
    }
}

fn usage(error: &clap::Error, notes: Vec<String>) -> Failure {
    let text = ErrorChain(error).to_string();
    // The first paragraph is the message; usage and hints follow.
    let lines: Vec<&str> = text.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    let message = lines.join(" ");
    let message = message.strip_prefix("error: ").unwrap_or(&message);
    let mut failure = Failure::usage(message, "see `--help` of the command for its options");
    failure.diagnostics[0].notes = notes.into_iter().map(Into::into).collect();
    failure
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str =
        "listen = \"127.0.0.1:1\"\ndata_dir = \"/srv/stoker\"\nplugins_root = \"/srv/plugins\"\n";

    /// Returns the arguments after the expansion, without the file name.
    fn expanded(arguments: &[&str], file: &str, url: Option<&str>) -> Result<Vec<String>, Failure> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("serve.toml");
        std::fs::write(&path, file).unwrap();
        let words = arguments.iter().map(|word| match *word {
            "FILE" => path.clone().into_os_string(),
            word => word.into(),
        });
        let variable = |name: &str| url.filter(|_| name == "STOKER_DATABASE_URL").map(str::to_owned);
        let expansion =
            expand(words.collect(), crate::args::command(), variable).map_err(|(failure, _)| failure)?;
        let texts = expansion.arguments.iter().map(|word| word.to_string_lossy().into_owned());
        Ok(texts.filter(|word| *word != path.to_string_lossy()).collect())
    }

    #[test]
    fn commands_on_server_data_read_the_file_of_the_server() {
        let with_file = |arguments| expanded(arguments, FILE, None).unwrap();
        let backup = with_file(&["stoker", "backup", "--config", "FILE", "x.db"]);
        assert_eq!(backup, ["stoker", "backup", "--data-dir=/srv/stoker", "--config", "x.db"]);
        let restore = with_file(&["stoker", "restore", "x.db", "--config", "FILE"]);
        assert_eq!(restore, ["stoker", "restore", "--data-dir=/srv/stoker", "x.db", "--config"]);
        let setup = with_file(&["stoker", "doctor", "setup", "--config", "FILE"]);
        let inserted = ["--data-dir=/srv/stoker", "--plugins-root=/srv/plugins"];
        assert_eq!(setup, [&["stoker", "doctor", "setup"][..], &inserted, &["--config"]].concat());
    }

    #[test]
    fn flags_and_variables_have_precedence_over_the_file() {
        let backup = ["stoker", "backup", "--config", "FILE", "--data-dir", "/mine", "x.db"];
        assert_eq!(
            expanded(&backup, FILE, None).unwrap(),
            ["stoker", "backup", "--config", "--data-dir", "/mine", "x.db"]
        );
        let url = Some("postgres://db/stoker");
        let setup = expanded(&["stoker", "doctor", "setup", "--config", "FILE"], FILE, url).unwrap();
        assert!(setup.contains(&"--database-url=postgres://db/stoker".to_owned()), "{setup:?}");
        assert!(!setup.iter().any(|word| word.starts_with("--data-dir")), "{setup:?}");
    }

    #[test]
    fn invalid_files_are_rejected_and_other_commands_are_unchanged() {
        assert!(
            expanded(&["stoker", "backup", "--config", "FILE", "x.db"], "no_such_key = 1\n", None).is_err()
        );
        let server = ["stoker", "doctor", "server"];
        assert_eq!(expanded(&server, FILE, None).unwrap(), server);
    }
}
