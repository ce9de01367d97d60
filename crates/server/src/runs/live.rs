//! What of runs lives as long as the server.

use std::collections::HashSet;
use std::future::Future;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::json;
use stoker_engine::run::{Illegal, Input, StopHow};
use stoker_model::{Actor, Change, RunId, RunStatus};
use stoker_services::random;
use stoker_services::{ServiceError, ServiceResult};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::command::Command;
use super::conclude::stop_parts;
use super::conductor::{conduct, take_up};
use super::launch::open_parts;
use super::leases::keep;
use super::session::watch;
use crate::group::Wish;
use crate::state::App;

/// How often runs that nobody carries out are looked for.
const TAKE_UP_INTERVAL: Duration = Duration::from_millis(1500);
/// Servers that look at the same time would all ask for the same runs.
const TAKE_UP_JITTER_MS: u64 = 500;
/// A run that is busy answers when it is done with what came before.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(20);

/// How often a run is told something that is in nobody's hands for a moment: it begins, or goes from part to part.
const TELL_TRIES: usize = 50;
const TELL_PAUSE: Duration = Duration::from_millis(100);

/// Everything that goes on beside requests, ended together.
#[derive(Default)]
pub(crate) struct Live {
    tasks: Mutex<JoinSet<()>>,
    conducted: Mutex<HashSet<RunId>>,
}

