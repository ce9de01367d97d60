//! History of a run: the result of each task instance.

use std::convert::Infallible;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use stoker_api_types::transactions::HistoryView;
use stoker_model::{HistoryRecord, HistoryStatus, HostDifference, Json, JsonMap, RunId, TaskReport};
use stoker_services::clock;
use stoker_store::{HistoryFilter, Session};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use super::access::require_run;
use super::planned::{RunHistory, read_history};
use crate::access::caller::Authenticated;
use crate::http::error::{ApiError, ApiResult};
use crate::http::media;
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::http::response::ApiResponse;
use crate::state::App;

pub(super) const CSV: &str = "text/csv";
const CSV_TYPE: &str = "text/csv; charset=utf-8";
/// Maximum number of records in an inline response; larger histories are streamed.
const INLINE_RECORDS_MAX: usize = 5000;
/// Size of the chunks of a stream history.
const CHUNK_BYTES: usize = 64 << 10;
/// Maximum number of chunks that wait for a slow client, for back-pressure.
const CHUNKS_PENDING_MAX: usize = 4;
const CSV_COLUMNS: &[&str] = &["task_name", "node_id", "status", "type", "time_start", "time_end"];

/// List the history of a transaction
///
/// Returns the result of each task instance. The history of a run with several graphs contains the histories
/// of its child runs, one after another.
#[utoipa::path(
    get, path = "/api/v1/transactions/{id}/deployment_history",
    params(
        ("id" = i64, Path),
        ("nodes" = Option<String>, Query, description = "Filter by node, comma-separated"),
        ("statuses" = Option<String>, Query,
            description = "Filter by status, comma-separated: `pending`, `running`, `ready`, `error`, `skipped`"),
        ("tasks_names" = Option<String>, Query, description = "Filter by task, comma-separated"),
        ("include_summary" = Option<String>, Query, description = "1: include the summary of the executor"),
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
    let parts = records(&app, &mut session, id, &filter).await?;
    drop(session);
    let is_csv = media::accepts(&headers, CSV);
    let n_records: usize = parts.iter().map(RunHistory::len).sum();
    let records = parts.into_iter().flat_map(RunHistory::into_records);
    if n_records > INLINE_RECORDS_MAX {
        return Ok(stream(records, is_csv, include_summary));
    }
    if is_csv {
        let text =
            [csv_head()].into_iter().chain(records.map(|record| csv_line(&record))).collect::<String>();
        return Ok(([(header::CONTENT_TYPE, CSV_TYPE)], text).into_response());
    }
    let views: Vec<JsonMap> = records.map(|record| view(record, include_summary)).collect();
    Ok(ApiResponse::ok(views).into_response())
}

/// Streams the records while they are serialized: the history of a large cluster does not fit in memory as
/// text.
fn stream(
    records: impl Iterator<Item = HistoryRecord> + Send + 'static,
    is_csv: bool,
    include_summary: bool,
) -> Response {
    let (sender, receiver) = mpsc::channel::<Result<String, Infallible>>(CHUNKS_PENDING_MAX);
    tokio::task::spawn_blocking(move || {
        let mut chunk = if is_csv { csv_head() } else { "[".to_owned() };
        for (number, record) in records.enumerate() {
            if is_csv {
                chunk.push_str(&csv_line(&record));
            } else {
                let separator = if number > 0 { "," } else { "" };
                chunk.push_str(separator);
                // Serializing a map with string keys cannot fail.
                chunk.push_str(&serde_json::to_string(&view(record, include_summary)).unwrap_or_default());
            }
            // Stop if the client disconnected.
            if chunk.len() >= CHUNK_BYTES && sender.blocking_send(Ok(std::mem::take(&mut chunk))).is_err() {
                return;
            }
        }
        chunk.push_str(if is_csv { "" } else { "]" });
        let _ = sender.blocking_send(Ok(chunk));
    });
    let content_type = if is_csv { CSV_TYPE } else { "application/json" };
    let body = Body::from_stream(ReceiverStream::new(receiver));
    ([(header::CONTENT_TYPE, content_type)], body).into_response()
}

fn statuses(query: &Query) -> ApiResult<Option<Vec<HistoryStatus>>> {
    let Some(words) = query.list("statuses") else { return Ok(None) };
    let statuses: Option<Vec<HistoryStatus>> = words.iter().map(|word| HistoryStatus::parse(word)).collect();
    statuses.map(Some).ok_or_else(|| {
        let valid = HistoryStatus::NAMES.join(", ");
        ApiError::bad_request(format!("Statuses parameter could be only: {valid}"))
    })
}

