//! Carries out `upload_file`.

use super::spec::Spec;
use crate::host::Work;
use crate::outcome::Outcome;
use crate::task_type::{Context, told};
use crate::values::Values;

pub(super) fn run<'a>(values: &'a Values, cx: Context<'a>) -> Work<'a, Outcome> {
    Box::pin(async move {
        let Spec { file, overwrites } = Spec::read(values)?;
        if !overwrites && cx.host.exists(&file.path).await? {
            return Ok(told(format!("{} is there and stays as it is", file.path.display())));
        }
        cx.host.write(file).await?;
        Ok(told("1 file written"))
    })
}
