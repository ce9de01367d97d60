//! An expression over the state of a node, with what every part of it was.

use axum::extract::State as Extracted;
use serde::Serialize;
use stoker_manifest::reader::{identifier, json_map, string_of};
use stoker_model::{ClusterId, Json, JsonMap};
use stoker_planner::state::State;
use stoker_planner::{evaluate_observed, options};
use stoker_state::{Secrets, document as facts};
use stoker_yaql::json::{WriteOptions, write};
use stoker_yaql::people::{Part, Trace, in_words, parts};
use stoker_yaql::{Engine, Error, Result};
use utoipa::ToSchema;
use stoker_services::planning::NodeStates;

use crate::access::caller::Authenticated;
use crate::api::clusters::access::find_cluster;
use crate::http::answer::Answer;
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::state::App;

const EXPRESSION_MAX: usize = 20_000;
/// Longer results are for programs; nobody reads them on a screen.
const RESULT_BYTES_MAX: usize = 1 << 20;

#[derive(ToSchema)]
#[schema(as = YaqlQuestion)]
#[expect(dead_code, reason = "documentation of the body, which is read with all its problems")]
struct QuestionBody {
    #[schema(example = "$.roles", max_length = 20_000)]
    expression: String,
    /// The cluster of `node`.
    #[schema(nullable = false, example = 1)]
    cluster: Option<i64>,
    /// `$` is the state of this node.
    #[schema(nullable = false, example = 3)]
    node: Option<i64>,
    /// The old state is that with which this task last succeeded on the node.
    #[schema(nullable = false, example = "install")]
    task: Option<String>,
    /// What `$` is where no node is named.
    #[schema(nullable = false, value_type = Option<Object>)]
    data: Option<JsonMap>,
}

struct Question {
    expression: String,
    place: Option<(ClusterId, i64)>,
    task: Option<String>,
    data: JsonMap,
}

/// What an expression is, or why it is nothing.
#[derive(Serialize, ToSchema)]
#[schema(as = YaqlAnswer)]
pub(super) struct AnswerView {
    /// The result, secrets masked; null if there is an error.
    value: Json,
    error: Option<ErrorView>,
    /// The expression with what each of its parts was; null if it cannot be read.
    explanation: Option<PartView>,
    /// What it may read.
    reads: Vec<String>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = YaqlError)]
struct ErrorView {
    message: String,
    #[schema(example = "NoMatchingFunctionException")]
    class: String,
    help: Option<String>,
    /// Where in the expression, in bytes.
    start: Option<u32>,
    end: Option<u32>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = YaqlPart, no_recursion)]
struct PartView {
    text: String,
    /// How often it was evaluated.
    count: u64,
    /// The first few values, in short.
    values: Vec<String>,
    error: Option<String>,
    #[schema(no_recursion)]
    parts: Vec<PartView>,
}

/// Evaluate an expression as a task on a node would see it, or over data of your own
#[utoipa::path(
    post, path = "/api/v1/yaql/evaluate", request_body = QuestionBody,
    responses((status = 200, body = AnswerView))
)]
pub(super) async fn yaql_evaluate(
    Extracted(app): Extracted<App>,
    login: Authenticated,
    document: Document,
) -> ApiResult<Answer<AnswerView>> {
    let question = read(&document)?;
    let states = match question.place {
        Some((cluster, node)) => {
            let mut session = app.store.snapshot().await?;
            let found = find_cluster(&mut session, &login, cluster).await?;
            let cluster =
                found.ok_or_else(|| ApiError::bad_request(format!("there is no cluster {cluster}")))?;
            let (uid, task) = (node.to_string(), question.task.as_deref());
            NodeStates::read(&app.services.graphs, &mut session, &cluster, &uid, task).await?
        }
        None => NodeStates {
            new: State { common: facts(&question.data), node: facts(&JsonMap::new()) },
            old: None,
            secrets: Secrets::default(),
            n_nodes: 1,
        },
    };
    let engine = Engine::new(app.services.graphs.library());
    Ok(Answer::ok(app.services.planning.plans.compute(move || answer(&engine, &question.expression, &states)).await?))
}

fn read(document: &Document) -> ApiResult<Question> {
    let mut question = document.fields(|fields| {
        let expression = fields.required("expression", string_of(1..=EXPRESSION_MAX));
        let cluster = fields.optional("cluster", identifier);
        let node = fields.optional("node", identifier);
        let task = fields.optional("task", string_of(1..=255));
        let data = fields.optional("data", json_map).unwrap_or_default();
        Some((cluster, node, Question { expression: expression?, place: None, task, data }))
    })?;
    question.2.place = match (question.0, question.1) {
        (Some(cluster), Some(node)) => Some((ClusterId(cluster), node)),
        (None, None) => None,
        _ => return Err(ApiError::bad_request("say both `cluster` and `node`, or neither")),
    };
    Ok(question.2)
}

fn answer(engine: &Engine, source: &str, states: &NodeStates) -> AnswerView {
    let nothing = |error: &Error| AnswerView {
        value: Json::Null,
        error: Some(ErrorView::new(error, &states.secrets)),
        explanation: None,
        reads: Vec::new(),
    };
    let expression = match engine.compile(source) {
        Ok(expression) => expression,
        Err(error) => return nothing(&error),
    };
    let mut trace = Trace::default();
    let options = options(states.n_nodes);
    let result = evaluate_observed(&expression, &states.new, states.old.as_ref(), &options, Some(&mut trace));
    let explanation = PartView::new(&parts(&expression.program().tree, &trace), &states.secrets);
    let reads = expression.reads().paths.iter().map(ToString::to_string).collect();
    match result.and_then(|value| shown(&value)) {
        Ok(mut value) => {
            states.secrets.mask(&mut value);
            AnswerView { value, error: None, explanation: Some(explanation), reads }
        }
        Err(error) => AnswerView { explanation: Some(explanation), reads, ..nothing(&error) },
    }
}

fn shown(value: &stoker_yaql::Value) -> Result<Json> {
    let options = WriteOptions { ascii: false, tuples_as_arrays: true, ..WriteOptions::default() };
    let text = write(value, &options)?;
    if text.len() > RESULT_BYTES_MAX {
        return Ok(Json::from(format!(
            "a result of {} kB is not shown; ask for less of it",
            text.len() >> 10
        )));
    }
    Ok(serde_json::from_str(&text).unwrap_or(Json::String(text)))
}

impl ErrorView {
    fn new(error: &Error, secrets: &Secrets) -> Self {
        Self {
            message: secrets.masked(&in_words(error.class, &error.message)),
            class: error.class.name().to_owned(),
            help: error.help.as_deref().map(|help| secrets.masked(help)),
            start: error.span.map(|span| span.start),
            end: error.span.map(|span| span.end),
        }
    }
}

impl PartView {
    fn new(part: &Part, secrets: &Secrets) -> Self {
        Self {
            text: part.text.clone(),
            count: part.seen.count as u64,
            values: part.seen.values.iter().map(|value| secrets.masked(value)).collect(),
            error: part.seen.error.as_deref().map(|error| secrets.masked(error)),
            parts: part.parts.iter().map(|part| Self::new(part, secrets)).collect(),
        }
    }
}