/// Returns the histories of the run and of its child runs.
async fn records(
    app: &App,
    session: &mut Session,
    id: RunId,
    filter: &HistoryFilter,
) -> ApiResult<Vec<RunHistory>> {
    let mut runs = vec![id];
    runs.extend(session.run_children(id).await?.iter().map(|run| run.id));
    let mut histories = Vec::new();
    for run in runs {
        match session.run_work(run).await?.and_then(|work| work.plan_id) {
            Some(plan) => histories.push(read_history(app, session, run, plan, filter).await?),
            None => histories.push(RunHistory::from_records(session.history_list(&[run], filter).await?)),
        }
    }
    Ok(histories)
}

fn view(record: HistoryRecord, include_summary: bool) -> JsonMap {
    let mut fields = JsonMap::new();
    fields.insert("task_name".to_owned(), Json::from(record.task_name.clone()));
    fields.insert("deployment_graph_task_name".to_owned(), Json::from(record.task_name));
    fields.insert("node_id".to_owned(), Json::from(record.node_id));
    fields.insert("status".to_owned(), Json::from(record.status.as_str()));
    fields.insert("time_start".to_owned(), Json::from(record.started_at.map(clock::plain)));
    fields.insert("time_end".to_owned(), Json::from(record.ended_at.map(clock::plain)));
    let TaskReport { summary, changed, diff } = record.report;
    fields.insert("changed".to_owned(), Json::from(changed));
    if include_summary {
        fields.insert("summary".to_owned(), Json::Object(summary));
    }
    if !diff.is_empty() {
        fields.insert("diff".to_owned(), diff.iter().map(HostDifference::to_json).collect());
    }
    for (key, value) in record.task.into_iter().chain(record.custom) {
        // Fields of the task must not override fields of the record, such as `status`.
        if !matches!(key.as_str(), "id" | "summary" | "changed" | "diff") {
            fields.entry(key).or_insert(value);
        }
    }
    fields
}

fn csv_head() -> String {
    format!("{}\r\n", CSV_COLUMNS.join(","))
}

fn csv_line(record: &HistoryRecord) -> String {
    let task_type = record.task.get("type").and_then(Json::as_str).unwrap_or_default();
    let cells = [
        record.task_name.clone(),
        record.node_id.clone(),
        record.status.as_str().to_owned(),
        task_type.to_owned(),
        record.started_at.map(clock::plain).unwrap_or_default(),
        record.ended_at.map(clock::plain).unwrap_or_default(),
    ];
    format!("{}\r\n", cells.map(|cell| csv_cell(&cell)).join(","))
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
            report: TaskReport::of_summary(map(json!({"total": 1}))),
        }
    }

    #[test]
    fn record_fields_override_task_fields() {
        let record =
            record(json!({"id": "x", "status": "mine", "type": "shell"}), json!({"exit": 0, "type": "z"}));
        let rendered = view(record.clone(), false);
        assert_eq!(rendered["status"], "ready");
        assert_eq!((&rendered["type"], &rendered["exit"]), (&json!("shell"), &json!(0)));
        assert!(!rendered.contains_key("id") && !rendered.contains_key("summary"));
        assert_eq!(view(record, true)["summary"], json!({"total": 1}));
    }

    #[tokio::test]
    async fn streamed_history_equals_inline_history() {
        let records = vec![record(json!({"type": "shell"}), json!({"text": "x".repeat(CHUNK_BYTES)})); 3];
        let sent = async |is_csv: bool, n_records: usize| {
            let response = stream(records.clone().into_iter().take(n_records), is_csv, true);
            axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap()
        };
        for n_records in 0..=3 {
            let subset = records.iter().take(n_records);
            let rendered: Vec<JsonMap> = subset.clone().map(|record| view(record.clone(), true)).collect();
            assert_eq!(
                serde_json::from_slice::<Vec<JsonMap>>(&sent(false, n_records).await).unwrap(),
                rendered
            );
            let lines: String = subset.map(csv_line).collect();
            assert_eq!(sent(true, n_records).await, csv_head() + &lines);
        }
    }

    #[test]
    fn csv_cells_are_quoted() {
        let text = csv_line(&record(json!({"type": "shell"}), json!({})));
        assert_eq!(
            csv_head() + &text,
            "task_name,node_id,status,type,time_start,time_end\r\n\"say \"\"a,b\"\"\",7,ready,shell,,\r\n"
        );
    }
}
