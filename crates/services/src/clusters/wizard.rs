//! Evaluation of the wizard while a user fills it in.

use stoker_diagnostics::Diagnostic;
use stoker_model::{Json, JsonMap, Release};
use stoker_registry::components::ComponentName;
use stoker_registry::wizard::{ControlState, WizardEvaluation};
use stoker_store::Session;

use crate::error::ServiceResult;
use crate::metadata::modes;
use crate::planning::PlanCache;
use crate::plugins::catalog::{Catalog, conflicts_json};
use crate::plugins::wizard::{Wizard, bound_mode, decide};

/// State of a wizard after answers.
pub struct WizardState {
    /// Controls in display order.
    pub controls: Vec<ControlState>,
    /// Effective value of every control.
    pub answers: JsonMap,
    /// Problems of the submitted answers.
    pub problems: Vec<Diagnostic>,
    /// Components that the effective values select.
    pub components: Vec<String>,
    /// Plugins that these components enable.
    pub plugins: Vec<String>,
    /// Conflicts between the components.
    pub conflicts: Vec<Json>,
}

/// Returns the values that can be selected after the answers, and why others cannot. `pool` runs the
/// evaluation outside the threads that serve requests.
pub async fn wizard_evaluate(
    pool: &PlanCache,
    session: &mut Session,
    release: Release,
    requested_mode: Option<&str>,
    answers: JsonMap,
) -> ServiceResult<WizardState> {
    let mode = modes::choose(&release.body, requested_mode)?;
    let catalog = Catalog::read(session, release.clone(), Some(&mode)).await?;
    let (first_mode, first_answers) = (mode.clone(), answers.clone());
    let (state, answered_mode) =
        pool.compute(move || evaluate(&catalog, &first_mode, &first_answers)).await??;
    // Compatible plugins depend on the mode, and an answer may set the mode: evaluate again with that mode.
    match answered_mode.filter(|answered| requested_mode.is_none() && *answered != mode) {
        None => Ok(state),
        Some(answered) => {
            let mode = modes::choose(&release.body, Some(&answered))?;
            let catalog = Catalog::read(session, release, Some(&mode)).await?;
            Ok(pool.compute(move || evaluate(&catalog, &mode, &answers)).await??.0)
        }
    }
}

/// Evaluates the wizard. Also returns the mode that the answers set.
fn evaluate(
    catalog: &Catalog,
    mode: &str,
    answers: &JsonMap,
) -> ServiceResult<(WizardState, Option<String>)> {
    let registry = catalog.registry();
    let wizard = Wizard::new(catalog, &registry, mode)?;
    let WizardEvaluation { controls, answers: effective, .. } = wizard.evaluate(answers);
    let problems = wizard.choose(answers).err().unwrap_or_default();
    let chosen = wizard.choose(&effective).unwrap_or_default();
    let answered_mode = bound_mode(&chosen).map(str::to_owned);
    let mut plugins = chosen.plugins;
    let names = chosen.components.iter().filter_map(|name| ComponentName::parse(name));
    plugins.extend(registry.plugins_for(&names.collect::<Vec<_>>()).into_iter().map(str::to_owned));
    let conflicts = if chosen.components.is_empty() {
        Vec::new()
    } else {
        decide(catalog, &registry, &chosen.components).conflicts
    };
    let state = WizardState {
        controls,
        answers: effective,
        problems,
        components: chosen.components,
        plugins: plugins.into_iter().collect(),
        conflicts: conflicts_json(&registry, &conflicts),
    };
    Ok((state, answered_mode))
}
