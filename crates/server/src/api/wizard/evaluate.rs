//! Evaluation of the wizard while a user fills it in.

use axum::extract::State;
use stoker_api_types::wizard::{
    AnswersBody, ConflictView, ControlView, EvaluationView, OptionView, ProblemView,
};
use stoker_diagnostics::Diagnostic;
use stoker_registry::restrictions::RestrictionEffect;
use stoker_registry::wizard::ControlState;
use stoker_services::clusters::{WizardState, wizard_evaluate};

use crate::api::releases;
use crate::http::body::Document;
use crate::http::error::ApiResult;
use crate::http::path::PathParams;
use crate::http::response::ApiResponse;
use crate::state::App;

fn render_control(state: ControlState) -> ControlView {
    let RestrictionEffect { is_hidden: hidden, is_disabled: disabled, messages } = state.effect;
    let options = state.options.into_iter().map(|option| {
        let RestrictionEffect { is_hidden: hidden, is_disabled: disabled, messages } = option.effect;
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

fn render_evaluation(state: WizardState) -> EvaluationView {
    EvaluationView {
        controls: state.controls.into_iter().map(render_control).collect(),
        answers: state.answers,
        problems: state.problems.into_iter().map(render_problem).collect(),
        components: state.components,
        plugins: state.plugins,
        compatible: state.conflicts.is_empty(),
        conflicts: state.conflicts.into_iter().map(ConflictView::from).collect(),
    }
}

fn render_problem(problem: Diagnostic) -> ProblemView {
    let kind = problem.kind.unwrap_or_default().to_owned();
    ProblemView { path: problem.location.path, kind, message: problem.message }
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
) -> ApiResult<ApiResponse<EvaluationView>> {
    let AnswersBody { answers, mode: requested_mode } = document.request()?;
    let answers = answers.unwrap_or_default();
    let mut session = app.store.snapshot().await?;
    let release = releases::find(&mut session, &path).await?;
    let pool = &app.services.planning.plans;
    let state = wizard_evaluate(pool, &mut session, release, requested_mode.as_deref(), answers).await?;
    Ok(ApiResponse::ok(render_evaluation(state)))
}
