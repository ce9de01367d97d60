//! Check of `package`.

use std::collections::BTreeMap;

use stoker_model::HostDifference;

use super::manager::{Installed, PackageManager};
use super::spec::{DesiredPackage, PackageState, Spec};
use crate::context::Context;
use crate::host::{HostChange, HostFuture};
use crate::outcome::Failure;
use crate::resource::Step;
use crate::values::Values;

pub(super) fn check<'a>(values: &'a Values, cx: Context<'a>) -> HostFuture<'a, Result<Vec<Step>, Failure>> {
    Box::pin(async move {
        let spec = Spec::read(values)?;
        let manager = PackageManager::find(cx).await?;
        let installed = manager.installed(&spec.packages, cx).await?;
        let candidates = match spec.state {
            PackageState::Latest => manager.candidates(&spec.packages, cx).await?,
            _ => BTreeMap::new(),
        };
        let step = match spec.state {
            PackageState::Absent => removal(&spec, manager, &installed),
            _ => installation(&spec, manager, &installed, &candidates),
        };
        Ok(step.into_iter().chain(holding(&spec, manager, &installed)?).collect())
    })
}

/// Updates the package lists for `state: latest`: new versions are not found otherwise.
pub(super) fn refresh<'a>(
    values: &'a Values,
    cx: Context<'a>,
) -> HostFuture<'a, Result<Vec<HostChange>, Failure>> {
    Box::pin(async move {
        let spec = Spec::read(values)?;
        if spec.state != PackageState::Latest || !spec.updates_lists {
            return Ok(Vec::new());
        }
        Ok(vec![HostChange::Run(PackageManager::find(cx).await?.update_lists())])
    })
}

/// Removes the installed packages in one transaction.
fn removal(spec: &Spec, manager: PackageManager, installed: &BTreeMap<String, Installed>) -> Option<Step> {
    let differences: Vec<HostDifference> = spec
        .packages
        .iter()
        .filter_map(|package| {
            let current = installed.get(&package.name)?.version.clone();
            Some(HostDifference::value(&package.name, "version", Some(current), None))
        })
        .collect();
    let names: Vec<String> = differences.iter().map(|difference| difference.subject.clone()).collect();
    let change = HostChange::Run(manager.remove(&names));
    (!names.is_empty()).then_some(Step { differences, changes: vec![change], is_action: false })
}

/// Installs missing packages and other versions in one transaction.
fn installation(
    spec: &Spec,
    manager: PackageManager,
    installed: &BTreeMap<String, Installed>,
    candidates: &BTreeMap<String, String>,
) -> Option<Step> {
    let mut packages: Vec<&DesiredPackage> = Vec::new();
    let mut differences = Vec::new();
    for package in &spec.packages {
        let current = installed.get(&package.name).map(|it| it.version.clone());
        let candidate = candidates.get(&package.name);
        let is_desired = current.as_ref().is_some_and(|current| {
            package.accepts(current) && candidate.is_none_or(|candidate| candidate == current)
        });
        if !is_desired {
            let desired = package.version.as_ref().or(candidate).cloned();
            let desired = desired.unwrap_or_else(|| "installed".to_owned());
            differences.push(HostDifference::value(&package.name, "version", current, Some(desired)));
            packages.push(package);
        }
    }
    if packages.is_empty() {
        return None;
    }
    let is_update_due = spec.updates_lists && spec.state != PackageState::Latest;
    let update = is_update_due.then(|| HostChange::Run(manager.update_lists()));
    let install = HostChange::Run(manager.install(&packages));
    let changes = update.into_iter().chain([install]).collect();
    Some(Step { differences, changes, is_action: false })
}

fn holding(
    spec: &Spec,
    manager: PackageManager,
    installed: &BTreeMap<String, Installed>,
) -> Result<Option<Step>, Failure> {
    let Some(hold) = spec.hold else { return Ok(None) };
    let differing = spec
        .packages
        .iter()
        .filter(|package| installed.get(&package.name).is_some_and(|it| it.is_held) != hold)
        .map(|package| package.name.clone());
    let names: Vec<String> = differing.collect();
    if names.is_empty() {
        return Ok(None);
    }
    let command = manager.hold(hold, &names);
    let command = command.ok_or_else(|| Failure::refused("`hold` is possible with apt only"))?;
    let text = |is_held: bool| Some(is_held.to_string());
    let differences =
        names.iter().map(|name| HostDifference::value(name, "hold", text(!hold), text(hold))).collect();
    Ok(Some(Step { differences, changes: vec![HostChange::Run(command)], is_action: false }))
}
