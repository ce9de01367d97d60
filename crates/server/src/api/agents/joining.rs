//! Agents that come in at the same time are written down together: a new fleet comes all at once, and each of them
//! would wait for the disk while all others wait for it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::{HeaderValue, StatusCode, header};
use serde_json::json;
use stoker_model::{Actor, Change};
use stoker_store::Together;
use tokio::sync::oneshot;

use super::join::{Join, Joined, JoinedView, let_in};
use crate::http::client::Peer;
use crate::http::error::{ApiError, ApiResult};
use crate::state::App;

/// Written with one transaction. PostgreSQL has a quick memory for so many parts of one.
const BATCH_MAX: usize = 64;

#[derive(Default)]
pub(crate) struct Joining {
    waiting: Mutex<VecDeque<Waiting>>,
    turn: Arc<tokio::sync::Mutex<()>>,
}

struct Waiting {
    join: Join,
    peer: Peer,
    answer: oneshot::Sender<ApiResult<JoinedView>>,
}

impl Joining {
    fn lock(&self) -> MutexGuard<'_, VecDeque<Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Vec<Waiting> {
        let mut waiting = self.lock();
        let n_taken = waiting.len().min(BATCH_MAX);
        waiting.drain(..n_taken).collect()
    }
}

/// Comes in with all who do so now. Whoever finds nobody at work does the work for all.
pub(super) async fn come_in(app: &App, join: Join, peer: Peer) -> ApiResult<JoinedView> {
    let (answer, mut answered) = oneshot::channel();
    app.joining.lock().push_back(Waiting { join, peer, answer });
    let turn = Arc::clone(&app.joining.turn).lock_owned();
    tokio::select! {
        biased;
        answer = &mut answered => return answer.unwrap_or_else(|_| Err(later())),
        turn = turn => {
            // Goes on for the others when this client has gone.
            let app = app.clone();
            _ = tokio::spawn(async move {
                let _turn = turn;
                work(&app).await;
            })
            .await;
        }
    }
    answered.await.unwrap_or_else(|_| Err(later()))
}

fn later() -> ApiError {
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "nobody could be let in just now; try again")
        .with_header(header::RETRY_AFTER, HeaderValue::from_static("1"))
}

async fn work(app: &App) {
    loop {
        let batch = app.joining.take();
        if batch.is_empty() {
            return;
        }
        let (joins, answers): (Vec<_>, Vec<_>) =
            batch.into_iter().map(|waiting| ((waiting.join, waiting.peer), waiting.answer)).unzip();
        let outcomes = match all(app, &joins).await {
            Ok(outcomes) => outcomes,
            // None of them came in; each can try again.
            Err(error) => joins.iter().map(|_| Err(error.clone())).collect(),
        };
        for (answer, outcome) in answers.into_iter().zip(outcomes) {
            // Whoever gave up waiting joins again, as after an answer that was lost.
            _ = answer.send(outcome.map(|joined| finish(app, joined)));
        }
    }
}

async fn all(app: &App, joins: &[(Join, Peer)]) -> ApiResult<Vec<ApiResult<Joined>>> {
    let mut together = app.store.together(app.clock.now()).await?;
    let mut outcomes = Vec::new();
    for (join, peer) in joins {
        outcomes.push(one(app, &mut together, join, *peer).await?);
    }
    together.commit().await?;
    Ok(outcomes)
}

/// The outer error is one that nobody comes in after.
async fn one(app: &App, together: &mut Together, join: &Join, peer: Peer) -> ApiResult<ApiResult<Joined>> {
    let actor = Actor { user_id: None, user_name: "agent".to_owned(), address: Some(peer.0.to_string()) };
    match let_in(app, together.begin(actor).await?, join, peer).await {
        Ok(joined) => {
            let target = format!("agent {}", joined.agent.id);
            let detail = json!({"uid": joined.agent.uid});
            together.keep(Change { action: "agent.join", target, detail }).await?;
            Ok(Ok(joined))
        }
        Err(error) if error.is_passing() => Err(error),
        Err(error) => {
            together.undo().await?;
            Ok(Err(error))
        }
    }
}

fn finish(app: &App, joined: Joined) -> JoinedView {
    // A session of the credential that was replaced has no business here any more.
    app.dismiss_agent(&joined.agent.uid, joined.former);
    joined.view
}
