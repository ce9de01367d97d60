//! Evaluation of a YAQL expression over the state of a node, with the values of its subexpressions.

use axum::extract::State as Extracted;
use stoker_api_types::yaql::{AnswerView, ErrorView, EvaluationBody, PartView};
use stoker_model::{ClusterId, Json, JsonMap};
use stoker_planner::{evaluate_observed, options};
use stoker_services::planning::NodeStates;
use stoker_state::{EffectiveState, Secrets, document as facts};
use stoker_yaql::json::{WriteOptions, write};
use stoker_yaql::presentation::{ExplainNode, Trace, describe_error, explain_tree};
use stoker_yaql::{Engine, Error, Result};

use crate::access::caller::Authenticated;
use crate::api::clusters::access::find_cluster;
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::response::ApiResponse;
use crate::state::App;

/// Maximum size of a result. Larger results are unreadable on a screen.
const RESULT_BYTES_MAX: usize = 1 << 20;

/// Evaluate an expression
///
/// Evaluates a YAQL expression over the state of a node as a task would read it, or over `data`.
#[utoipa::path(
    post, path = "/api/v1/yaql/evaluate", request_body = EvaluationBody,
    responses((status = 200, body = AnswerView))
)]
pub(super) async fn yaql_evaluate(
    Extracted(app): Extracted<App>,
    login: Authenticated,
    document: Document,
) -> ApiResult<ApiResponse<AnswerView>> {
    let request: EvaluationBody = document.request()?;
    let states = match (request.cluster.map(ClusterId), request.node) {
        (Some(cluster), Some(node)) => {
            let mut session = app.store.snapshot().await?;
            let cluster_record = find_cluster(&mut session, &login, cluster).await?;
            let cluster = cluster_record
                .ok_or_else(|| ApiError::bad_request(format!("cluster {cluster} does not exist")))?;
            let (uid, graph_type) = (node.to_string(), request.graph_type.unwrap_or_default());
            let task = request.task.as_deref().map(|task| (&graph_type, task));
            NodeStates::read(&app.services.graphs, &mut session, &cluster, &uid, task).await?
        }
        (None, None) => NodeStates {
            new: EffectiveState {
                common: facts(&request.data.unwrap_or_default()),
                node: facts(&JsonMap::new()),
            },
            old: None,
            secrets: Secrets::default(),
            n_nodes: 1,
        },
        _ => return Err(ApiError::bad_request("specify both `cluster` and `node`, or neither")),
    };
    let engine = Engine::new(app.services.graphs.library());
    Ok(ApiResponse::ok(
        app.services
            .planning
            .plans
            .compute(move || evaluate_expression(&engine, &request.expression, &states))
            .await?,
    ))
}

fn evaluate_expression(engine: &Engine, source: &str, states: &NodeStates) -> AnswerView {
    let failure = |error: &Error| AnswerView {
        value: Json::Null,
        error: Some(render_error(error, &states.secrets)),
        explanation: None,
        reads: Vec::new(),
    };
    let expression = match engine.compile(source) {
        Ok(expression) => expression,
        Err(error) => return failure(&error),
    };
    let mut trace = Trace::default();
    let options = options(states.n_nodes);
    let result = evaluate_observed(&expression, &states.new, states.old.as_ref(), &options, Some(&mut trace));
    let explanation = render_part(&explain_tree(&expression.program().tree, &trace), &states.secrets);
    let reads = expression.reads().paths.iter().map(ToString::to_string).collect();
    match result.and_then(|value| to_json(&value)) {
        Ok(mut value) => {
            states.secrets.mask(&mut value);
            AnswerView { value, error: None, explanation: Some(explanation), reads }
        }
        Err(error) => AnswerView { explanation: Some(explanation), reads, ..failure(&error) },
    }
}

fn to_json(value: &stoker_yaql::Value) -> Result<Json> {
    let options = WriteOptions { ascii: false, tuples_as_arrays: true, ..WriteOptions::default() };
    let text = write(value, &options)?;
    if text.len() > RESULT_BYTES_MAX {
        return Ok(Json::from(format!(
            "the result of {} KiB is too large to display; narrow the expression",
            text.len() >> 10
        )));
    }
    Ok(serde_json::from_str(&text).unwrap_or(Json::String(text)))
}

fn render_error(error: &Error, secrets: &Secrets) -> ErrorView {
    ErrorView {
        message: secrets.mask_text(&describe_error(error.class, &error.message)),
        class: error.class.name().to_owned(),
        help: error.help.as_deref().map(|help| secrets.mask_text(help)),
        start: error.span.map(|span| span.start),
        end: error.span.map(|span| span.end),
    }
}

fn render_part(part: &ExplainNode, secrets: &Secrets) -> PartView {
    PartView {
        text: part.text.clone(),
        count: part.trace.count as u64,
        values: part.trace.values.iter().map(|value| secrets.mask_text(value)).collect(),
        error: part.trace.error.as_deref().map(|error| secrets.mask_text(error)),
        parts: part.children.iter().map(|part| render_part(part, secrets)).collect(),
    }
}
