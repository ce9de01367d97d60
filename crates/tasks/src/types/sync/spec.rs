//! Parameters of `sync`.

use crate::host::{Command, CommandEffect, shell_quote};
use crate::outcome::Failure;
use crate::parameter::{Parameter, ParameterType};
use crate::values::Values;

pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::required("src", ParameterType::Text, "Source: a directory, or a module of an rsync server."),
    Parameter::required("dst", ParameterType::Path, "Destination directory; created if missing."),
    Parameter::timeout("300"),
    Parameter::retries("10"),
    Parameter::interval(),
];

const OPTIONS: [&str; 5] = ["rsync", "-c", "-r", "--delete", "-l"];

/// Returns the command that lists the differences, one in a line.
pub(super) fn compare(values: &Values) -> Command {
    let (src, dst) = (values.text("src"), values.text("dst"));
    let listing = ["--dry-run", "--itemize-changes", "--", &src, &dst];
    Command::argv(OPTIONS.into_iter().chain(listing)).effect(CommandEffect::Reads)
}

/// Returns the command that creates the destination directory and removes the differences.
pub(super) fn apply(values: &Values) -> Command {
    let (src, dst) = (shell_quote(&values.text("src")), shell_quote(&values.text("dst")));
    Command::script(format!("mkdir -p -- {dst} && exec {} -- {src} {dst}", OPTIONS.join(" ")))
}

/// All values are valid.
#[expect(clippy::unnecessary_wraps, reason = "the type of a resource's validation")]
pub(super) fn validate(_: &Values) -> Result<(), Failure> {
    Ok(())
}
