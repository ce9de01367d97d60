//! Parameters of `sync`.

use crate::host::{Command, CommandEffect, shell_quote};
use crate::parameter::{Parameter, ParameterType};
use crate::values::Values;

pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::required("src", ParameterType::Text, "Source: a directory, or a module of an rsync server."),
    Parameter::required("dst", ParameterType::Path, "Destination directory; created if missing."),
    Parameter::timeout("300"),
    Parameter::retries("10"),
    Parameter::interval(),
];

/// Returns the command. In noop mode, it does not create the destination directory.
pub(super) fn command(values: &Values, is_noop: bool) -> Command {
    let (src, dst) = (values.text("src"), values.text("dst"));
    let options = ["rsync", "-c", "-r", "--delete", "-l"];
    if is_noop {
        let dry = ["--dry-run", "--itemize-changes", "--", &src, &dst];
        return Command::argv(options.iter().chain(&dry).copied()).effect(CommandEffect::Reads);
    }
    let (src, dst) = (shell_quote(&src), shell_quote(&dst));
    Command::script(format!("mkdir -p -- {dst} && exec {} -- {src} {dst}", options.join(" ")))
}
