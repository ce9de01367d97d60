//! The wizard while somebody fills it in.

use axum::extract::State;
use serde::Serialize;
use stoker_manifest::reader::{json_map, nullable, string_of};
use stoker_model::{Json, JsonMap};
use stoker_registry::components::ComponentName;
use stoker_registry::restrictions::Effect;
use stoker_registry::wizard::{AnswerProblem, ControlState, Evaluation};
use utoipa::ToSchema;
use stoker_services::plugins::catalog::{Catalog, shown_findings};
use stoker_services::plugins::wizard::{Wizard, bound_mode, decide};

use crate::api::clusters::modes;
use crate::api::releases;
use crate::http::answer::Answer;
use crate::http::body::Document;
use crate::http::error::ApiResult;
use crate::http::path::PathParams;
use crate::state::App;

/// Answers so far.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documentation of the body, which is read with all its problems")]
pub(super) struct AnswersBody {
    /// `{Pane: {control: value}}`; what is not answered has its default.
    #[schema(nullable = false, value_type = Option<Object>, example = json!({"Compute": {"vcenter": true}}))]
    answers: Option<JsonMap>,
    /// The mode of the cluster, unless an answer sets it.
    #[schema(example = "ha_compact")]
    mode: Option<String>,
}

/// The wizard after these answers.
#[derive(Serialize, ToSchema)]
#[schema(as = WizardEvaluation)]
pub(super) struct EvaluationView {
    /// In the order in which they are asked.
    controls: Vec<ControlView>,
    /// Every control with the value that counts.
    #[schema(value_type = Object)]
    answers: JsonMap,
    /// What is wrong with the answers as they were given; a cluster cannot be made of them.
    problems: Vec<ProblemView>,
    /// Components that the values stand for.
    components: Vec<String>,
    /// Plugins that become enabled with them.
    plugins: Vec<String>,
    /// Whether these components go together.
    compatible: bool,
    /// What speaks against it, each with a `message`.
    #[schema(value_type = Vec<Object>)]
    conflicts: Vec<Json>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = WizardControl)]
struct ControlView {
    #[schema(example = "Network")]
    pane: String,
    #[schema(example = "manager")]
    control: String,
    /// What counts: the answer, the default, or what is left when neither is possible.
    #[schema(value_type = serde_json::Value)]
    value: Json,
    /// Whether the answer was given up because something else forbids it.
    dropped: bool,
    hidden: bool,
    disabled: bool,
    /// Why, in words.
    messages: Vec<String>,
    /// Of a choice, in its order.
    options: Vec<OptionView>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = WizardOption)]
struct OptionView {
    #[schema(value_type = serde_json::Value)]
    data: Json,
    hidden: bool,
    disabled: bool,
    messages: Vec<String>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = WizardProblem)]
struct ProblemView {
    /// `Pane.control`.
    #[schema(example = "Network.manager")]
    path: String,
    /// `unknown`, `value`, `restricted` or `condition`.
    #[schema(example = "restricted")]
    kind: &'static str,
    message: String,
}

impl From<ControlState> for ControlView {
    fn from(state: ControlState) -> Self {
        let Effect { is_hidden: hidden, is_disabled: disabled, messages } = state.effect;
        let options = state.options.into_iter().map(|option| {
            let Effect { is_hidden: hidden, is_disabled: disabled, messages } = option.effect;
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

impl From<AnswerProblem> for ProblemView {
    fn from(problem: AnswerProblem) -> Self {
        Self { path: problem.path, kind: problem.kind, message: problem.message }
    }
}

/// What can be chosen in the wizard after some answers, and why the rest cannot
///
/// What has become impossible does not stay chosen: see `dropped`.
#[utoipa::path(
    post, path = "/api/v1/releases/{id}/wizard/evaluate", params(("id" = i64, Path)), request_body = AnswersBody,
    responses((status = 200, body = EvaluationView))
)]
pub(super) async fn release_wizard_evaluate(
    State(app): State<App>,
    path: PathParams,
    document: Document,
) -> ApiResult<Answer<EvaluationView>> {
    let (answers, given_mode) = document.fields(|fields| {
        let answers = fields.optional("answers", json_map);
        let mode = fields.optional("mode", nullable(string_of(1..=255))).flatten();
        Some((answers.unwrap_or_default(), mode))
    })?;
    let mut session = app.store.snapshot().await?;
    let release = releases::find(&mut session, &path).await?;
    let mode = modes::choose(&release.body, given_mode.as_deref())?;
    let catalog = Catalog::read(&mut session, release.clone(), Some(&mode)).await?;
    let (given, answered) = (mode.clone(), answers.clone());
    let (mut shown, bound) = app.services.planning.plans.compute(move || view(&catalog, &given, &answered)).await??;
    // Which plugins fit depends on the mode, and the mode may be an answer.
    if let Some(bound) = bound.filter(|bound| given_mode.is_none() && *bound != mode) {
        let mode = modes::choose(&release.body, Some(&bound))?;
        let catalog = Catalog::read(&mut session, release, Some(&mode)).await?;
        shown = app.services.planning.plans.compute(move || view(&catalog, &mode, &answers)).await??.0;
    }
    Ok(Answer::ok(shown))
}

/// The wizard after the answers, and the mode that they set.
fn view(catalog: &Catalog, mode: &str, answers: &JsonMap) -> ApiResult<(EvaluationView, Option<String>)> {
    let registry = catalog.registry();
    let wizard = Wizard::new(catalog, &registry, mode)?;
    let Evaluation { controls, answers: counting, .. } = wizard.evaluate(answers);
    let problems = wizard.choose(answers).err().unwrap_or_default();
    let chosen = wizard.choose(&counting).unwrap_or_default();
    let bound = bound_mode(&chosen).map(str::to_owned);
    let mut plugins = chosen.plugins;
    let names = chosen.components.iter().filter_map(|name| ComponentName::parse(name));
    plugins.extend(registry.plugins_of(&names.collect::<Vec<_>>()).into_iter().map(str::to_owned));
    let conflicts = if chosen.components.is_empty() {
        Vec::new()
    } else {
        decide(catalog, &registry, &chosen.components).conflicts
    };
    let shown = EvaluationView {
        controls: controls.into_iter().map(ControlView::from).collect(),
        answers: counting,
        problems: problems.into_iter().map(ProblemView::from).collect(),
        components: chosen.components,
        plugins: plugins.into_iter().collect(),
        compatible: conflicts.is_empty(),
        conflicts: shown_findings(&registry, &conflicts),
    };
    Ok((shown, bound))
}
