//! Reference of the functions that expressions can call.

use axum::extract::State;
use stoker_api_types::yaql::{ExampleView, FunctionView};
use stoker_yaql::presentation::{Entry, entries};

use crate::http::error::ApiResult;
use crate::http::response::ApiResponse;
use crate::state::App;

pub(super) fn render_function(entry: Entry) -> FunctionView {
    let example = |(expression, result)| ExampleView { expression, result };
    FunctionView {
        name: entry.title,
        family: entry.family,
        signatures: entry.signatures,
        doc: entry.doc,
        examples: entry.examples.into_iter().map(example).collect(),
    }
}

/// List YAQL functions
///
/// Returns the functions, methods, operators and properties that expressions of tasks can use, by family.
#[utoipa::path(get, path = "/api/v1/yaql/functions", responses((status = 200, body = [FunctionView])))]
pub(super) async fn yaql_function_list(State(app): State<App>) -> ApiResult<ApiResponse<Vec<FunctionView>>> {
    let functions = entries(app.services.graphs.library().functions());
    Ok(ApiResponse::ok(functions.into_iter().map(render_function).collect()))
}
