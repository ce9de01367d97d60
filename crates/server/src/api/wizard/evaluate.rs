//! Evaluation of the wizard while a user fills it in.

use axum::extract::State;
use serde::Serialize;
use stoker_manifest::reader::{json_map, nullable, string_with_length};
use stoker_diagnostics::Diagnostic;
use stoker_model::{Json, JsonMap};
use stoker_registry::components::ComponentName;
use stoker_registry::restrictions::RestrictionEffect;
use stoker_registry::wizard::{ControlState, WizardEvaluation};
use stoker_services::plugins::catalog::{Catalog, conflicts_json};
use stoker_services::plugins::wizard::{Wizard, bound_mode, decide};
use utoipa::ToSchema;

use crate::api::clusters::modes;
use crate::api::releases;
use crate::http::response::ApiResponse;
use crate::http::body::Document;
use crate::http::error::ApiResult;
use crate::http::path::PathParams;
use crate::state::App;

/// Current answers.
#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
pub(super) struct AnswersBody {
    /// Answers: `{Pane: {control: value}}`. Omitted controls have their default.
    #[schema(nullable = false, value_type = Option<Object>, example = json!({"Compute": {"vcenter": true}}))]
    answers: Option<JsonMap>,
    /// Mode of the cluster, unless an answer sets it.
    #[schema(example = "ha_compact")]
    mode: Option<String>,
}

/// State of the wizard after the answers.
#[derive(Serialize, ToSchema)]
#[schema(as = WizardEvaluation)]
pub(super) struct EvaluationView {
    /// Controls in display order.
    controls: Vec<ControlView>,
    /// Effective value of every control.
    #[schema(value_type = Object)]
    answers: JsonMap,
    /// Problems of the submitted answers. A cluster cannot be created from answers with problems.
    problems: Vec<ProblemView>,
    /// Components that the effective values select.
    components: Vec<String>,
    /// Plugins that are enabled by these components.
    plugins: Vec<String>,
    /// Whether these components are compatible.
    compatible: bool,
    /// Conflicts between the components, each with a `message`.
    #[schema(value_type = Vec<Object>)]
    conflicts: Vec<Json>,
}

/// State of a control.
#[derive(Serialize, ToSchema)]
#[schema(as = WizardControl)]
struct ControlView {
    /// Name of the pane.
    #[schema(example = "Network")]
    pane: String,
    /// Name of the control.
    #[schema(example = "manager")]
    control: String,
    /// Effective value: the answer, the default, or the first permitted option if neither is permitted.
    #[schema(value_type = serde_json::Value)]
    value: Json,
    /// Whether the answer was replaced because a restriction forbids it.
    dropped: bool,
    /// Whether a restriction hides the control.
    hidden: bool,
    /// Whether a restriction disables the control.
    disabled: bool,
    /// Messages of the restrictions that apply.
    messages: Vec<String>,
    /// Options of a choice, in display order.
    options: Vec<OptionView>,
}

/// State of an option of a choice.
#[derive(Serialize, ToSchema)]
#[schema(as = WizardOption)]
struct OptionView {
    /// Value of the option.
    #[schema(value_type = serde_json::Value)]
    data: Json,
    /// Whether a restriction hides the option.
    hidden: bool,
    /// Whether a restriction disables the option.
    disabled: bool,
    /// Messages of the restrictions that apply.
    messages: Vec<String>,
}

/// Problem of an answer.
#[derive(Serialize, ToSchema)]
#[schema(as = WizardProblem)]
struct ProblemView {
    /// Path of the control: `Pane.control`.
    #[schema(example = "Network.manager")]
    path: String,
    /// Kind of problem: `unknown`, `value`, `restricted` or `condition`.
    #[schema(example = "restricted")]
    kind: &'static str,
    /// Human-readable message.
    message: String,
}

impl From<ControlState> for ControlView {
    fn from(state: ControlState) -> Self {
        let RestrictionEffect { is_hidden: hidden, is_disabled: disabled, messages } = state.effect;
        let options = state.options.into_iter().map(|option| {
            let RestrictionEffect { is_hidden: hidden, is_disabled: disabled, messages } = option.effect;
            OptionView { data: option.data, hidden, disabled, messages }
        });
        Self {
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
}

impl From<Diagnostic> for ProblemView {
    fn from(problem: Diagnostic) -> Self {
        let kind = problem.kind.unwrap_or_default();
        Self { path: problem.location.path, kind, message: problem.message }
    }
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
    let (answers, requested_mode) = document.fields(|fields| {
        let answers = fields.optional("answers", json_map);
        let mode = fields.optional("mode", nullable(string_with_length(1..=255))).flatten();
        Some((answers.unwrap_or_default(), mode))
    })?;
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
    Ok(ApiResponse::ok(evaluation))
}

/// Evaluates the wizard. Also returns the mode that the answers set.
fn view(catalog: &Catalog, mode: &str, answers: &JsonMap) -> ApiResult<(EvaluationView, Option<String>)> {
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
    let evaluation = EvaluationView {
        controls: controls.into_iter().map(ControlView::from).collect(),
        answers: effective,
        problems: problems.into_iter().map(ProblemView::from).collect(),
        components: chosen.components,
        plugins: plugins.into_iter().collect(),
        compatible: conflicts.is_empty(),
        conflicts: conflicts_json(&registry, &conflicts),
    };
    Ok((evaluation, answered_mode))
}
