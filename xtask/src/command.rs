//! A subcommand.

use crate::args::Args;
use crate::failure::Outcome;

pub(crate) struct Command {
    pub(crate) name: &'static str,
    /// Summary in the list of commands.
    pub(crate) about: &'static str,
    /// Output of `--help`.
    pub(crate) help: &'static str,
    pub(crate) run: fn(Args) -> Outcome,
}
