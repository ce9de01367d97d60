//! Comparison with one node, through its agent.

use std::time::Duration;

use stoker_diagnostics::Diagnostic;
use stoker_engine::session::{CheckItem, CheckOutcome, CheckRequest, ToAgent};
use stoker_model::{AgentUid, DriftResult, DriftStatus, ErrorChain, NodeId};
use stoker_services::planning::{CheckPlan, CheckedInstance, NodeCheck};
use stoker_services::repositories::{put_credential, wants_credential};
use stoker_state::Secrets;
use stoker_store::StoreError;
use stoker_tasks::SystemFiles;
use stoker_wire::encode_to_agent;

use crate::agent_launcher::ensure_agent;
use crate::agents::AgentLocation;
use crate::orchestrator::Orchestrator;
use crate::peers::PeerMessage;

/// Maximum time of one comparison on a node.
const TIME_MAX: Duration = Duration::from_secs(30);
/// Time in which a report reaches the server, beyond the time of the comparison.
const DELIVERY_TIME_MAX: Duration = Duration::from_secs(10);
/// Time in which an agent that the server starts has to connect.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(15);
const CONNECT_POLL: Duration = Duration::from_millis(50);
/// Size of parameters from which a request is split, well below the limit of a message.
const REQUEST_BYTES_MAX: usize = 4 << 20;

/// Why a desired state cannot be sent to the agent.
#[derive(Debug, thiserror::Error)]
enum ItemError {
    #[error("the plan of the check does not contain this task instance")]
    UnknownInstance,
    #[error("cannot read the package credential of the node: {0}")]
    Credential(#[source] StoreError),
    #[error("cannot read files for the task on the master: {}", .0.iter().map(|problem| problem.message.as_str()).collect::<Vec<_>>().join("; "))]
    Files(Vec<Diagnostic>),
    #[error("cannot read files for the task on the master")]
    Aborted,
}

/// Compares a node with its desired states. Every instance has a result.
pub(super) async fn compare(
    orchestrator: &Orchestrator,
    plan: &CheckPlan,
    node: &NodeCheck,
) -> Vec<DriftResult> {
    let uid = AgentUid::from(node.uid.as_str());
    let now = || orchestrator.context.clock.now();
    let unknown = |instance: &CheckedInstance, message: String| DriftResult {
        // No database stores NUL in text.
        message: Some(message.replace('\0', "\u{fffd}")),
        ..instance.result(&node.uid, DriftStatus::Unknown, now())
    };
    let mut results = Vec::with_capacity(node.instances.len());
    if let Err(message) = connect(orchestrator, &uid).await {
        results.extend(node.instances.iter().map(|instance| unknown(instance, message.clone())));
        return results;
    }
    let mut waiting = node.instances.iter().peekable();
    let mut failure: Option<String> = None;
    while waiting.peek().is_some() {
        let mut request = Request::new(plan, &node.uid);
        while request.n_bytes < REQUEST_BYTES_MAX
            && let Some(instance) = waiting.next()
        {
            match request.add(orchestrator, plan, instance).await {
                Ok(()) => {}
                Err(error) => results.push(unknown(instance, ErrorChain(&error).to_string())),
            }
        }
        if request.items.is_empty() {
            continue;
        }
        // A node that did not answer is not asked again.
        let answer = match &failure {
            Some(message) => Err(message.clone()),
            None => send(orchestrator, &uid, request.items, request.secrets).await,
        };
        match answer {
            Ok(answers) => {
                let answers = request.instances.iter().zip(answers);
                results.extend(answers.map(|(instance, answer)| match answer {
                    CheckOutcome::Compared { diff } if diff.is_empty() => {
                        instance.result(&node.uid, DriftStatus::InSync, now())
                    }
                    CheckOutcome::Compared { diff } => {
                        DriftResult { diff, ..instance.result(&node.uid, DriftStatus::Drifted, now()) }
                    }
                    CheckOutcome::Failed { message } => unknown(instance, message),
                }));
            }
            Err(message) => {
                results.extend(request.instances.iter().map(|instance| unknown(instance, message.clone())));
                failure = Some(message);
            }
        }
    }
    results
}

/// One request to an agent.
struct Request<'p> {
    node: &'p str,
    instances: Vec<&'p CheckedInstance>,
    items: Vec<CheckItem>,
    secrets: Vec<String>,
    n_bytes: usize,
}

