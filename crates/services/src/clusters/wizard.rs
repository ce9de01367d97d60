//! Evaluation of the wizard while a user fills it in.

use serde_json::json;
use stoker_diagnostics::Diagnostic;
use stoker_model::{Json, JsonMap, Release};
use stoker_registry::components::Registry;
use stoker_registry::wizard::{ControlState, WizardEvaluation, WizardResult};
use stoker_store::Session;

use super::choice::Choice;
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
    /// Conflicts between the components, and reasons against enabling the plugins.
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
    let mut mode = modes::choose(&release.body, requested_mode)?;
    let mut evaluated = evaluate_in(pool, session, &release, &mode, &answers).await?;
    // Compatible plugins depend on the mode, and an answer may set the mode: evaluate again with that mode.
    let answered =
        bound_mode(&evaluated.result).filter(|answered| requested_mode.is_none() && *answered != mode);
    if let Some(answered) = answered.map(str::to_owned) {
        mode = modes::choose(&release.body, Some(&answered))?;
        evaluated = evaluate_in(pool, session, &release, &mode, &answers).await?;
    }
    let Evaluated { catalog, registry, mut state, result } = evaluated;
    let mut choice = Choice::of_answers(session, &catalog, &registry, &result, mode).await?;
    state.problems.append(&mut choice.problems);
    state.plugins = choice.plugin_names().cloned().collect();
    // The checks of enabling repeat the conflicts between components.
    if state.conflicts.is_empty() {
        let mut settings = catalog.settings();
        choice.apply(&mut settings);
        let problems = choice.plugin_problems(session, &release, &settings).await?;
        state.conflicts = problems.iter().map(plugin_conflict).collect();
    }
    Ok(state)
}

/// Returns a reason against enabling a plugin in the form of a conflict.
fn plugin_conflict(problem: &Diagnostic) -> Json {
    json!({"kind": problem.kind.unwrap_or("plugin"), "plugin": problem.location.plugin, "message": problem.message})
}

struct Evaluated {
    catalog: Catalog,
    registry: Registry,
    state: WizardState,
    /// Result of the effective values.
    result: WizardResult,
}

async fn evaluate_in(
    pool: &PlanCache,
    session: &mut Session,
    release: &Release,
    mode: &str,
    answers: &JsonMap,
) -> ServiceResult<Evaluated> {
    let catalog = Catalog::read(session, release.clone(), Some(mode)).await?;
    let (mode, answers) = (mode.to_owned(), answers.clone());
    pool.compute(move || evaluate(catalog, &mode, &answers)).await?
}

fn evaluate(catalog: Catalog, mode: &str, answers: &JsonMap) -> ServiceResult<Evaluated> {
    let registry = catalog.registry();
    let wizard = Wizard::new(&catalog, &registry, mode)?;
    let WizardEvaluation { controls, answers: effective, .. } = wizard.evaluate(answers);
    // Valid answers are what a cluster is created from. Those of other answers are replaced.
    let (problems, result) = match wizard.choose(answers) {
        Ok(result) => (Vec::new(), result),
        Err(problems) => (problems, wizard.choose(&effective).unwrap_or_default()),
    };
    let conflicts = if result.components.is_empty() && !wizard.is_generated() {
        Vec::new()
    } else {
        decide(&catalog, &registry, &result.components).conflicts
    };
    let state = WizardState {
        controls,
        answers: effective,
        problems,
        components: result.components.clone(),
        plugins: Vec::new(),
        conflicts: conflicts_json(&wizard.registry(&registry), &conflicts),
    };
    Ok(Evaluated { catalog, registry, state, result })
}
