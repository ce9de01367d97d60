//! Starting other programs: each call shows what it runs, so that a person can run it again by hand.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::failure::{Context as _, Failure, Outcome};
use crate::terminal::{Style, paint};

/// The cargo that started this tool.
pub(crate) fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Runs a command with its output in plain sight; a failing exit status is an error.
pub(crate) fn run(command: &mut Command) -> Outcome {
    println!("{}", paint(Style::Dim, &format!("$ {}", shown(command))));
    let status = command.status().context(format!("cannot start `{}`", program(command)))?;
    if status.success() {
        return Ok(());
    }
    Err(Failure::new(format!("`{}` failed ({status})", shown(command))))
}

/// Runs a command and returns its standard output; its standard error goes into the error on failure.
pub(crate) fn capture(command: &mut Command) -> Outcome<String> {
    let output =
        command.stdin(Stdio::null()).output().context(format!("cannot start `{}`", program(command)))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Err(Failure::new(format!(
            "`{}` failed ({})\n{}",
            shown(command),
            output.status,
            stderr.trim_end()
        )));
    }
    String::from_utf8(output.stdout)
        .map_err(|_| Failure::new(format!("`{}` printed text that is not UTF-8", shown(command))))
}

/// Whether a command can be started and ends well; nothing is shown.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Where `name` is on the search path.
pub(crate) fn which(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(name)).find(|candidate| candidate.is_file())
}

fn program(command: &Command) -> String {
    short(command.get_program())
}

/// The command as one would type it: variables it sets, base name of the program, arguments.
fn shown(command: &Command) -> String {
    let variables = command
        .get_envs()
        .filter_map(|(name, value)| Some(format!("{}={}", name.to_string_lossy(), quoted(value?))));
    let arguments = command.get_args().map(quoted);
    let words: Vec<String> = variables.chain([program(command)]).chain(arguments).collect();
    words.join(" ")
}

fn short(program: &OsStr) -> String {
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
    fn commands_are_shown_as_one_would_type_them() {
        let mut command = Command::new("/usr/bin/cargo");
        command.args(["test", "it's here"]).env("RUSTDOCFLAGS", "-D warnings");
        assert_eq!(shown(&command), r"RUSTDOCFLAGS='-D warnings' cargo test 'it'\''s here'");
    }

    #[test]
    fn a_failing_command_reports_its_standard_error() {
        let error = capture(Command::new("sh").args(["-c", "echo why >&2; exit 3"])).unwrap_err();
        assert!(error.to_string().contains("why"), "{error}");
        assert!(error.to_string().contains('3'), "{error}");
    }

    #[test]
    fn a_missing_program_is_an_error_not_a_panic() {
        let error = run(&mut Command::new("no-such-program-here")).unwrap_err();
        assert!(error.to_string().starts_with("cannot start `no-such-program-here`"), "{error}");
    }
}
