//! What became of each task of a run on each node.

use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use stoker_model::{HistoryRecord, HistoryStatus, Json, JsonMap, RunId};
use stoker_store::{HistoryFilter, Session};
use utoipa::ToSchema;

use super::access::require_run;
use super::planned::whole;
use crate::access::caller::Authenticated;
use crate::clock;
use crate::http::answer::Answer;
use crate::http::error::{ApiError, ApiResult};
use crate::http::media;
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::state::App;

pub(super) const CSV: &str = "text/csv";
const CSV_COLUMNS: &[&str] = &["task_name", "node_id", "status", "type", "time_start", "time_end"];

/// What became of one task on one node. Beside these fields it has those of the task as it was run, and what the
/// executor reported.
#[derive(ToSchema)]
#[schema(as = HistoryRecord)]
#[expect(dead_code, reason = "documentation of an answer whose further fields are the task's own")]
pub(super) struct HistoryView {
    #[schema(example = "hello")]
    task_name: String,
    /// The same, for older clients.
    deployment_graph_task_name: String,
    /// `"7"`, `"master"`, or `"-"` for a task placed nowhere.
    #[schema(example = "7")]
    node_id: String,
    /// `pending`, `running`, `ready`, `error` or `skipped`.
    #[schema(example = "ready")]
    status: String,
    time_start: Option<String>,
    time_end: Option<String>,
    /// With `include_summary`.
    #[schema(required = false, value_type = Object)]
    summary: JsonMap,
}

/// What became of each task on each node; a run of several graphs tells of all its parts, one after the other
#[utoipa::path(
    get, path = "/api/v1/transactions/{id}/deployment_history",
    params(
        ("id" = i64, Path),
        ("nodes" = Option<String>, Query, description = "On these nodes, comma-separated"),
        ("statuses" = Option<String>, Query,
            description = "Comma-separated: `pending`, `running`, `ready`, `error`, `skipped`"),
        ("tasks_names" = Option<String>, Query, description = "Of these tasks, comma-separated"),
        ("include_summary" = Option<String>, Query, description = "1: with the executor's summary"),
    ),
    responses((status = 200, content((Vec<HistoryView> = "application/json"), (String = "text/csv"))))
)]
pub(super) async fn transaction_history(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    headers: HeaderMap,
    mut query: Query,
) -> ApiResult<Response> {
    let nodes = query.list("nodes");
    let task_names = query.list("tasks_names");
    let include_summary = query.boolean("include_summary");
    let statuses = statuses(&query)?;
    query.finish()?;
    let filter = HistoryFilter { nodes, statuses, task_names };
    let id = path.id("id", RunId, "Transaction")?;
    let mut session = app.store.snapshot().await?;
    require_run(&mut session, &login, id, "Transaction").await?;
    let records = records(&app, &mut session, id, &filter).await?;
    if media::accepts(&headers, CSV) {
        return Ok(([(header::CONTENT_TYPE, "text/csv; charset=utf-8")], csv(&records)).into_response());
    }
    let shown: Vec<JsonMap> = records.into_iter().map(|record| view(record, include_summary)).collect();
    Ok(Answer::ok(shown).into_response())
}

fn statuses(query: &Query) -> ApiResult<Option<Vec<HistoryStatus>>> {
    let Some(words) = query.list("statuses") else { return Ok(None) };
    let statuses: Option<Vec<HistoryStatus>> = words.iter().map(|word| HistoryStatus::parse(word)).collect();
    statuses.map(Some).ok_or_else(|| {
        let known = HistoryStatus::NAMES.join(", ");
        ApiError::bad_request(format!("Statuses parameter could be only: {known}"))
    })
}

/// The records of the run itself and of its parts.
async fn records(
    app: &App,
    session: &mut Session,
    id: RunId,
    filter: &HistoryFilter,
) -> ApiResult<Vec<HistoryRecord>> {
    let mut runs = vec![id];
    runs.extend(session.run_children(id).await?.iter().map(|run| run.id));
    let mut all = Vec::new();
    for run in runs {
        match session.run_work(run).await?.and_then(|work| work.plan_id) {
            Some(plan) => all.extend(whole(app, session, run, plan, filter).await?),
            None => all.extend(session.history_list(&[run], filter).await?),
        }
    }
    Ok(all)
}

fn view(record: HistoryRecord, include_summary: bool) -> JsonMap {
    let mut fields = JsonMap::new();
    fields.insert("task_name".to_owned(), Json::from(record.task_name.clone()));
    fields.insert("deployment_graph_task_name".to_owned(), Json::from(record.task_name));
    fields.insert("node_id".to_owned(), Json::from(record.node_id));
    fields.insert("status".to_owned(), Json::from(record.status.as_str()));
    fields.insert("time_start".to_owned(), Json::from(record.started_at.map(clock::plain)));
    fields.insert("time_end".to_owned(), Json::from(record.ended_at.map(clock::plain)));
    if include_summary {
        fields.insert("summary".to_owned(), Json::Object(record.summary));
    }
    for (key, value) in record.task.into_iter().chain(record.custom) {
        // A task may call a field of its own `status`; ours says what became of it.
        if key != "id" && key != "summary" {
            fields.entry(key).or_insert(value);
        }
    }
    fields
}

fn csv(records: &[HistoryRecord]) -> String {
    let mut text = CSV_COLUMNS.join(",");
    text.push_str("\r\n");
    for record in records {
        let task_type = record.task.get("type").and_then(Json::as_str).unwrap_or_default();
        let cells = [
            record.task_name.clone(),
            record.node_id.clone(),
            record.status.as_str().to_owned(),
            task_type.to_owned(),
            record.started_at.map(clock::plain).unwrap_or_default(),
            record.ended_at.map(clock::plain).unwrap_or_default(),
        ];
        text.push_str(&cells.map(|cell| csv_cell(&cell)).join(","));
        text.push_str("\r\n");
    }
    text
}

fn csv_cell(text: &str) -> String {
    if text.contains(['"', ',', '\r', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn record(task: Json, custom: Json) -> HistoryRecord {
        let map = |value: Json| value.as_object().cloned().unwrap_or_default();
        HistoryRecord {
            run_id: RunId(1),
            task_name: "say \"a,b\"".to_owned(),
            node_id: "7".to_owned(),
            status: HistoryStatus::Ready,
            started_at: None,
            ended_at: None,
            task: map(task),
            custom: map(custom),
            summary: map(json!({"total": 1})),
        }
    }

    #[test]
    fn what_became_of_a_task_is_not_hidden_by_fields_of_its_own() {
        let record =
            record(json!({"id": "x", "status": "mine", "type": "shell"}), json!({"exit": 0, "type": "z"}));
        let shown = view(record.clone(), false);
        assert_eq!(shown["status"], "ready");
        assert_eq!((&shown["type"], &shown["exit"]), (&json!("shell"), &json!(0)));
        assert!(!shown.contains_key("id") && !shown.contains_key("summary"));
        assert_eq!(view(record, true)["summary"], json!({"total": 1}));
    }

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        let text = csv(&[record(json!({"type": "shell"}), json!({}))]);
        assert_eq!(
            text,
            "task_name,node_id,status,type,time_start,time_end\r\n\"say \"\"a,b\"\"\",7,ready,shell,,\r\n"
        );
    }
}
