//! What expressions can call.

use axum::extract::State;
use serde::Serialize;
use stoker_yaql::people::{Entry, entries};
use utoipa::ToSchema;

use crate::http::answer::Answer;
use crate::http::error::ApiResult;
use crate::state::App;

/// A function, method, operator or property.
#[derive(Serialize, ToSchema)]
#[schema(as = YaqlFunction)]
pub(super) struct FunctionView {
    /// As it is written.
    #[schema(example = "where")]
    name: String,
    #[schema(example = "queries")]
    family: String,
    #[schema(example = json!(["collection.where(predicate)"]))]
    signatures: Vec<String>,
    doc: String,
    examples: Vec<ExampleView>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = YaqlExample)]
struct ExampleView {
    expression: String,
    /// As JSON, or a class of errors.
    result: String,
}

impl From<Entry> for FunctionView {
    fn from(entry: Entry) -> Self {
        let example = |(expression, result)| ExampleView { expression, result };
        Self {
            name: entry.title,
            family: entry.family,
            signatures: entry.signatures,
            doc: entry.doc,
            examples: entry.examples.into_iter().map(example).collect(),
        }
    }
}

/// What can be called in expressions of tasks, by family
#[utoipa::path(get, path = "/api/v1/yaql/functions", responses((status = 200, body = [FunctionView])))]
pub(super) async fn yaql_function_list(State(app): State<App>) -> ApiResult<Answer<Vec<FunctionView>>> {
    let all = entries(app.services.graphs.library().functions());
    Ok(Answer::ok(all.into_iter().map(FunctionView::from).collect()))
}
