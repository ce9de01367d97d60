//! Reference of the functions that expressions can call.

use axum::extract::State;
use serde::Serialize;
use stoker_yaql::presentation::{Entry, entries};
use utoipa::ToSchema;

use crate::http::response::ApiResponse;
use crate::http::error::ApiResult;
use crate::state::App;

/// Function, method, operator or property.
#[derive(Serialize, ToSchema)]
#[schema(as = YaqlFunction)]
pub(super) struct FunctionView {
    /// Name as it is written in expressions.
    #[schema(example = "where")]
    name: String,
    /// Group of related functions.
    #[schema(example = "queries")]
    family: String,
    /// Signatures.
    #[schema(example = json!(["collection.where(predicate)"]))]
    signatures: Vec<String>,
    /// Description.
    doc: String,
    /// Examples.
    examples: Vec<ExampleView>,
}

/// Example of a function.
#[derive(Serialize, ToSchema)]
#[schema(as = YaqlExample)]
struct ExampleView {
    /// Expression.
    expression: String,
    /// Result as JSON, or the class of the error.
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

/// List YAQL functions
///
/// Returns the functions, methods, operators and properties that expressions of tasks can use, by family.
#[utoipa::path(get, path = "/api/v1/yaql/functions", responses((status = 200, body = [FunctionView])))]
pub(super) async fn yaql_function_list(State(app): State<App>) -> ApiResult<ApiResponse<Vec<FunctionView>>> {
    let functions = entries(app.services.graphs.library().functions());
    Ok(ApiResponse::ok(functions.into_iter().map(FunctionView::from).collect()))
}
