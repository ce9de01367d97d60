//! Evaluation of the wizard while a user fills it in.

use axum::extract::State;
use stoker_api_types::wizard::{AnswersBody, ControlView, EvaluationView, OptionView, ProblemView};
use stoker_model::JsonMap;
use stoker_registry::components::ComponentName;
use stoker_registry::restrictions::Effect;
use stoker_registry::wizard::{AnswerProblem, ControlState, Evaluation};
use stoker_services::plugins::catalog::{Catalog, shown_findings};
use stoker_services::plugins::wizard::{Wizard, bound_mode, decide};

use crate::api::clusters::modes;
use crate::api::releases;
use crate::http::answer::Answer;
use crate::http::body::Document;
use crate::http::error::ApiResult;
use crate::http::path::PathParams;
use crate::state::App;

fn render_control(state: ControlState) -> ControlView {
    let Effect { is_hidden: hidden, is_disabled: disabled, messages } = state.effect;
    let options = state.options.into_iter().map(|option| {
        let Effect { is_hidden: hidden, is_disabled: disabled, messages } = option.effect;
        OptionView { data: option.data, hidden, disabled, messages }
    });
    ControlView {
        pane: state.pane,
        control: state.control,
        value: state.value,
        dropped: state.dropped.is_some(),
        hidden,
        disabled,
        messages,
        options: options.collect(),
    }
}

fn render_problem(problem: AnswerProblem) -> ProblemView {
    ProblemView { path: problem.path, kind: problem.kind.to_owned(), message: problem.message }
}

/// Evaluate the wizard of a release
///
/// Returns which values can be selected after the given answers, and why others cannot. Answers that are no
/// longer permitted are replaced: see `dropped`.
#[utoipa::path(
    post, path = "/api/v1/releases/{id}/wizard/evaluate", params(("id" = i64, Path)), request_body = AnswersBody,
    responses((status = 200, body = EvaluationView))
)]
pub(super) async fn release_wizard_evaluate(
    State(app): State<App>,
    path: PathParams,
    document: Document,
) -> ApiResult<Answer<EvaluationView>> {
    let AnswersBody { answers, mode: requested_mode } = document.request()?;
    let answers = answers.unwrap_or_default();
    let mut session = app.store.snapshot().await?;
    let release = releases::find(&mut session, &path).await?;
    let mode = modes::choose(&release.body, requested_mode.as_deref())?;
    let catalog = Catalog::read(&mut session, release.clone(), Some(&mode)).await?;
    let (first_mode, first_answers) = (mode.clone(), answers.clone());
    let (mut evaluation, answered_mode) =
        app.services.planning.plans.compute(move || view(&catalog, &first_mode, &first_answers)).await??;
    // Compatible plugins depend on the mode, and an answer may set the mode: evaluate again with that mode.
    if let Some(answered_mode) =
        answered_mode.filter(|answered_mode| requested_mode.is_none() && *answered_mode != mode)
    {
        let mode = modes::choose(&release.body, Some(&answered_mode))?;
        let catalog = Catalog::read(&mut session, release, Some(&mode)).await?;
        evaluation = app.services.planning.plans.compute(move || view(&catalog, &mode, &answers)).await??.0;
    }
    Ok(Answer::ok(evaluation))
}

/// Evaluates the wizard. Also returns the mode that the answers set.
fn view(catalog: &Catalog, mode: &str, answers: &JsonMap) -> ApiResult<(EvaluationView, Option<String>)> {
    let registry = catalog.registry();
    let wizard = Wizard::new(catalog, &registry, mode)?;
    let Evaluation { controls, answers: effective, .. } = wizard.evaluate(answers);
    let problems = wizard.choose(answers).err().unwrap_or_default();
    let chosen = wizard.choose(&effective).unwrap_or_default();
    let answered_mode = bound_mode(&chosen).map(str::to_owned);
    let mut plugins = chosen.plugins;
    let names = chosen.components.iter().filter_map(|name| ComponentName::parse(name));
    plugins.extend(registry.plugins_of(&names.collect::<Vec<_>>()).into_iter().map(str::to_owned));
    let conflicts = if chosen.components.is_empty() {
        Vec::new()
    } else {
        decide(catalog, &registry, &chosen.components).conflicts
    };
    let evaluation = EvaluationView {
        controls: controls.into_iter().map(render_control).collect(),
        answers: effective,
        problems: problems.into_iter().map(render_problem).collect(),
        components: chosen.components,
        plugins: plugins.into_iter().collect(),
        compatible: conflicts.is_empty(),
        conflicts: shown_findings(&registry, &conflicts),
    };
    Ok((evaluation, answered_mode))
}