impl<'p> Request<'p> {
    fn new(plan: &CheckPlan, node: &'p str) -> Self {
        Self { node, instances: Vec::new(), items: Vec::new(), secrets: plan.secrets(node), n_bytes: 0 }
    }

    async fn add(
        &mut self,
        orchestrator: &Orchestrator,
        plan: &CheckPlan,
        instance: &'p CheckedInstance,
    ) -> Result<(), ItemError> {
        let (task_type, mut parameters) = plan.item(instance).ok_or(ItemError::UnknownInstance)?;
        let own_secrets =
            parameters.as_object().map(|map| Secrets::from_documents([map])).unwrap_or_default();
        self.secrets.extend(own_secrets.values().map(str::to_owned));
        if wants_credential(&parameters)
            && let Some(id) = NodeId::parse(self.node)
        {
            let read = async { orchestrator.context.store.read().await?.agent_by_uid(&id.into()).await };
            let agent = read.await.map_err(ItemError::Credential)?;
            let access = &orchestrator.context.services.repositories.access;
            let credential = access.credential(id, agent.as_ref());
            put_credential(&mut parameters, &credential.user, &credential.password);
            self.secrets.push(credential.password);
        }
        if stoker_tasks::needs_master_files(&task_type) {
            let name = task_type.clone();
            let reading =
                tokio::task::spawn_blocking(move || stoker_tasks::prepare(&name, parameters, &SystemFiles));
            let read = tokio::time::timeout(TIME_MAX, reading).await;
            let read = read.ok().and_then(Result::ok).ok_or(ItemError::Aborted)?;
            parameters = read.map_err(ItemError::Files)?;
        }
        self.n_bytes += parameters.to_string().len();
        self.items.push(CheckItem { task_type, parameters });
        self.instances.push(instance);
        Ok(())
    }
}

/// Waits until the agent is connected, if a server starts it.
async fn connect(orchestrator: &Orchestrator, uid: &AgentUid) -> Result<(), String> {
    ensure_agent(orchestrator, uid).await;
    let connected = async {
        while !orchestrator.agents.is_connected(uid) {
            if !orchestrator.local_agents.is_started(uid) {
                return Err("the agent is not connected".to_owned());
            }
            tokio::time::sleep(CONNECT_POLL).await;
        }
        Ok(())
    };
    let late = || Err(format!("the agent did not connect within {} seconds", CONNECT_TIME_MAX.as_secs()));
    tokio::time::timeout(CONNECT_TIME_MAX, connected).await.unwrap_or_else(|_| late())
}

/// Sends a request to the agent and waits for its report.
async fn send(
    orchestrator: &Orchestrator,
    uid: &AgentUid,
    items: Vec<CheckItem>,
    secrets: Vec<String>,
) -> Result<Vec<CheckOutcome>, String> {
    let n_items = items.len();
    let mut pending = orchestrator.checks.begin(&orchestrator.context.owner, uid);
    let message = ToAgent::Check(CheckRequest {
        id: pending.id.clone(),
        node: uid.to_string(),
        timeout_ms: TIME_MAX.as_millis() as u64,
        items,
        secrets,
    });
    match orchestrator.agents.location(uid) {
        AgentLocation::Here => orchestrator.agents.send(uid, message),
        AgentLocation::Elsewhere(server) => {
            let message = PeerMessage::ToAgent { uid: uid.clone(), text: encode_to_agent(&message) };
            orchestrator.peers.send(&server, &message);
        }
        AgentLocation::Nowhere => return Err("the agent is not connected".to_owned()),
    }
    let time_max = TIME_MAX + DELIVERY_TIME_MAX;
    match tokio::time::timeout(time_max, &mut pending.reply).await {
        Ok(Ok(results)) if results.len() == n_items => Ok(results),
        Ok(Ok(_)) => Err("the report of the agent is incomplete".to_owned()),
        Ok(Err(error)) => Err(ErrorChain(&error).to_string()),
        Err(_) => Err(format!(
            "the agent did not answer within {} seconds; agents of earlier versions cannot compare: upgrade the agent",
            time_max.as_secs()
        )),
    }
}
