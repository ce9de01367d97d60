//! Check of `user_group`.

use stoker_model::HostDifference;

use super::spec::Spec;
use crate::context::Context;
use crate::host::{Command, HostChange, HostFuture};
use crate::outcome::Failure;
use crate::resource::Step;
use crate::types::accounts::Accounts;
use crate::values::Values;

pub(super) fn check<'a>(values: &'a Values, cx: Context<'a>) -> HostFuture<'a, Result<Vec<Step>, Failure>> {
    Box::pin(async move {
        let spec = Spec::read(values)?;
        let accounts = Accounts::read(cx.host).await?;
        let current = accounts.group(&spec.name).map(|group| group.gid);
        Ok(step(&spec, current).into_iter().collect())
    })
}

fn step(spec: &Spec, current: Option<&str>) -> Option<Step> {
    let Spec { name, gid, is_system, is_absent } = spec;
    let text = |word: &str| Some(word.to_owned());
    let run = |words: &[&str]| HostChange::Run(Command::argv(words.iter().copied()));
    match (current, gid.as_deref()) {
        (Some(_), _) if *is_absent => {
            let difference = HostDifference::value(name, "state", text("present"), None);
            Some(Step::new(difference, run(&["groupdel", "--", name])))
        }
        (None, _) if *is_absent => None,
        (None, gid) => {
            let number = gid.map_or(vec![], |gid| vec!["--gid", gid]);
            let system: &[&str] = if *is_system { &["--system"] } else { &[] };
            let words = [&["groupadd"], number.as_slice(), system, &["--", name]].concat();
            Some(Step::new(HostDifference::value(name, "state", None, text("present")), run(&words)))
        }
        (Some(current), Some(gid)) if current != gid => {
            let difference = HostDifference::value(name, "gid", text(current), text(gid));
            Some(Step::new(difference, run(&["groupmod", "--gid", gid, "--", name])))
        }
        _ => None,
    }
}
