//! Executor of `master_shell`. The server sends it to the agent of the master; this code does not check that.

use super::spec::Spec;
use crate::host::Work;
use crate::outcome::Outcome;
use crate::task_type::Context;
use crate::types::shell::run_script;
use crate::values::Values;

pub(super) fn run<'a>(values: &'a Values, cx: Context<'a>) -> Work<'a, Outcome> {
    Box::pin(async move { run_script(Spec::read(values)?, cx).await })
}
