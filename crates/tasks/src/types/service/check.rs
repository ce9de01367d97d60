//! Check of `service`.

use stoker_model::HostDifference;

use super::spec::{DesiredState, Spec};
use crate::context::Context;
use crate::host::{HostChange, HostFuture, UnitChange, UnitState};
use crate::outcome::Failure;
use crate::resource::Step;
use crate::values::Values;

pub(super) fn check<'a>(values: &'a Values, cx: Context<'a>) -> HostFuture<'a, Result<Vec<Step>, Failure>> {
    Box::pin(async move {
        let spec = Spec::read(values)?;
        let unit = cx.host.unit(&spec.unit).await?;
        steps(&spec, &unit)
    })
}

fn is_enabled(unit: &UnitState) -> bool {
    // `enabled-runtime` ends with the next boot.
    unit.file == "enabled"
}

fn is_masked(unit: &UnitState) -> bool {
    unit.load == "masked" || unit.file.starts_with("masked")
}

fn steps(spec: &Spec, unit: &UnitState) -> Result<Vec<Step>, Failure> {
    let name = spec.unit.as_str();
    let must_run =
        spec.state.is_some_and(|state| state != DesiredState::Stopped) || spec.enabled == Some(true);
    if unit.load == "not-found" && (must_run || spec.masked == Some(true)) {
        return Err(Failure::failed(format!("the unit `{name}` does not exist; is its package installed?")));
    }
    let step = |attribute: &str, old: &str, new: &str, change: UnitChange| {
        let difference = HostDifference::value(name, attribute, Some(old.to_owned()), Some(new.to_owned()));
        Step::new(difference, HostChange::Unit { name: name.to_owned(), change })
    };
    let mut steps = Vec::new();
    // Unmask before and mask after the other changes: a masked unit cannot be started.
    if spec.masked == Some(false) && is_masked(unit) {
        steps.push(step("masked", "true", "false", UnitChange::Unmask));
    }
    match spec.enabled {
        // Static units have no installation and always count as enabled.
        Some(true)
            if !is_enabled(unit) && !matches!(unit.file.as_str(), "static" | "alias" | "generated") =>
        {
            steps.push(step("enabled", "false", "true", UnitChange::Enable));
        }
        Some(false) if unit.file.starts_with("enabled") => {
            steps.push(step("enabled", "true", "false", UnitChange::Disable));
        }
        _ => {}
    }
    let is_active = unit.active == "active";
    match spec.state {
        Some(DesiredState::Running) if !is_active => {
            steps.push(step("state", &unit.active, "active", UnitChange::Start));
        }
        Some(DesiredState::Stopped) if !matches!(unit.active.as_str(), "inactive" | "failed" | "") => {
            steps.push(step("state", &unit.active, "inactive", UnitChange::Stop));
        }
        Some(DesiredState::Restarted) => {
            steps.push(Step {
                is_action: true,
                ..step("state", &unit.active, "restarted", UnitChange::Restart)
            });
        }
        Some(DesiredState::Reloaded) => {
            let change = UnitChange::Reload;
            steps.push(Step { is_action: true, ..step("state", &unit.active, "reloaded", change) });
        }
        _ => {}
    }
    if spec.masked == Some(true) && !is_masked(unit) {
        steps.push(step("masked", "false", "true", UnitChange::Mask));
    }
    Ok(steps)
}
