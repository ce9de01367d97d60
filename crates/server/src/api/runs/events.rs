//! What happened in a run, as a list or as it happens.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use stoker_model::{Json, Run, RunEvent, RunId};
use stoker_store::{Session, StoreError};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use utoipa::ToSchema;
use stoker_services::clock;

use super::run_of;
use crate::access::caller::Authenticated;
use crate::api::transactions::is_active;
use crate::http::answer::Answer;
use crate::http::error::ApiResult;
use crate::http::media;
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::state::App;

pub(super) const STREAM: &str = "text/event-stream";
const LIMIT_DEFAULT: u64 = 1000;
const LIMIT_MAX: u64 = 10_000;
/// Without a word about it, something new is looked for all the same: another server may carry the run out.
const LOOK_INTERVAL: Duration = Duration::from_secs(2);
const SHARED_LOOK_INTERVAL: Duration = Duration::from_millis(500);
const WAITING_MAX: usize = 64;

/// Something that happened.
#[derive(Serialize, ToSchema)]
#[schema(as = Event)]
pub(super) struct EventView {
    /// From 1, without gaps, over all parts of the run that is asked about.
    #[schema(example = 17)]
    seq: i64,
    /// The part of the run in which it happened.
    #[schema(example = 8)]
    part: i64,
    at: String,
    #[schema(example = "attempt_ended")]
    kind: String,
    /// The number of the instance in the plan.
    instance: Option<i64>,
    /// What else there is to say; what it is depends on the kind.
    #[schema(value_type = Object)]
    body: Json,
}

impl EventView {
    /// As it is counted behind so many events of former parts.
    fn new(event: RunEvent, part: RunId, n_before: i64) -> Self {
        let RunEvent { seq, at, kind, instance, body } = event;
        Self { seq: seq + n_before, part: part.0, at: clock::plain(at), kind, instance, body }
    }
}

/// What happened in a run after a number; with `Accept: text/event-stream` also what happens from now on
///
/// A run of several graphs is one series: its parts come one after the other, and `part` says which one it was.
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
    if media::accepts(&headers, STREAM) {
        drop(session);
        let last = headers.get("last-event-id").and_then(|value| value.to_str().ok()?.parse().ok());
        return stream(&app, run.id, last.unwrap_or(after));
    }
    let events = Course::of(&mut session, &run).await?.events(&mut session, after, limit).await?;
    Ok(Answer::ok(events).into_response())
}

/// The parts of a run. They come one after the other, so that their events can be counted as one series.
struct Course {
    parts: Vec<Run>,
}

impl Course {
    async fn of(session: &mut Session, run: &Run) -> Result<Self, StoreError> {
        let parts = session.run_children(run.id).await?;
        Ok(Self { parts: if parts.is_empty() { vec![run.clone()] } else { parts } })
    }

    /// What happened after a number of the series, not more than `limit`.
    async fn events(
        &self,
        session: &mut Session,
        after: i64,
        limit: u32,
    ) -> Result<Vec<EventView>, StoreError> {
        let (mut found, mut before) = (Vec::new(), 0);
        for part in &self.parts {
            let n_left = limit.saturating_sub(u32::try_from(found.len()).unwrap_or(limit));
            if n_left == 0 {
                break;
            }
            let events = session.run_events(part.id, (after - before).max(0), n_left).await?;
            found.extend(events.into_iter().map(|event| EventView::new(event, part.id, before)));
            // What comes behind it has not begun, or its numbers could still change.
            if is_active(part) {
                break;
            }
            before += session.run_event_last(part.id).await?;
        }
        Ok(found)
    }
}

/// Events until the run has ended and all of them were sent.
fn stream(app: &App, run: RunId, after: i64) -> ApiResult<Response> {
    let place = app.limits.stream_place()?;
    let (sender, receiver) = mpsc::channel(WAITING_MAX);
    let worker = app.clone();
    app.orchestrator.background.spawn(async move {
        follow(worker, run, after, sender).await;
        drop(place);
    });
    Ok(Sse::new(ReceiverStream::new(receiver)).keep_alive(KeepAlive::default()).into_response())
}

type Sent = Result<axum::response::sse::Event, Infallible>;

async fn follow(app: App, run: RunId, mut after: i64, sender: mpsc::Sender<Sent>) {
    let mut at_work = run;
    loop {
        // Asked for before looking, so that nothing is missed in between.
        let bells = (app.orchestrator.event_feed.bell(run), app.orchestrator.event_feed.bell(at_work));
        let rung = (bells.0.notified(), bells.1.notified());
        let Some(news) = look(&app, run, after).await else { break };
        let is_all = news.events.is_empty();
        for event in news.events {
            after = event.seq;
            let sent = axum::response::sse::Event::default().id(after.to_string()).event(event.kind.clone());
            let Ok(sent) = sent.json_data(event) else { return };
            if sender.send(Ok(sent)).await.is_err() {
                return;
            }
        }
        if is_all && news.has_ended {
            break;
        }
        if news.at_work != at_work {
            at_work = news.at_work;
        } else if is_all {
            tokio::select! {
                () = rung.0 => {}
                () = rung.1 => {}
                () = tokio::time::sleep(look_interval(&app)) => {}
                () = sender.closed() => break,
            }
        }
    }
    // Nobody may be left to listen: then the bells go.
    app.orchestrator.event_feed.notify(run);
    app.orchestrator.event_feed.notify(at_work);
}

/// A bell of another server may not be heard here.
fn look_interval(app: &App) -> Duration {
    if app.orchestrator.context.is_shared { SHARED_LOOK_INTERVAL } else { LOOK_INTERVAL }
}

/// What is new in a run.
struct Found {
    events: Vec<EventView>,
    /// Whether there can be no more, asked first.
    has_ended: bool,
    /// Its part that may tell of more.
    at_work: RunId,
}

async fn look(app: &App, run: RunId, after: i64) -> Option<Found> {
    let read = async {
        let mut session = app.store.read().await?;
        let Some(found) = session.run_get(run).await? else {
            return Ok(Found { events: Vec::new(), has_ended: true, at_work: run });
        };
        let course = Course::of(&mut session, &found).await?;
        let events = course.events(&mut session, after, LIMIT_DEFAULT as u32).await?;
        let at_work = course.parts.iter().find(|part| is_active(part)).map_or(run, |part| part.id);
        Ok::<_, StoreError>(Found { events, has_ended: !is_active(&found), at_work })
    };
    match read.await {
        Ok(found) => Some(found),
        Err(error) => {
            tracing::warn!(error = %error, run.id = run.0, "a stream of events ends early");
            None
        }
    }
}
