//! Check of `upload_file`.

use super::spec::Spec;
use crate::context::Context;
use crate::host::HostFuture;
use crate::outcome::Failure;
use crate::resource::Step;
use crate::types::files::steps_of;
use crate::values::Values;

pub(super) fn check<'a>(values: &'a Values, cx: Context<'a>) -> HostFuture<'a, Result<Vec<Step>, Failure>> {
    Box::pin(async move {
        let Spec { file, overwrites } = Spec::read(values)?;
        if !overwrites && cx.host.inspect(&file.path).await?.is_some() {
            return Ok(Vec::new());
        }
        steps_of(vec![file], cx.host).await
    })
}
