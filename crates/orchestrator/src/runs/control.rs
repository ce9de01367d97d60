//! Control requests of users: stop, pause and resume.

use std::time::Duration;

use serde_json::json;
use stoker_engine::run::{Input, InputError, StopMode};
use stoker_model::{Actor, AuditChange, ClusterId, Run, RunId, RunName, RunStatus};
use stoker_services::runs::records::{active, finished_run};
use stoker_services::{ServiceError, ServiceResult};
use tokio::sync::oneshot;

use super::conclude::stop_child_runs;
use super::launch::open_children;
use crate::agents::Command;
use crate::orchestrator::Orchestrator;
use crate::peers::RunControl;

/// Response timeout. A busy driver processes earlier commands first.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(20);

/// Number of retries while a run has no driver: it is starting, or switching to its next child run.
const CONTROL_TRIES: usize = 50;
const CONTROL_PAUSE: Duration = Duration::from_millis(100);

/// Sends a control request to the driver of a run and waits for the response. `Err(None)`: no driver
/// responded.
pub(crate) async fn control_driver(
    orchestrator: &Orchestrator,
    run: RunId,
    input: Input,
) -> Result<(), Option<InputError>> {
    if orchestrator.agents.run(run).is_some() {
        return control_here(orchestrator, run, input).await;
    }
    let (Some(what), Some(server)) = (RunControl::of(&input), orchestrator.peers.driver_of(run).await) else {
        return Err(None);
    };
    let asking = orchestrator.peers.control(&server, run, what);
    match tokio::time::timeout(ANSWER_TIME_MAX, asking).await {
        Ok(answer) => answer.result(),
        Err(_) => Err(None),
    }
}

/// Like [`control_driver`], for a run that this server drives.
pub(crate) async fn control_here(
    orchestrator: &Orchestrator,
    run: RunId,
    input: Input,
) -> Result<(), Option<InputError>> {
    let inbox = orchestrator.agents.run(run).ok_or(None)?;
    let (reply, response) = oneshot::channel();
    inbox.send(Command::Control { input, reply }).await.map_err(|_| None)?;
    match tokio::time::timeout(ANSWER_TIME_MAX, response).await {
        Ok(Ok(result)) => result.map_err(Some),
        Ok(Err(_)) | Err(_) => Err(None),
    }
}

/// Stops the active run of a cluster. Returns the record of the request.
pub async fn stop_active(
    orchestrator: &Orchestrator,
    actor: &Actor,
    cluster: ClusterId,
    how: StopMode,
) -> ServiceResult<Run> {
    let mut session = orchestrator.context.store.snapshot().await?;
    let active_run = active(&mut session, cluster).await?;
    drop(session);
    let Some(parent) = active_run else {
        return Err(ServiceError::invalid(format!("nothing to stop: no run is active in cluster {cluster}")));
    };
    stop(orchestrator, actor, parent.id, how).await?;
    let mut writing = orchestrator.context.store.begin_write(actor, orchestrator.context.clock.now()).await?;
    let result = json!({"stopped": parent.id.0});
    let message = "Stop requested".to_owned();
    let run = finished_run(&mut writing, RunName::StopDeployment, Some(cluster), message, result).await?;
    let detail = json!({"cluster_id": cluster.0});
    writing.commit(AuditChange { action: "run.stop", target: format!("run {}", parent.id), detail }).await?;
    Ok(run)
}

/// Stops the run that contains `run`, including its remaining graphs.
pub async fn stop_run(
    orchestrator: &Orchestrator,
    actor: &Actor,
    run: &Run,
    how: StopMode,
) -> ServiceResult<()> {
    let parent = run.parent_id.unwrap_or(run.id);
    stop(orchestrator, actor, parent, how).await?;
    let writing = orchestrator.context.store.begin_write(actor, orchestrator.context.clock.now()).await?;
    let target = format!("run {parent}");
    Ok(writing.commit(AuditChange { action: "run.stop", target, detail: json!({}) }).await?)
}

/// Pauses or resumes the run that contains `run`; `action` names the request in the audit log.
pub async fn control_run(
    orchestrator: &Orchestrator,
    actor: &Actor,
    run: &Run,
    input: &Input,
    action: &'static str,
) -> ServiceResult<()> {
    let child = control(orchestrator, run.parent_id.unwrap_or(run.id), input).await?;
    let writing = orchestrator.context.store.begin_write(actor, orchestrator.context.clock.now()).await?;
    let target = format!("run {}", run.id);
    Ok(writing.commit(AuditChange { action, target, detail: json!({"part": child.0}) }).await?)
}

/// Stops a run, whether it is being planned or executed.
async fn stop(orchestrator: &Orchestrator, actor: &Actor, parent: RunId, how: StopMode) -> ServiceResult<()> {
    for _ in 0..CONTROL_TRIES {
        let Some(part) = abandon(orchestrator, actor, parent).await? else { return Ok(()) };
        match control_driver(orchestrator, part, Input::Stop { how }).await {
            Ok(()) => return Ok(()),
            Err(Some(InputError::AlreadyStopping)) => {
                return Err(ServiceError::conflict("Stopping deployment task is already launched"));
            }
            // Switching child runs: retry with the next one, if any.
            Err(Some(InputError::HasEnded) | None) => tokio::time::sleep(CONTROL_PAUSE).await,
            Err(Some(illegal)) => return Err(ServiceError::conflict(illegal.to_string())),
        }
    }
    Err(no_driver(parent))
}

/// Sends a control request to the active child run and returns its ID. Retries if the active child changes.
async fn control(orchestrator: &Orchestrator, parent: RunId, input: &Input) -> ServiceResult<RunId> {
    for _ in 0..CONTROL_TRIES {
        let mut session = orchestrator.context.store.snapshot().await?;
        let run = session.run_get(parent).await?.ok_or_else(|| ServiceError::not_found("Run"))?;
        let part = open_children(&mut session, parent).await?.first().map_or(parent, |part| part.id);
        drop(session);
        if !matches!(run.status, RunStatus::Pending | RunStatus::Running) {
            return Err(ServiceError::conflict(format!("run {parent} has ended")));
        }
        match control_driver(orchestrator, part, input.clone()).await {
            Ok(()) => return Ok(part),
            // Switching child runs: retry with the next one, if any.
            Err(Some(InputError::HasEnded) | None) => tokio::time::sleep(CONTROL_PAUSE).await,
            Err(Some(illegal)) => return Err(ServiceError::conflict(illegal.to_string())),
        }
    }
    Err(no_driver(parent))
}

/// Ends a run without a running child run. Otherwise changes nothing and returns the running child run.
async fn abandon(orchestrator: &Orchestrator, actor: &Actor, parent: RunId) -> ServiceResult<Option<RunId>> {
    let mut writing = orchestrator.context.store.begin_write(actor, orchestrator.context.clock.now()).await?;
    let parts = open_children(&mut writing, parent).await?;
    if let Some(part) = parts.iter().find(|part| part.status == RunStatus::Running) {
        return Ok(Some(part.id));
    }
    if parts.is_empty() {
        return Err(ServiceError::conflict(format!("run {parent} has ended")));
    }
    stop_child_runs(&mut writing, parent).await?;
    let target = format!("run {parent}");
    writing.commit(AuditChange { action: "run.abandon", target, detail: json!({}) }).await?;
    Ok(None)
}

fn no_driver(run: RunId) -> ServiceError {
    ServiceError::conflict(format!("no server drives run {run} at the moment; try again"))
}
