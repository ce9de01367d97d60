//! Check of `git`.

use stoker_model::HostDifference;

use super::spec::Spec;
use crate::context::Context;
use crate::host::{Command, CommandEffect, HostChange, HostFuture, QueryResult};
use crate::outcome::Failure;
use crate::resource::Step;
use crate::values::Values;

pub(super) fn check<'a>(values: &'a Values, cx: Context<'a>) -> HostFuture<'a, Result<Vec<Step>, Failure>> {
    Box::pin(async move {
        let spec = Spec::read(values)?;
        let copy = WorkingCopy::query(&spec, cx).await?;
        let desired = match (spec.commit(), &copy.commit) {
            (Some(commit), _) => commit.to_owned(),
            (None, Some(commit)) if !spec.updates => commit.clone(),
            (None, _) => remote_commit(&spec, cx).await?,
        };
        Ok(step(&spec, &copy, &desired)?.into_iter().collect())
    })
}

#[derive(Debug)]
struct WorkingCopy {
    exists: bool,
    /// `None` before the first checkout.
    commit: Option<String>,
    remote: Option<String>,
    /// Tracked files with local changes, as `git status` lists them.
    local_changes: Vec<String>,
}

impl WorkingCopy {
    async fn query(spec: &Spec, cx: Context<'_>) -> Result<Self, Failure> {
        if cx.host.inspect(&spec.dest.join(".git")).await?.is_none() {
            return Ok(Self { exists: false, commit: None, remote: None, local_changes: Vec::new() });
        }
        let line = |result: QueryResult| {
            result.is_success().then(|| result.stdout.trim().to_owned()).filter(|text| !text.is_empty())
        };
        let head = query(&local(spec, &["rev-parse", "--verify", "--quiet", "HEAD"]), cx).await?;
        let remote = query(&local(spec, &["config", "--get", "remote.origin.url"]), cx).await?;
        let commit = line(head);
        let local_changes = if commit.is_some() {
            let words = local(spec, &["status", "--porcelain", "--untracked-files=no"]);
            let status = query(&words, cx).await?;
            if !status.is_success() {
                return Err(failed(&format!("read the working copy `{}`", spec.dest.display()), &status));
            }
            status.stdout.lines().map(str::to_owned).collect()
        } else {
            Vec::new()
        };
        Ok(Self { exists: true, commit, remote: line(remote), local_changes })
    }
}

fn step(spec: &Spec, copy: &WorkingCopy, desired: &str) -> Result<Option<Step>, Failure> {
    let dest = spec.dest.display().to_string();
    let is_desired_commit = copy.commit.as_deref() == Some(desired);
    let n_local = copy.local_changes.len();
    if n_local > 0 && !is_desired_commit && !spec.forces {
        let first = copy.local_changes[0].trim();
        let hint = "set `force: true` to discard them";
        return Err(Failure::failed(format!(
            "`{dest}` has local changes ({first}; {n_local} in total); {hint}"
        )));
    }
    let mut differences = Vec::new();
    let mut changes = Vec::new();
    let mut run = |arguments: &[&str]| changes.push(HostChange::Run(command(&local(spec, arguments))));
    if !copy.exists {
        run(&["init", "--quiet"]);
    }
    if copy.remote.as_ref() != Some(&spec.repo) {
        let remote = Some(spec.repo.clone());
        differences.push(HostDifference::value(&dest, "remote", copy.remote.clone(), remote));
        run(&["config", "remote.origin.url", &spec.repo]);
    }
    if !is_desired_commit {
        differences.push(HostDifference::value(
            &dest,
            "commit",
            copy.commit.clone(),
            Some(desired.to_owned()),
        ));
        let branches = "+refs/heads/*:refs/remotes/origin/*";
        run(&["fetch", "--quiet", "--force", "--prune", "--tags", "origin", branches]);
    }
    let discards = spec.forces && n_local > 0;
    if discards {
        let count = Some(format!("{n_local} files"));
        differences.push(HostDifference::value(&dest, "local changes", count, None));
    }
    if !is_desired_commit || discards {
        let force = if spec.forces { &["--force"][..] } else { &[] };
        run(&[&["checkout", "--quiet", "--detach"][..], force, &[desired]].concat());
    }
    Ok((!changes.is_empty()).then_some(Step { differences, changes, is_action: false }))
}

/// Returns the commit that a branch or tag has in the repository.
async fn remote_commit(spec: &Spec, cx: Context<'_>) -> Result<String, Failure> {
    let version = &spec.version;
    // In the order of preference: a tag object is resolved to its commit.
    let references = match version.as_str() {
        "HEAD" => vec![version.clone()],
        _ => ["refs/tags/{}^{}", "refs/tags/{}", "refs/heads/{}"]
            .map(|form| form.replacen("{}", version, 1))
            .to_vec(),
    };
    let words =
        ["git", "ls-remote", "--", &spec.repo].into_iter().chain(references.iter().map(String::as_str));
    let result = query(&words.map(str::to_owned).collect::<Vec<_>>(), cx).await?;
    if !result.is_success() {
        return Err(failed(&format!("read the repository `{}`", spec.repo), &result));
    }
    let lines: Vec<(&str, &str)> = result.stdout.lines().filter_map(|line| line.split_once('\t')).collect();
    let commit = references.iter().find_map(|reference| {
        lines.iter().find(|(_, name)| name == reference).map(|(commit, _)| (*commit).to_owned())
    });
    commit.ok_or_else(|| {
        Failure::failed(format!("the repository `{}` has no branch or tag `{version}`", spec.repo))
    })
}

/// Returns a command inside the working copy. Git refuses a folder of another user unless it is declared safe.
fn local(spec: &Spec, arguments: &[&str]) -> Vec<String> {
    let dest = spec.dest.display().to_string();
    let safe = format!("safe.directory={dest}");
    let words = match arguments {
        ["init", ..] => ["git"].iter().chain(arguments).chain(&["--", &*dest]).copied().collect::<Vec<_>>(),
        _ => ["git", "-c", &*safe, "-C", &*dest].iter().chain(arguments).copied().collect(),
    };
    words.into_iter().map(str::to_owned).collect()
}

/// Git must fail instead of waiting for a password.
fn command(words: &[String]) -> Command {
    Command::argv(words).env("GIT_TERMINAL_PROMPT", "0").env("GIT_SSH_COMMAND", "ssh -o BatchMode=yes")
}

async fn query(words: &[String], cx: Context<'_>) -> Result<QueryResult, Failure> {
    Ok(cx.host.query(command(words).effect(CommandEffect::Reads)).await?)
}

fn failed(operation: &str, result: &QueryResult) -> Failure {
    let reason = result.stderr.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("unknown reason");
    Failure::failed(format!("cannot {operation}: {}", reason.trim()))
}
