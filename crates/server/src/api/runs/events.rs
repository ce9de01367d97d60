//! Events of a run, as a list or as a server-sent event stream.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use stoker_api_types::runs::EventView;
use stoker_model::{ErrorChain, Run, RunEvent, RunId};
use stoker_services::clock;
use stoker_store::{Session, StoreError};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use super::run_of;
use crate::access::caller::Authenticated;
use crate::api::transactions::is_active;
use crate::http::error::ApiResult;
use crate::http::media;
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::http::response::ApiResponse;
use crate::state::App;

pub(super) const STREAM: &str = "text/event-stream";
const LIMIT_DEFAULT: u64 = 1000;
const LIMIT_MAX: u64 = 10_000;
/// Poll interval while no notification arrives, in case a notification was lost.
const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// Poll interval if other servers share the database: they execute runs too, and their notifications may be
/// lost.
const SHARED_POLL_INTERVAL: Duration = Duration::from_millis(500);
/// Maximum number of events that wait for a slow client, for back-pressure.
const PENDING_MAX: usize = 64;

/// Numbers the event after the `n_before` events of earlier child runs.
fn render_event(event: RunEvent, part: RunId, n_before: i64) -> EventView {
    let RunEvent { seq, at, kind, instance, body } = event;
    EventView { seq: seq + n_before, part: part.0, at: clock::plain(at), kind, instance, body }
}

/// List the events of a run
///
/// With `Accept: text/event-stream`, the response is a stream that ends with the run. The events of a run
/// with several graphs are one series: child runs execute one after another, and `part` identifies the child
/// run.
#[utoipa::path(
    get, path = "/api/v1/runs/{id}/events",
    params(
        ("id" = i64, Path),
        ("after" = Option<u64>, Query, description = "Return only events with a larger sequence number; a stream also accepts the header `Last-Event-ID`"),
        ("limit" = Option<u64>, Query, description = "Maximum number of events to return (default 1,000, maximum 10,000)"),
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
    let events = EventSeries::of(&mut session, &run).await?.events(&mut session, after, limit).await?;
    Ok(ApiResponse::ok(events).into_response())
}

/// Child runs of a run, in execution order. Because they execute one after another, their events form one
/// series.
struct EventSeries {
    parts: Vec<Run>,
}

impl EventSeries {
    async fn of(session: &mut Session, run: &Run) -> Result<Self, StoreError> {
        let parts = session.run_children(run.id).await?;
        Ok(Self { parts: if parts.is_empty() { vec![run.clone()] } else { parts } })
    }

    /// Returns at most `limit` events after a sequence number of the series.
    async fn events(
        &self,
        session: &mut Session,
        after: i64,
        limit: u32,
    ) -> Result<Vec<EventView>, StoreError> {
        let (mut views, mut n_before) = (Vec::new(), 0);
        for part in &self.parts {
            let n_remaining = limit.saturating_sub(u32::try_from(views.len()).unwrap_or(limit));
            if n_remaining == 0 {
                break;
            }
            let events = session.run_events(part.id, (after - n_before).max(0), n_remaining).await?;
            views.extend(events.into_iter().map(|event| render_event(event, part.id, n_before)));
            // Later child runs have not started, or their sequence numbers may still change.
            if is_active(part) {
                break;
            }
            n_before += session.run_event_last(part.id).await?;
        }
        Ok(views)
    }
}

/// Streams events until the run has ended and all events were sent.
fn stream(app: &App, run: RunId, after: i64) -> ApiResult<Response> {
    let permit = app.limits.stream_permit()?;
    let (sender, receiver) = mpsc::channel(PENDING_MAX);
    let worker = app.clone();
    app.orchestrator.background.spawn(async move {
        follow(worker, run, after, sender).await;
        drop(permit);
    });
    Ok(Sse::new(ReceiverStream::new(receiver)).keep_alive(KeepAlive::default()).into_response())
}

type StreamItem = Result<axum::response::sse::Event, Infallible>;

async fn follow(app: App, run: RunId, mut after: i64, sender: mpsc::Sender<StreamItem>) {
    let mut active_child = run;
    loop {
        // Subscribe before reading, so that no notification is lost in between.
        let subscriptions =
            (app.orchestrator.event_feed.subscribe(run), app.orchestrator.event_feed.subscribe(active_child));
        let notifications = (subscriptions.0.notified(), subscriptions.1.notified());
        let Some(batch) = read_new_events(&app, run, after).await else { break };
        let is_caught_up = batch.events.is_empty();
        for event in batch.events {
            after = event.seq;
            let item = axum::response::sse::Event::default().id(after.to_string()).event(event.kind.clone());
            let Ok(item) = item.json_data(event) else { return };
            if sender.send(Ok(item)).await.is_err() {
                return;
            }
        }
        if is_caught_up && batch.has_ended {
            break;
        }
        if batch.active_child != active_child {
            active_child = batch.active_child;
        } else if is_caught_up {
            tokio::select! {
                () = notifications.0 => {}
                () = notifications.1 => {}
                () = tokio::time::sleep(poll_interval(&app)) => {}
                () = sender.closed() => break,
            }
        }
    }
    // Wake the subscriptions, so that the feed drops those without subscribers.
    app.orchestrator.event_feed.notify(run);
    app.orchestrator.event_feed.notify(active_child);
}

/// Notifications of other servers may not arrive here, so a shared database is polled more often.
fn poll_interval(app: &App) -> Duration {
    if app.orchestrator.context.is_shared { SHARED_POLL_INTERVAL } else { POLL_INTERVAL }
}

/// New events of a run.
struct NewEvents {
    events: Vec<EventView>,
    /// Whether the run had ended before the events were read, so that no further events can follow.
    has_ended: bool,
    /// Child run that can still produce events.
    active_child: RunId,
}

async fn read_new_events(app: &App, run: RunId, after: i64) -> Option<NewEvents> {
    let read = async {
        let mut session = app.store.read().await?;
        let Some(record) = session.run_get(run).await? else {
            return Ok(NewEvents { events: Vec::new(), has_ended: true, active_child: run });
        };
        let series = EventSeries::of(&mut session, &record).await?;
        let events = series.events(&mut session, after, LIMIT_DEFAULT as u32).await?;
        let active_child = series.parts.iter().find(|part| is_active(part)).map_or(run, |part| part.id);
        Ok::<_, StoreError>(NewEvents { events, has_ended: !is_active(&record), active_child })
    };
    match read.await {
        Ok(batch) => Some(batch),
        Err(error) => {
            tracing::warn!(error = %ErrorChain(&error), run.id = run.0, "cannot read run events; closing the event stream");
            None
        }
    }
}
