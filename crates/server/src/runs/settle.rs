//! Results that somebody else kept, for agents that may never come back: handed to their runs as if the agent had said them.

use std::sync::Arc;
use std::time::Duration;

use stoker_engine::session::Finished;
use tokio::sync::oneshot;

use super::command::Command;
use super::session::has_ended;
use crate::state::App;

/// Longer than a run that is busy should take to write down what came before.
const TIME_MAX: Duration = Duration::from_secs(15);

/// What became of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Settled {
    /// It is in the database, or its run needs it no more: nobody has to keep it.
    Safe,
    /// It is about an attempt that is not the agent's.
    Foreign,
    /// Nobody carries its run out just now, or whoever does has not answered.
    NotYet,
}

/// The agent has proved to be `uid`.
pub(crate) async fn settle(app: &App, uid: &str, finished: Finished) -> Settled {
    let run = finished.key.run;
    if app.agents.run(run).is_some() {
        return settle_here(app, uid, finished).await;
    }
    if let Some(server) = app.driver_of(run).await {
        return settle_there(app, &server, uid, finished).await;
    }
    if has_ended(app, run).await { Settled::Safe } else { Settled::NotYet }
}

/// The same for a run that is carried out here.
pub(crate) async fn settle_here(app: &App, uid: &str, finished: Finished) -> Settled {
    let key = finished.key;
    let Some(inbox) = app.agents.run(key.run) else { return Settled::NotYet };
    if app.agents.is_executor(uid, key) == Some(false) {
        return Settled::Foreign;
    }
    let (answer, answered) = oneshot::channel();
    let settling = async {
        inbox.send(Command::Settle { uid: uid.to_owned(), finished, answer }).await.ok()?;
        answered.await.ok()
    };
    match tokio::time::timeout(TIME_MAX, settling).await {
        Ok(Some(())) => Settled::Safe,
        // It changed hands, or ended meanwhile.
        Ok(None) | Err(_) => Settled::NotYet,
    }
}

async fn settle_there(app: &App, server: &Arc<str>, uid: &str, finished: Finished) -> Settled {
    let asking = app.settle_away(server, uid, finished);
    tokio::time::timeout(TIME_MAX, asking).await.unwrap_or(Settled::NotYet)
}
