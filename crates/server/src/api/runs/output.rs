//! What tasks printed.

use axum::extract::State;
use serde::Serialize;
use stoker_model::OutputPiece;
use stoker_store::HistoryFilter;
use utoipa::ToSchema;

use super::{part_of, run_of};
use crate::access::caller::Authenticated;
use crate::http::answer::Answer;
use crate::http::error::{ApiError, ApiResult};
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::state::App;

/// More of what was searched for is not shown at once.
const FOUND_MAX: u32 = 1000;
/// An agent reports a bounded part of what a task prints, but in pieces as small as it was printed in.
const PIECES_MAX: u32 = 100_000;

/// A piece of what a task printed.
#[derive(Serialize, ToSchema)]
#[schema(as = Output)]
pub(super) struct OutputView {
    /// The number of the instance in the plan.
    #[schema(example = 3)]
    instance: i64,
    /// From 1.
    #[schema(example = 1)]
    attempt: i64,
    /// `out` or `err`.
    #[schema(example = "out")]
    stream: String,
    /// The number of its first byte.
    #[schema(example = 0)]
    start: i64,
    text: String,
}

impl From<OutputPiece> for OutputView {
    fn from(piece: OutputPiece) -> Self {
        let OutputPiece { instance, attempt, stream, start, text } = piece;
        Self { instance, attempt, stream, start, text }
    }
}

/// What a task of a run printed on a node, or where in the run a text was printed
#[utoipa::path(
    get, path = "/api/v1/runs/{id}/output",
    params(
        ("id" = i64, Path),
        ("task" = Option<String>, Query, description = "Of this task, on `node`"),
        ("node" = Option<String>, Query, description = "`7`, or `master`"),
        ("search" = Option<String>, Query, description = "Every piece with this text in it"),
    ),
    responses((status = 200, body = [OutputView]))
)]
pub(super) async fn run_output(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    query: Query,
) -> ApiResult<Answer<Vec<OutputView>>> {
    let text = |name: &str| query.text(name).map(str::to_owned);
    let (task, node, search) = (text("task"), text("node"), text("search"));
    query.finish()?;
    let mut session = app.store.snapshot().await?;
    let run = run_of(&mut session, &login, &path).await?;
    let part = part_of(&mut session, &run).await?;
    let pieces = match (task, node, search) {
        (None, None, Some(wanted)) => session.output_search(part.id, &wanted, FOUND_MAX).await?,
        (Some(task), Some(node), None) => {
            let filter = HistoryFilter {
                nodes: Some(vec![node]),
                task_names: Some(vec![task]),
                ..HistoryFilter::default()
            };
            let records = session.history_list(&[part.id], &filter).await?;
            let instance = records.first().and_then(|record| record.custom.get("instance")?.as_i64());
            match instance {
                Some(instance) => joined(session.output_list(part.id, instance, PIECES_MAX).await?),
                None => Vec::new(),
            }
        }
        _ => return Err(ApiError::bad_request("say `task` and `node`, or `search`")),
    };
    Ok(Answer::ok(pieces.into_iter().map(OutputView::from).collect()))
}

/// Pieces that follow each other, as one.
fn joined(pieces: Vec<OutputPiece>) -> Vec<OutputPiece> {
    let mut all: Vec<OutputPiece> = Vec::new();
    for piece in pieces {
        let end = |before: &OutputPiece| before.start.saturating_add(before.text.len() as i64);
        let of = |piece: &OutputPiece| (piece.attempt, piece.stream == "out");
        match all.last_mut() {
            Some(before) if of(before) == of(&piece) && end(before) == piece.start => {
                before.text.push_str(&piece.text);
            }
            _ => all.push(piece),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(attempt: i64, stream: &str, start: i64, text: &str) -> OutputPiece {
        OutputPiece { instance: 1, attempt, stream: stream.to_owned(), start, text: text.to_owned() }
    }

    #[test]
    fn what_follows_each_other_is_one_piece() {
        let pieces = vec![
            piece(1, "err", 0, "a"),
            piece(1, "out", 0, "b"),
            piece(1, "out", 1, "ö"),
            piece(1, "out", 3, "c"),
            piece(1, "out", 9, "after a gap"),
            piece(2, "out", 20, "of another attempt"),
        ];
        let expected = vec![
            piece(1, "err", 0, "a"),
            piece(1, "out", 0, "böc"),
            piece(1, "out", 9, "after a gap"),
            piece(2, "out", 20, "of another attempt"),
        ];
        assert_eq!(joined(pieces), expected);
    }
}
