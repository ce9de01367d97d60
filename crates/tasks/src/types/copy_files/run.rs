//! Check of `copy_files`; the file contents are part of the parameters.

use super::spec::files_of;
use crate::context::Context;
use crate::host::HostFuture;
use crate::outcome::Failure;
use crate::resource::Step;
use crate::types::files::steps_of;
use crate::values::Values;

pub(super) fn check<'a>(values: &'a Values, cx: Context<'a>) -> HostFuture<'a, Result<Vec<Step>, Failure>> {
    Box::pin(async move { steps_of(files_of(values)?, cx.host).await })
}
