//! The shape of a subcommand.

use crate::args::Args;
use crate::failure::Outcome;

pub(crate) struct Command {
    pub(crate) name: &'static str,
    /// One line for the list of commands.
    pub(crate) about: &'static str,
    /// What `--help` prints.
    pub(crate) help: &'static str,
    pub(crate) run: fn(Args) -> Outcome,
}
