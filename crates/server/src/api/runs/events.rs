//! What happened in a run, as a list or as it happens.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use stoker_model::{Json, RunEvent, RunId, RunStatus};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use utoipa::ToSchema;

use super::{part_of, run_of};
use crate::access::caller::Authenticated;
use crate::clock;
use crate::http::answer::Answer;
use crate::http::error::{ApiError, ApiResult};
use crate::http::media;
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::state::App;

pub(super) const STREAM: &str = "text/event-stream";
const LIMIT_DEFAULT: u64 = 1000;
const LIMIT_MAX: u64 = 10_000;
/// Without a word about it, something new is looked for all the same: another server may carry the run out.
const LOOK_INTERVAL: Duration = Duration::from_secs(2);
const WAITING_MAX: usize = 64;

/// Something that happened.
#[derive(Serialize, ToSchema)]
#[schema(as = Event)]
pub(super) struct EventView {
    /// From 1, without gaps.
    #[schema(example = 17)]
    seq: i64,
    at: String,
    #[schema(example = "attempt_ended")]
    kind: String,
    /// The number of the instance in the plan.
    instance: Option<i64>,
    /// What else there is to say; what it is depends on the kind.
    #[schema(value_type = Object)]
    body: Json,
}

impl From<RunEvent> for EventView {
    fn from(event: RunEvent) -> Self {
        let RunEvent { seq, at, kind, instance, body } = event;
        Self { seq, at: clock::plain(at), kind, instance, body }
    }
}

/// What happened in a run after a number; with `Accept: text/event-stream` also what happens from now on
#[utoipa::path(
    get, path = "/api/v1/runs/{id}/events",
    params(
        ("id" = i64, Path),
        ("after" = Option<u64>, Query, description = "Only what has a greater number; a stream also takes the header `Last-Event-ID`"),
        ("limit" = Option<u64>, Query, description = "Not more than this; 1000 if not given"),
    ),
    responses((status = 200, content((Vec<EventView> = "application/json"), (String = "text/event-stream"))))
)]
pub(super) async fn run_event_list(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    headers: HeaderMap,
    mut query: Query,
) -> ApiResult<Response> {
    let after = query.natural("after").unwrap_or(0) as i64;
    let limit = query.natural("limit").unwrap_or(LIMIT_DEFAULT).clamp(1, LIMIT_MAX) as u32;
    query.finish()?;
    let mut session = app.store.snapshot().await?;
    let run = run_of(&mut session, &login, &path).await?;
    let parts = session.run_children(run.id).await?;
    if parts.len() > 1 {
        // Each part counts its own events.
        let ids: Vec<String> = parts.iter().map(|part| part.id.to_string()).collect();
        let message = format!(
            "run {} has several parts; ask for the events of one of them: {}",
            run.id,
            ids.join(", ")
        );
        return Err(ApiError::bad_request(message));
    }
    let part = part_of(&mut session, &run).await?;
    if media::accepts(&headers, STREAM) {
        drop(session);
        let last = headers.get("last-event-id").and_then(|value| value.to_str().ok()?.parse().ok());
        return Ok(stream(&app, part.id, last.unwrap_or(after)));
    }
    let events = session.run_events(part.id, after, limit).await?;
    Ok(Answer::ok(events.into_iter().map(EventView::from).collect::<Vec<_>>()).into_response())
}

/// Events until the run has ended and all of them were sent.
fn stream(app: &App, run: RunId, after: i64) -> Response {
    let (sender, receiver) = mpsc::channel(WAITING_MAX);
    let worker = app.clone();
    app.spawn(async move { follow(worker, run, after, sender).await });
    Sse::new(ReceiverStream::new(receiver)).keep_alive(KeepAlive::default()).into_response()
}

type Sent = Result<axum::response::sse::Event, Infallible>;

async fn follow(app: App, run: RunId, mut after: i64, sender: mpsc::Sender<Sent>) {
    let bell = app.news.bell(run);
    loop {
        let rung = bell.notified();
        let Some((events, has_ended)) = look(&app, run, after).await else { return };
        let is_all = events.is_empty();
        for event in events {
            after = event.seq;
            let sent = axum::response::sse::Event::default().id(after.to_string()).event(event.kind.clone());
            let Ok(sent) = sent.json_data(EventView::from(event)) else { return };
            if sender.send(Ok(sent)).await.is_err() {
                return;
            }
        }
        if is_all && has_ended {
            return;
        }
        if is_all {
            tokio::select! {
                () = rung => {}
                () = tokio::time::sleep(LOOK_INTERVAL) => {}
                () = sender.closed() => return,
            }
        }
    }
}

/// What is new; and whether there can be no more, asked first.
async fn look(app: &App, run: RunId, after: i64) -> Option<(Vec<RunEvent>, bool)> {
    let read = async {
        let mut session = app.store.read().await?;
        let found = session.run_get(run).await?;
        let has_ended =
            found.is_none_or(|run| !matches!(run.status, RunStatus::Pending | RunStatus::Running));
        Ok::<_, stoker_store::StoreError>((
            session.run_events(run, after, LIMIT_DEFAULT as u32).await?,
            has_ended,
        ))
    };
    match read.await {
        Ok(found) => Some(found),
        Err(error) => {
            tracing::warn!(error = %error, run.id = run.0, "a stream of events ends early");
            None
        }
    }
}
