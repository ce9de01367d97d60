//! Check of `service`.

use std::collections::BTreeMap;

use stoker_model::HostDifference;

use super::spec::{DesiredState, Spec};
use crate::context::Context;
use crate::host::{Command, CommandEffect, HostChange, HostFuture};
use crate::outcome::Failure;
use crate::resource::Step;
use crate::values::Values;

pub(super) fn check<'a>(values: &'a Values, cx: Context<'a>) -> HostFuture<'a, Result<Vec<Step>, Failure>> {
    Box::pin(async move {
        let spec = Spec::read(values)?;
        let unit = UnitState::query(&spec.unit, cx).await?;
        steps(&spec, &unit)
    })
}

/// State of a unit, as systemd reports it.
#[derive(Debug)]
struct UnitState {
    /// `loaded`, `not-found`, `masked`, …
    load: String,
    /// `active`, `inactive`, `failed`, `activating`, …
    active: String,
    /// `enabled`, `disabled`, `static`, `masked`, …
    file: String,
}

impl UnitState {
    async fn query(unit: &str, cx: Context<'_>) -> Result<Self, Failure> {
        let properties = "--property=LoadState,ActiveState,UnitFileState";
        let command =
            Command::argv(["systemctl", "show", properties, "--", unit]).effect(CommandEffect::Reads);
        let result = cx.host.query(command).await?;
        if !result.is_success() {
            return Err(Failure::failed(format!("cannot query systemd: {}", result.stderr.trim())));
        }
        let mut values: BTreeMap<&str, &str> =
            result.stdout.lines().filter_map(|line| line.split_once('=')).collect();
        let mut take = |name: &str| values.remove(name).unwrap_or_default().to_owned();
        Ok(Self { load: take("LoadState"), active: take("ActiveState"), file: take("UnitFileState") })
    }

    fn is_enabled(&self) -> bool {
        self.file.starts_with("enabled")
    }

    fn is_masked(&self) -> bool {
        self.load == "masked" || self.file.starts_with("masked")
    }
}

fn steps(spec: &Spec, unit: &UnitState) -> Result<Vec<Step>, Failure> {
    let name = spec.unit.as_str();
    let must_run =
        spec.state.is_some_and(|state| state != DesiredState::Stopped) || spec.enabled == Some(true);
    if unit.load == "not-found" && (must_run || spec.masked == Some(true)) {
        return Err(Failure::failed(format!("the unit `{name}` does not exist; is its package installed?")));
    }
    let run = |verb: &str| HostChange::Run(Command::argv(["systemctl", verb, "--", name]));
    let step = |attribute: &str, old: &str, new: &str, verb: &str| {
        Step::new(
            HostDifference::value(name, attribute, Some(old.to_owned()), Some(new.to_owned())),
            run(verb),
        )
    };
    let mut steps = Vec::new();
    // Unmask before and mask after the other changes: a masked unit cannot be started.
    if spec.masked == Some(false) && unit.is_masked() {
        steps.push(step("masked", "true", "false", "unmask"));
    }
    match spec.enabled {
        // Static units have no installation and always count as enabled.
        Some(true)
            if !unit.is_enabled() && !matches!(unit.file.as_str(), "static" | "alias" | "generated") =>
        {
            steps.push(step("enabled", "false", "true", "enable"));
        }
        Some(false) if unit.is_enabled() => steps.push(step("enabled", "true", "false", "disable")),
        _ => {}
    }
    let is_active = unit.active == "active";
    match spec.state {
        Some(DesiredState::Running) if !is_active => {
            steps.push(step("state", &unit.active, "active", "start"));
        }
        Some(DesiredState::Stopped) if !matches!(unit.active.as_str(), "inactive" | "failed" | "") => {
            steps.push(step("state", &unit.active, "inactive", "stop"));
        }
        Some(DesiredState::Restarted) => {
            steps.push(Step { is_action: true, ..step("state", &unit.active, "restarted", "restart") });
        }
        Some(DesiredState::Reloaded) => {
            let verb = "reload-or-restart";
            steps.push(Step { is_action: true, ..step("state", &unit.active, "reloaded", verb) });
        }
        _ => {}
    }
    if spec.masked == Some(true) && !unit.is_masked() {
        steps.push(step("masked", "false", "true", "mask"));
    }
    Ok(steps)
}
