//! Check of `user`.

use stoker_model::HostDifference;

use super::access::{key_steps, password_steps};
use super::spec::Spec;
use crate::context::Context;
use crate::host::{Command, HostChange, HostFuture};
use crate::outcome::Failure;
use crate::resource::Step;
use crate::types::accounts::{Accounts, ShadowEntry, UserEntry};
use crate::values::Values;

pub(super) fn check<'a>(values: &'a Values, cx: Context<'a>) -> HostFuture<'a, Result<Vec<Step>, Failure>> {
    Box::pin(async move {
        let spec = Spec::read(values)?;
        let accounts = Accounts::read(cx.host).await?;
        let mut steps = Vec::new();
        let user = accounts.user(&spec.name);
        let shadow = ShadowEntry::read(cx.host, &spec.name).await?;
        match &user {
            Some(_) if spec.is_absent => return Ok(vec![removal(&spec)]),
            None if spec.is_absent => return Ok(steps),
            None => steps.push(creation(&spec)),
            Some(user) => steps.extend(modification(&spec, user, &accounts, &shadow)),
        }
        steps.extend(password_steps(&spec, &shadow));
        if let Some(keys) = &spec.keys {
            let home = spec.home.clone().or_else(|| user.map(|user| user.home.to_owned()));
            let home = home.unwrap_or_else(|| ["/home", &spec.name].join("/"));
            steps.extend(key_steps(&spec, &home, keys, cx).await?);
        }
        Ok(steps)
    })
}

fn run(words: Vec<String>) -> HostChange {
    HostChange::Run(Command::argv(words))
}

fn removal(spec: &Spec) -> Step {
    let home = spec.removes_home.then_some("--remove");
    let words = ["userdel"].into_iter().chain(home).chain(["--", &spec.name]);
    let difference = HostDifference::value(&spec.name, "state", Some("present".to_owned()), None);
    Step::new(difference, run(words.map(str::to_owned).collect()))
}

fn creation(spec: &Spec) -> Step {
    let mut words = vec!["useradd".to_owned()];
    for (option, value) in options(spec) {
        words.extend([option.to_owned(), value]);
    }
    words.push(if spec.creates_home { "--create-home" } else { "--no-create-home" }.to_owned());
    if spec.is_system {
        words.push("--system".to_owned());
    }
    words.extend(["--".to_owned(), spec.name.clone()]);
    Step::new(HostDifference::value(&spec.name, "state", None, Some("present".to_owned())), run(words))
}

/// Options of `useradd` for the attributes that are managed.
fn options(spec: &Spec) -> Vec<(&'static str, String)> {
    let groups = spec.groups.as_ref().filter(|groups| !groups.is_empty()).map(|groups| groups.join(","));
    [
        ("--uid", spec.uid.clone()),
        ("--gid", spec.group.clone()),
        ("--groups", groups),
        ("--comment", spec.comment.clone()),
        ("--home-dir", spec.home.clone()),
        ("--shell", spec.shell.clone()),
        ("--expiredate", spec.expires.as_ref().map(|expiry| expiry.date.clone()).filter(|it| !it.is_empty())),
    ]
    .into_iter()
    .filter_map(|(option, value)| Some((option, value?)))
    .collect()
}

fn modification(
    spec: &Spec,
    user: &UserEntry<'_>,
    accounts: &Accounts,
    shadow: &ShadowEntry,
) -> Option<Step> {
    let current_groups = accounts.groups_of(&spec.name);
    let groups = spec.groups.as_ref().map(|groups| {
        let retained = current_groups.iter().filter(|_| spec.appends).cloned();
        let mut desired: Vec<String> = groups.iter().cloned().chain(retained).collect();
        desired.sort();
        desired.dedup();
        desired.join(",")
    });
    let attributes = [
        ("uid", "--uid", user.uid.to_owned(), spec.uid.clone()),
        ("group", "--gid", accounts.group_name(user.gid).to_owned(), spec.group.clone()),
        ("groups", "--groups", current_groups.join(","), groups),
        ("comment", "--comment", user.comment.to_owned(), spec.comment.clone()),
        ("home", "--home", user.home.to_owned(), spec.home.clone()),
        ("shell", "--shell", user.shell.to_owned(), spec.shell.clone()),
    ];
    let mut words = vec!["usermod".to_owned()];
    let mut differences = Vec::new();
    for (attribute, option, current, desired) in attributes {
        let Some(desired) = desired.filter(|desired| *desired != current) else { continue };
        words.extend([option.to_owned(), desired.clone()]);
        differences.push(HostDifference::value(&spec.name, attribute, Some(current), Some(desired)));
    }
    if let Some(expiry) = spec.expires.as_ref().filter(|expiry| expiry.days != shadow.expires) {
        words.extend(["--expiredate".to_owned(), expiry.date.clone()]);
        let day = |days: &str, text: &str| (!days.is_empty()).then(|| text.to_owned());
        let old = day(&shadow.expires, &format!("day {}", shadow.expires));
        let new = day(&expiry.days, &expiry.date);
        differences.push(HostDifference::value(&spec.name, "expires", old, new));
    }
    words.extend(["--".to_owned(), spec.name.clone()]);
    (!differences.is_empty()).then(|| Step { differences, changes: vec![run(words)], is_action: false })
}
