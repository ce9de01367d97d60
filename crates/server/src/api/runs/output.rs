//! Output of tasks.

use axum::extract::State;
use stoker_api_types::runs::OutputView;
use stoker_model::OutputChunk;
use stoker_store::HistoryFilter;

use super::{part_of, run_of};
use crate::access::caller::Authenticated;
use crate::http::error::{ApiError, ApiResult};
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::http::response::ApiResponse;
use crate::state::App;

/// Maximum number of search results.
const MATCHES_MAX: u32 = 1000;
/// Maximum number of chunks of one instance. Agents limit the size of the output, but chunks can be as small
/// as one write.
const CHUNKS_MAX: u32 = 100_000;

pub(super) fn render_output(chunk: OutputChunk) -> OutputView {
    let OutputChunk { instance, attempt, stream, start, text } = chunk;
    OutputView { instance, attempt, stream, start, text }
}

/// Retrieve the output of a run
///
/// Returns the output of one task instance (`task` and `node`), or searches the output of all task instances
/// (`search`).
#[utoipa::path(
    get, path = "/api/v1/runs/{id}/output",
    params(
        ("id" = i64, Path),
        ("task" = Option<String>, Query, description = "Name of the task; requires `node`"),
        ("node" = Option<String>, Query, description = "UID of the node, such as `7` or `master`; requires `task`"),
        ("search" = Option<String>, Query, description = "Return the chunks that contain this text, at most 1,000"),
    ),
    responses((status = 200, body = [OutputView]))
)]
pub(super) async fn run_output(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    query: Query,
) -> ApiResult<ApiResponse<Vec<OutputView>>> {
    let text = |name: &str| query.text(name).map(str::to_owned);
    let (task, node, search) = (text("task"), text("node"), text("search"));
    query.finish()?;
    let mut session = app.store.snapshot().await?;
    let run = run_of(&mut session, &login, &path).await?;
    let part = part_of(&mut session, &run).await?;
    let chunks = match (task, node, search) {
        (None, None, Some(search)) => session.output_search(part.id, &search, MATCHES_MAX).await?,
        (Some(task), Some(node), None) => {
            let filter = HistoryFilter {
                nodes: Some(vec![node]),
                task_names: Some(vec![task]),
                ..HistoryFilter::default()
            };
            let records = session.history_list(&[part.id], &filter).await?;
            let instance = records.first().and_then(|record| record.custom.get("instance")?.as_i64());
            match instance {
                Some(instance) => merge_adjacent(session.output_list(part.id, instance, CHUNKS_MAX).await?),
                None => Vec::new(),
            }
        }
        _ => return Err(ApiError::bad_request("specify either `task` and `node`, or `search`")),
    };
    Ok(ApiResponse::ok(chunks.into_iter().map(render_output).collect()))
}

/// Merges adjacent chunks of the same attempt and stream.
fn merge_adjacent(chunks: Vec<OutputChunk>) -> Vec<OutputChunk> {
    let mut merged: Vec<OutputChunk> = Vec::new();
    for chunk in chunks {
        let end = |before: &OutputChunk| before.start.saturating_add(before.text.len() as i64);
        let source = |chunk: &OutputChunk| (chunk.attempt, chunk.stream == "out");
        match merged.last_mut() {
            Some(before) if source(before) == source(&chunk) && end(before) == chunk.start => {
                before.text.push_str(&chunk.text);
            }
            _ => merged.push(chunk),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(attempt: i64, stream: &str, start: i64, text: &str) -> OutputChunk {
        OutputChunk { instance: 1, attempt, stream: stream.to_owned(), start, text: text.to_owned() }
    }

    #[test]
    fn adjacent_chunks_are_merged() {
        let chunks = vec![
            chunk(1, "err", 0, "a"),
            chunk(1, "out", 0, "b"),
            chunk(1, "out", 1, "ö"),
            chunk(1, "out", 3, "c"),
            chunk(1, "out", 9, "after a gap"),
            chunk(2, "out", 20, "of another attempt"),
        ];
        let expected = vec![
            chunk(1, "err", 0, "a"),
            chunk(1, "out", 0, "böc"),
            chunk(1, "out", 9, "after a gap"),
            chunk(2, "out", 20, "of another attempt"),
        ];
        assert_eq!(merge_adjacent(chunks), expected);
    }
}