impl App {
    /// Does something beside requests until it is done or the server ends.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.live.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        // What is done leaves the set here: nobody waits for it.
        while tasks.try_join_next().is_some() {}
        tasks.spawn(work);
    }

    /// Carries a run out, unless this server does so already.
    pub(crate) fn conduct(&self, run: RunId) {
        if !self.live.conducted.lock().unwrap_or_else(PoisonError::into_inner).insert(run) {
            return;
        }
        // It was written down a moment ago that it begins.
        self.services.webhooks.ring();
        let app = self.clone();
        self.spawn(async move {
            Box::pin(conduct(app.clone(), run)).await;
            app.live.conducted.lock().unwrap_or_else(PoisonError::into_inner).remove(&run);
        });
    }

    /// Carries out several runs.
    pub(crate) fn conduct_all(&self, runs: Vec<RunId>) {
        for run in runs {
            self.conduct(run);
        }
    }

    /// Begins everything that goes on beside requests.
    pub fn begin_runs(&self) {
        self.begin_group();
        let app = self.clone();
        self.spawn(async move { keep(&app).await });
        let app = self.clone();
        self.spawn(async move { app.output.write(&app).await });
        let app = self.clone();
        self.spawn(async move { app.seen.write(&app).await });
        let app = self.clone();
        self.spawn(async move { app.sightings.write(&app).await });
        let app = self.clone();
        self.spawn(async move { watch(&app).await });
        self.spawn(stoker_services::webhooks::run(self.services.webhooks.clone()));
        let app = self.clone();
        self.spawn(async move { crate::nats::host(&app).await });
        let app = self.clone();
        self.spawn(async move { crate::nats::take_results(&app).await });
        let app = self.clone();
        self.spawn(async move {
            loop {
                if let Err(error) = take_up(&app).await {
                    tracing::warn!(
                        error = %error,
                        "runs that nobody carries out were not looked for"
                    );
                }
                let pause = TAKE_UP_INTERVAL.min(app.lease_renewal())
                    + Duration::from_millis(random::below(TAKE_UP_JITTER_MS));
                tokio::select! {
                    () = tokio::time::sleep(pause) => {}
                    () = app.group.take_up.notified() => {}
                }
            }
        });
    }

    /// Ends it, at whatever it is. Another server goes on with what was written down, or this one when it comes back.
    pub fn end_runs(&self) {
        self.live.tasks.lock().unwrap_or_else(PoisonError::into_inner).abort_all();
    }

    /// Tells a run something and waits for what it says. `None` in the error: nobody carries it out.
    pub(crate) async fn ask_run(&self, run: RunId, input: Input) -> Result<(), Option<Illegal>> {
        if self.agents.run(run).is_some() {
            return self.ask_here(run, input).await;
        }
        let (Some(what), Some(server)) = (Wish::of(&input), self.driver_of(run).await) else {
            return Err(None);
        };
        let asking = self.ask_away(&server, run, what);
        match tokio::time::timeout(ANSWER_TIME_MAX, asking).await {
            Ok(answer) => answer.result(),
            Err(_) => Err(None),
        }
    }

    /// The same for a run that is carried out here.
    pub(crate) async fn ask_here(&self, run: RunId, input: Input) -> Result<(), Option<Illegal>> {
        let inbox = self.agents.run(run).ok_or(None)?;
        let (answer, answered) = oneshot::channel();
        inbox.send(Command::Asked { input, answer }).await.map_err(|_| None)?;
        match tokio::time::timeout(ANSWER_TIME_MAX, answered).await {
            Ok(Ok(result)) => result.map_err(Some),
            Ok(Err(_)) | Err(_) => Err(None),
        }
    }

    /// Stops a run, whether it is planned or carried out just now.
    pub(crate) async fn stop_run(&self, actor: &Actor, parent: RunId, how: StopHow) -> ServiceResult<()> {
        for _ in 0..TELL_TRIES {
            let Some(part) = self.abandon(actor, parent).await? else { return Ok(()) };
            match self.ask_run(part, Input::Stop { how }).await {
                Ok(()) => return Ok(()),
                Err(Some(Illegal::AlreadyStopping)) => {
                    return Err(ServiceError::conflict("Stopping deployment task is already launched"));
                }
                // Between two parts there is another to be asked, or none.
                Err(Some(Illegal::HasEnded) | None) => tokio::time::sleep(TELL_PAUSE).await,
                Err(Some(illegal)) => return Err(ServiceError::conflict(illegal.to_string())),
            }
        }
        Err(in_nobodys_hands(parent))
    }

    /// Tells something to the part of a run that is at work, whichever that is by then: which one was told.
    pub(crate) async fn tell_run(&self, parent: RunId, input: &Input) -> ServiceResult<RunId> {
        for _ in 0..TELL_TRIES {
            let mut session = self.store.snapshot().await?;
            let run = session.run_get(parent).await?.ok_or_else(|| ServiceError::not_found("Run"))?;
            let part = open_parts(&mut session, parent).await?.first().map_or(parent, |part| part.id);
            drop(session);
            if !matches!(run.status, RunStatus::Pending | RunStatus::Running) {
                return Err(ServiceError::conflict(format!("run {parent} has ended")));
            }
            match self.ask_run(part, input.clone()).await {
                Ok(()) => return Ok(part),
                // Between two parts there is another to be told, or none.
                Err(Some(Illegal::HasEnded) | None) => tokio::time::sleep(TELL_PAUSE).await,
                Err(Some(illegal)) => return Err(ServiceError::conflict(illegal.to_string())),
            }
        }
        Err(in_nobodys_hands(parent))
    }

    /// Ends a run no part of which is at work; otherwise nothing is changed, and it is told which one is.
    async fn abandon(&self, actor: &Actor, parent: RunId) -> ServiceResult<Option<RunId>> {
        let mut writing = self.store.change(actor, self.clock.now()).await?;
        let parts = open_parts(&mut writing, parent).await?;
        if let Some(part) = parts.iter().find(|part| part.status == RunStatus::Running) {
            return Ok(Some(part.id));
        }
        if parts.is_empty() {
            return Err(ServiceError::conflict(format!("run {parent} has ended")));
        }
        stop_parts(&mut writing, parent).await?;
        let target = format!("run {parent}");
        writing.commit(Change { action: "run.abandon", target, detail: json!({}) }).await?;
        Ok(None)
    }
}

fn in_nobodys_hands(run: RunId) -> ServiceError {
    ServiceError::conflict(format!("run {run} is not carried out by any server now; try again"))
}
