//! Starts other programs and prints each command line, so that a developer can repeat it by hand.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::failure::{Context as _, Failure, Outcome};
use crate::terminal::{Style, paint, print_line, redirected};

/// Maximum number of printed words of a command line; rustfmt gets more than a thousand files.
const WORDS_MAX: usize = 40;

/// Returns the cargo that started this tool, without the variables that `cargo run` sets for the program it
/// starts. Build scripts of `ring` and others depend on `CARGO_MANIFEST_DIR` and `CARGO_PKG_NAME`: with these
/// variables, a build from here and a build from a shell would alternately recompile TLS, the database client
/// and all their users.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(is_set_by_cargo_run) {
            command.env_remove(name);
        }
    }
    command
}

fn is_set_by_cargo_run(name: &str) -> bool {
    name.starts_with("CARGO_PKG_")
        || ["CARGO_BIN_NAME", "CARGO_CRATE_NAME", "CARGO_MANIFEST_DIR", "CARGO_MANIFEST_PATH", "OUT_DIR"]
            .contains(&name)
}

/// Runs a command. Its output has the same destination as the output of this thread; a failing exit status is
/// an error.
pub(crate) fn run(command: &mut Command) -> Outcome {
    print_line(&paint(Style::Dim, &format!("$ {}", command_line(command))));
    if let Some(file) = redirected()
        && let Ok(copy) = file.try_clone()
    {
        command.stdin(Stdio::null()).stdout(file).stderr(copy);
    }
    let status = command.status().context(format!("cannot start `{}`", program_name(command)))?;
    if status.success() {
        return Ok(());
    }
    Err(Failure::new(format!("`{}` failed ({status})", command_line(command))))
}

/// Runs a command and returns its standard output; on failure, the error contains its standard error.
pub(crate) fn capture(command: &mut Command) -> Outcome<String> {
    let output =
        command.stdin(Stdio::null()).output().context(format!("cannot start `{}`", program_name(command)))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Err(Failure::new(format!(
            "`{}` failed ({})\n{}",
            command_line(command),
            output.status,
            stderr.trim_end()
        )));
    }
    String::from_utf8(output.stdout)
        .map_err(|_| Failure::new(format!("`{}` printed text that is not UTF-8", command_line(command))))
}

/// Returns whether a command can be started and exits with status 0; its output is discarded.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Returns the path of the program `name` on the search path.
pub(crate) fn which(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(name)).find(|candidate| candidate.is_file())
}

fn program_name(command: &Command) -> String {
    base_name(command.get_program())
}

/// Returns the command as a shell line: variables that it sets, base name of the program, arguments.
fn command_line(command: &Command) -> String {
    let variables = command
        .get_envs()
        .filter_map(|(name, value)| Some(format!("{}={}", name.to_string_lossy(), quoted(value?))));
    let arguments = command.get_args().map(quoted);
    let mut words: Vec<String> = variables.chain([program_name(command)]).chain(arguments).collect();
    if words.len() > WORDS_MAX {
        let n_omitted = words.len() - WORDS_MAX;
        words.truncate(WORDS_MAX);
        words.push(format!("… ({n_omitted} more)"));
    }
    words.join(" ")
}

fn base_name(program: &OsStr) -> String {
    let name = Path::new(program).file_name().unwrap_or(program);
    name.to_string_lossy().into_owned()
}

fn quoted(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    let plain =
        !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_=./:,@%+".contains(c));
    if plain { word.into_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_line_is_shell_syntax() {
        let mut command = Command::new("/usr/bin/cargo");
        command.args(["test", "it's here"]).env("RUSTDOCFLAGS", "-D warnings");
        assert_eq!(command_line(&command), r"RUSTDOCFLAGS='-D warnings' cargo test 'it'\''s here'");
    }

    #[test]
    fn long_command_line_is_shortened() {
        let mut command = Command::new("rustfmt");
        command.args(std::iter::repeat_n("a.rs", 50));
        assert!(command_line(&command).ends_with(" a.rs … (11 more)"), "{}", command_line(&command));
    }

    #[test]
    fn inner_cargo_has_the_environment_of_a_shell() {
        let command = cargo();
        let is_removed =
            |wanted: &str| command.get_envs().any(|(name, value)| name == wanted && value.is_none());
        // Cargo sets it for tests as it does for programs.
        assert!(is_removed("CARGO_PKG_NAME") && is_removed("CARGO_MANIFEST_DIR"));
        assert!(!is_set_by_cargo_run("CARGO_TARGET_DIR") && !is_set_by_cargo_run("CARGO_INCREMENTAL"));
    }

    #[test]
    fn failing_command_reports_its_standard_error() {
        let error = capture(Command::new("sh").args(["-c", "echo why >&2; exit 3"])).unwrap_err();
        assert!(error.to_string().contains("why"), "{error}");
        assert!(error.to_string().contains('3'), "{error}");
    }

    #[test]
    fn missing_program_is_an_error() {
        let error = run(&mut Command::new("no-such-program-here")).unwrap_err();
        assert!(error.to_string().starts_with("cannot start `no-such-program-here`"), "{error}");
    }
}
