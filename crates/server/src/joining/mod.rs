//! Agents that join at the same time are written in one transaction (group commit): the agents of a new fleet
//! join at the same time, and one fsync per agent would serialize them.

mod certificate;
mod join;

use std::collections::VecDeque;
use std::sync::Arc;

use axum::http::{HeaderValue, StatusCode, header};
use parking_lot::Mutex;
use serde_json::json;
use stoker_model::{Actor, AuditChange};
use stoker_orchestrator::Orchestrator;
use stoker_services::nodes::replaced_change;
use stoker_store::GroupCommit;
use tokio::sync::oneshot;

pub(crate) use self::certificate::issue_certificate;
pub(crate) use self::join::{Credential, GUESSING, Join};
use self::join::{Joined, admit};
use crate::access::control::AccessControl;
use crate::http::client::Peer;
use crate::http::error::{ApiError, ApiResult};
use crate::tls::Tls;

/// Maximum number of agents per transaction. Each agent is a savepoint, of which PostgreSQL caches 64 per
/// backend.
const BATCH_MAX: usize = 64;

/// Queue of joining agents. Cloning is cheap.
#[derive(Clone)]
pub(crate) struct Joining {
    access: Arc<AccessControl>,
    orchestrator: Orchestrator,
    tls: Option<Arc<Tls>>,
    waiting: Arc<Mutex<VecDeque<Waiting>>>,
    turn: Arc<tokio::sync::Mutex<()>>,
}

struct Waiting {
    join: Join,
    peer: Peer,
    answer: oneshot::Sender<ApiResult<Credential>>,
}

impl Joining {
    pub(crate) fn new(access: Arc<AccessControl>, orchestrator: Orchestrator, tls: Option<Arc<Tls>>) -> Self {
        Self { access, orchestrator, tls, waiting: Arc::default(), turn: Arc::default() }
    }

    /// Joins in a batch with all waiting agents. The first of them processes the whole batch.
    pub(crate) async fn join(&self, join: Join, peer: Peer) -> ApiResult<Credential> {
        let (answer, mut answered) = oneshot::channel();
        self.waiting.lock().push_back(Waiting { join, peer, answer });
        let turn = Arc::clone(&self.turn).lock_owned();
        tokio::select! {
            biased;
            answer = &mut answered => return answer.unwrap_or_else(|_| Err(later())),
            turn = turn => {
                // The worker continues for the other agents if this client disconnects.
                let worker = self.clone();
                _ = tokio::spawn(async move {
                    let _turn = turn;
                    worker.work().await;
                })
                .await;
            }
        }
        answered.await.unwrap_or_else(|_| Err(later()))
    }

    async fn work(&self) {
        loop {
            let batch = self.take();
            if batch.is_empty() {
                return;
            }
            let (joins, answers): (Vec<_>, Vec<_>) =
                batch.into_iter().map(|waiting| ((waiting.join, waiting.peer), waiting.answer)).unzip();
            let outcomes = match self.all(&joins).await {
                Ok(outcomes) => outcomes,
                // The commit failed, so no agent of the batch has joined; each can retry.
                Err(error) => joins.iter().map(|_| Err(error.clone())).collect(),
            };
            for (answer, outcome) in answers.into_iter().zip(outcomes) {
                // A client that no longer waits joins again, as after a lost response.
                _ = answer.send(outcome.map(|joined| self.finish(joined)));
            }
        }
    }

    async fn all(&self, joins: &[(Join, Peer)]) -> ApiResult<Vec<ApiResult<Joined>>> {
        let context = &self.orchestrator.context;
        let mut together = context.store.group_commit(context.clock.now()).await?;
        let mut outcomes = Vec::new();
        for (join, peer) in joins {
            outcomes.push(self.one(&mut together, join, *peer).await?);
        }
        let joined = outcomes.iter().filter_map(|outcome| Some(outcome.as_ref().ok()?.agent.uid.clone()));
        let _fence = self.orchestrator.agents.fence(joined.collect(), context.clock.now());
        together.commit().await?;
        Ok(outcomes)
    }

    /// Joins one agent of the batch. The outer error fails the whole batch.
    async fn one(&self, together: &mut GroupCommit, join: &Join, peer: Peer) -> ApiResult<ApiResult<Joined>> {
        let actor = Actor { user_id: None, user_name: "agent".to_owned(), address: Some(peer.0.to_string()) };
        match admit(self, together.begin_savepoint(actor).await?, join, peer).await {
            Ok(joined) => {
                let target = format!("agent {}", joined.agent.id);
                let detail = json!({"uid": joined.agent.uid});
                let mut changes = vec![AuditChange { action: "agent.join", target, detail }];
                if joined.is_replaced {
                    changes.push(replaced_change(&joined.agent.uid));
                }
                together.release_savepoint(&changes).await?;
                Ok(Ok(joined))
            }
            Err(error) if error.is_transient() => Err(error),
            Err(error) => {
                together.rollback_savepoint().await?;
                Ok(Err(error))
            }
        }
    }

    fn finish(&self, joined: Joined) -> Credential {
        // Ends the session of the replaced credential.
        self.orchestrator.revoke_agent(&joined.agent.uid, joined.former);
        if joined.is_replaced {
            self.orchestrator.context.services.webhooks.notify();
        }
        joined.credential
    }

    fn take(&self) -> Vec<Waiting> {
        let mut waiting = self.waiting.lock();
        let n_taken = waiting.len().min(BATCH_MAX);
        waiting.drain(..n_taken).collect()
    }
}

fn later() -> ApiError {
    ApiError::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "the server could not complete the join request; try again",
    )
    .with_header(header::RETRY_AFTER, HeaderValue::from_static("1"))
}
