//! Evaluation of a YAQL expression over the state of a node, with the values of its subexpressions.

use axum::extract::State as Extracted;
use serde::Serialize;
use stoker_manifest::reader::{identifier, json_map, string_with_length};
use stoker_model::{ClusterId, Json, JsonMap};
use stoker_state::{Secrets, StateDocument, document as facts};
use stoker_planner::{evaluate_observed, options};
use stoker_services::planning::NodeStates;
use stoker_yaql::json::{WriteOptions, write};
use stoker_yaql::presentation::{ExplainNode, Trace, describe_error, explain_tree};
use stoker_yaql::{Engine, Error, Result};
use utoipa::ToSchema;

use crate::access::caller::Authenticated;
use crate::api::clusters::access::find_cluster;
use crate::http::response::ApiResponse;
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::state::App;

const EXPRESSION_MAX: usize = 20_000;
/// Maximum size of a result. Larger ones are unreadable on a screen.
const RESULT_BYTES_MAX: usize = 1 << 20;

/// Expression and the data over which it is evaluated.
#[derive(ToSchema)]
#[schema(as = YaqlQuestion)]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
struct EvaluationBody {
    /// Expression to evaluate.
    #[schema(example = "$.roles", max_length = 20_000)]
    expression: String,
    /// ID of the cluster of `node`.
    #[schema(nullable = false, example = 1)]
    cluster: Option<i64>,
    /// ID of the node whose state is `$`.
    #[schema(nullable = false, example = 3)]
    node: Option<i64>,
    /// Task whose applied state on the node is the old state.
    #[schema(nullable = false, example = "install")]
    task: Option<String>,
    /// Value of `$` if no node is specified.
    #[schema(nullable = false, value_type = Option<Object>)]
    data: Option<JsonMap>,
}

struct EvaluationRequest {
    expression: String,
    target: Option<(ClusterId, i64)>,
    task: Option<String>,
    data: JsonMap,
}

/// Result of an evaluation.
#[derive(Serialize, ToSchema)]
#[schema(as = YaqlAnswer)]
pub(super) struct AnswerView {
    /// Result with secrets masked. Null in case of an error.
    value: Json,
    /// Error of the evaluation.
    error: Option<ErrorView>,
    /// Subexpressions with their values. Null if the expression has a syntax error.
    explanation: Option<PartView>,
    /// Paths that the expression may read.
    reads: Vec<String>,
}

/// Error of an evaluation.
#[derive(Serialize, ToSchema)]
#[schema(as = YaqlError)]
struct ErrorView {
    /// Human-readable message.
    message: String,
    /// Class of the error.
    #[schema(example = "NoMatchingFunctionException")]
    class: String,
    /// How to fix the expression.
    help: Option<String>,
    /// Start of the span in the expression, as byte offset.
    start: Option<u32>,
    /// End of the span in the expression, as byte offset.
    end: Option<u32>,
}

/// Subexpression with its values.
#[derive(Serialize, ToSchema)]
#[schema(as = YaqlPart, no_recursion)]
struct PartView {
    /// Source text of the subexpression.
    text: String,
    /// Number of evaluations.
    count: u64,
    /// First few values, truncated.
    values: Vec<String>,
    /// Error of the subexpression.
    error: Option<String>,
    /// Subexpressions of this one.
    #[schema(no_recursion)]
    parts: Vec<PartView>,
}

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
    let request = read(&document)?;
    let states = match request.target {
        Some((cluster, node)) => {
            let mut session = app.store.snapshot().await?;
            let cluster_record = find_cluster(&mut session, &login, cluster).await?;
            let cluster = cluster_record
                .ok_or_else(|| ApiError::bad_request(format!("cluster {cluster} does not exist")))?;
            let (uid, task) = (node.to_string(), request.task.as_deref());
            NodeStates::read(&app.services.graphs, &mut session, &cluster, &uid, task).await?
        }
        None => NodeStates {
            new: StateDocument { common: facts(&request.data), node: facts(&JsonMap::new()) },
            old: None,
            secrets: Secrets::default(),
            n_nodes: 1,
        },
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

fn read(document: &Document) -> ApiResult<EvaluationRequest> {
    let mut request = document.fields(|fields| {
        let expression = fields.required("expression", string_with_length(1..=EXPRESSION_MAX));
        let cluster = fields.optional("cluster", identifier);
        let node = fields.optional("node", identifier);
        let task = fields.optional("task", string_with_length(1..=255));
        let data = fields.optional("data", json_map).unwrap_or_default();
        Some((cluster, node, EvaluationRequest { expression: expression?, target: None, task, data }))
    })?;
    request.2.target = match (request.0, request.1) {
        (Some(cluster), Some(node)) => Some((ClusterId(cluster), node)),
        (None, None) => None,
        _ => return Err(ApiError::bad_request("specify both `cluster` and `node`, or neither")),
    };
    Ok(request.2)
}

fn evaluate_expression(engine: &Engine, source: &str, states: &NodeStates) -> AnswerView {
    let failure = |error: &Error| AnswerView {
        value: Json::Null,
        error: Some(ErrorView::new(error, &states.secrets)),
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
    let explanation = PartView::new(&explain_tree(&expression.program().tree, &trace), &states.secrets);
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

impl ErrorView {
    fn new(error: &Error, secrets: &Secrets) -> Self {
        Self {
            message: secrets.mask_text(&describe_error(error.class, &error.message)),
            class: error.class.name().to_owned(),
            help: error.help.as_deref().map(|help| secrets.mask_text(help)),
            start: error.span.map(|span| span.start),
            end: error.span.map(|span| span.end),
        }
    }
}

impl PartView {
    fn new(part: &ExplainNode, secrets: &Secrets) -> Self {
        Self {
            text: part.text.clone(),
            count: part.trace.count as u64,
            values: part.trace.values.iter().map(|value| secrets.mask_text(value)).collect(),
            error: part.trace.error.as_deref().map(|error| secrets.mask_text(error)),
            parts: part.children.iter().map(|part| Self::new(part, secrets)).collect(),
        }
    }
}
