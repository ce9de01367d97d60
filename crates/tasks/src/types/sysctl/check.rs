//! Check of `sysctl`.

use stoker_model::HostDifference;

use super::spec::{Spec, normalize};
use crate::context::Context;
use crate::host::{FileOwner, FileToWrite, HostChange, HostFuture};
use crate::outcome::Failure;
use crate::resource::Step;
use crate::types::files::{DiffDetail, step_of};
use crate::values::Values;

pub(super) fn check<'a>(values: &'a Values, cx: Context<'a>) -> HostFuture<'a, Result<Vec<Step>, Failure>> {
    Box::pin(async move {
        let spec = Spec::read(values)?;
        match &spec.value {
            Some(value) => present(&spec, value, cx).await,
            None => absent(spec, cx).await,
        }
    })
}

async fn present(spec: &Spec, value: &str, cx: Context<'_>) -> Result<Vec<Step>, Failure> {
    let Spec { name, kernel, stored, .. } = spec;
    if cx.host.inspect(kernel).await?.is_none() {
        return Err(Failure::failed(format!("the kernel has no parameter `{name}`; is a module missing?")));
    }
    let data = cx.host.read(kernel).await?;
    let current = normalize(&String::from_utf8_lossy(&data));
    // The kernel first: it refuses invalid values, which must not be stored.
    let running = (current != value).then(|| {
        let difference = HostDifference::value(name, "value", Some(current), Some(value.to_owned()));
        let data = format!("{value}\n").into_bytes();
        Step::new(difference, HostChange::Overwrite { path: kernel.clone(), data })
    });
    let root = FileOwner { user: Some("root".to_owned()), group: Some("root".to_owned()) };
    let data = format!("{name} = {value}\n").into_bytes();
    let file =
        FileToWrite { owner: root, parents: Some(0o755), ..FileToWrite::new(stored.clone(), data, 0o644) };
    let stored = step_of(file, cx.host, DiffDetail::Content).await?;
    Ok(running.into_iter().chain(stored).collect())
}

async fn absent(spec: Spec, cx: Context<'_>) -> Result<Vec<Step>, Failure> {
    if cx.host.inspect_link(&spec.stored).await?.is_none() {
        return Ok(Vec::new());
    }
    let difference = HostDifference::value(spec.name, "stored value", Some("present".to_owned()), None);
    Ok(vec![Step::new(difference, HostChange::Remove(spec.stored))])
}
