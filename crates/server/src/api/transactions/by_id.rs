//! Operations on one run.

use axum::extract::State;
use stoker_api_types::transactions::RunView;
use stoker_model::{Run, RunId};
use stoker_orchestrator::runs::delete_run;
use stoker_store::Session;

use super::access::require_run;
use super::view::render_details;
use crate::access::caller::Authenticated;
use crate::http::error::{ApiError, ApiResult};
use crate::http::etag::IfMatch;
use crate::http::path::PathParams;
use crate::http::query::{Query, query};
use crate::http::response::{ApiResponse, NoContent};
use crate::state::App;

/// Declares the operations on a run, which clients address as a transaction or as a task.
macro_rules! run_operations {
    ($show:ident, $delete:ident, $find:ident, $path:tt, $noun:tt, $description:tt) => {
        #[utoipa::path(
                    get, path = $path, summary = concat!("Retrieve a ", $noun), description = $description,
                    params(("id" = i64, Path)), responses((status = 200, body = RunView))
                )]
        pub(super) async fn $show(
            State(app): State<App>,
            login: Authenticated,
            path: PathParams,
        ) -> ApiResult<ApiResponse<RunView>> {
            let mut session = app.store.snapshot().await?;
            let run = $find(&mut session, &login, &path).await?;
            answer(&mut session, run).await
        }

        #[utoipa::path(
                    delete, path = $path, summary = concat!("Delete a ", $noun),
                    description = "Deletes the run, its child runs and their history.",
                    params(("id" = i64, Path), DeleteQuery), responses((status = 204))
                )]
        pub(super) async fn $delete(
            State(app): State<App>,
            login: Authenticated,
            path: PathParams,
            condition: IfMatch,
            mut query: Query,
        ) -> ApiResult<NoContent> {
            let DeleteQuery { force } = DeleteQuery::read(&mut query);
            query.finish()?;
            let mut writing = app.change(&login).await?;
            let run = $find(&mut writing, &login, &path).await?;
            delete_run(&app.orchestrator, writing, &run, &condition, force).await?;
            Ok(NoContent)
        }
    };
}

query! {
    /// Options of a deletion.
    pub(super) struct DeleteQuery {
        /// 1: delete the run even if it is active
        #[param(value_type = Option<String>)]
        force: bool = boolean,
    }
}

run_operations!(
    transaction_show,
    transaction_delete,
    transaction,
    "/api/v1/transactions/{id}",
    "transaction",
    "Runs that a later run superseded are returned, too."
);
run_operations!(
    task_show,
    task_delete,
    task,
    "/api/v1/tasks/{id}",
    "task",
    "Runs that a later run superseded are not found."
);

async fn transaction(session: &mut Session, login: &Authenticated, path: &PathParams) -> ApiResult<Run> {
    let id = path.id("id", RunId, "Transaction")?;
    require_run(session, login, id, "Transaction").await
}

async fn task(session: &mut Session, login: &Authenticated, path: &PathParams) -> ApiResult<Run> {
    let id = path.id("id", RunId, "Task")?;
    let run = require_run(session, login, id, "Task").await?;
    if run.is_hidden { Err(ApiError::not_found("Task")) } else { Ok(run) }
}

async fn answer(session: &mut Session, run: Run) -> ApiResult<ApiResponse<RunView>> {
    let generation = run.generation;
    Ok(ApiResponse::ok(render_details(session, run).await?).version(generation))
}
