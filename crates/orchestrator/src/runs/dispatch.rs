//! Builds attempts from the instances of a plan.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use stoker_diagnostics::Diagnostic;
use stoker_engine::blueprint::Blueprint;
use stoker_engine::session::{Attempt, AttemptKey, AttemptResult, Generation, ResultKind};
use stoker_model::{AgentUid, DocumentId, ErrorChain, InstanceIdx, Json, NodeId, TaskReport};
use stoker_planner::{ExplainedPlan, inputs_digest, inputs_document, inputs_of};
use stoker_services::repositories::{put_credential, wants_credential};
use stoker_state::Secrets;
use stoker_store::{StateDocument, StoreError};
use stoker_tasks::SystemFiles;
use tokio::task::JoinError;

use super::applied::RecordedInputs;
use crate::agents::executors_of;
use crate::orchestrator::Orchestrator;

/// Delay before a retry while the database is unavailable.
const PAUSE: Duration = Duration::from_millis(500);

/// Number of node documents read per query.
const READ_AT_ONCE: usize = 200;
/// Timeout for reading files on the master, so that a hanging disk does not block the whole run.
const FILES_TIME_MAX: Duration = Duration::from_secs(30);

/// Why an attempt cannot be built. The message ends the attempt as refused.
#[derive(Debug, thiserror::Error)]
enum BuildError {
    #[error("the plan does not contain this task instance")]
    UnknownInstance,
    #[error("cannot create the package credential of the node: {0}")]
    Credential(#[source] StoreError),
    #[error("cannot read the state of the node: {0}")]
    State(#[source] StoreError),
    /// Problems with files that the task embeds.
    #[error("{}", .0.iter().map(|problem| problem.message.as_str()).collect::<Vec<_>>().join("; "))]
    Files(Vec<Diagnostic>),
    #[error("cannot read files for the task on the master")]
    FilesAborted(#[source] JoinError),
    #[error(
        "cannot read files for the task on the master within {} seconds; check its file system",
        FILES_TIME_MAX.as_secs()
    )]
    FilesTimeout,
}

pub(super) struct Dispatch {
    planned: Arc<ExplainedPlan>,
    /// Secrets from the cluster state, to be redacted from the output of all nodes.
    secrets: Arc<[String]>,
    /// Secrets of individual nodes, cached by UID.
    own_secrets: HashMap<String, Arc<[String]>>,
    /// Document with the state of each node, by UID.
    documents: HashMap<String, DocumentId>,
    /// Documents that are not read yet.
    unread: Vec<(String, DocumentId)>,
    /// UIDs of the nodes whose agents execute instances of the run.
    executors: BTreeSet<AgentUid>,
    /// Inputs that differ from the parameters, by task and index of the details.
    steady: BTreeMap<String, BTreeMap<u32, Json>>,
    orchestrator: Orchestrator,
}

impl Dispatch {
    pub(super) fn new(
        orchestrator: &Orchestrator,
        planned: Arc<ExplainedPlan>,
        blueprint: &Blueprint,
        secrets: Vec<String>,
        documents: HashMap<String, DocumentId>,
        steady: BTreeMap<String, BTreeMap<u32, Json>>,
    ) -> Self {
        let executors = executors_of(blueprint).into_iter().collect();
        Self {
            planned,
            secrets: secrets.into(),
            own_secrets: HashMap::new(),
            unread: documents.iter().map(|(uid, id)| (uid.clone(), *id)).collect(),
            documents,
            executors,
            steady,
            orchestrator: orchestrator.clone(),
        }
    }

    /// Whether the agent of a node executes instances of the run.
    pub(super) fn has_agent(&self, uid: &AgentUid) -> bool {
        self.executors.contains(uid)
    }

    /// UIDs of the nodes whose agents execute instances of the run.
    pub(super) fn executors(&self) -> impl Iterator<Item = &AgentUid> {
        self.executors.iter()
    }

    /// Builds the attempt to send to the agent; if that fails, the result with which the attempt ends.
    pub(super) async fn attempt(
        &mut self,
        key: AttemptKey,
        generation: Generation,
        blueprint: &Blueprint,
    ) -> Result<Attempt, AttemptResult> {
        let at = self.orchestrator.context.clock.now();
        let refused = |error: BuildError| {
            tracing::warn!(attempt.key = %key, error = %ErrorChain(&error), "cannot build an attempt");
            let end = ResultKind::Refused { message: ErrorChain(&error).to_string() };
            AttemptResult { key, at, end, report: TaskReport::default() }
        };
        let (Some(details), Some((task, node))) =
            (self.planned.plan.details(key.instance), blueprint.names(key.instance))
        else {
            return Err(refused(BuildError::UnknownInstance));
        };
        let options = blueprint.options();
        let mut parameters = details.parameters.clone();
        let task_type = details.task_type.clone();
        let node = node.to_owned();
        let task = task.to_owned();
        let secrets = parameters.as_object().map(|map| Secrets::from_documents([map])).unwrap_or_default();
        let password = self.put_credential(&node, &mut parameters).await.map_err(refused)?;
        let parameters = prepared(&task_type, parameters).await.map_err(refused)?;
        let own = self.secrets_of(&node).await.map_err(refused)?;
        Ok(Attempt {
            key,
            generation,
            task,
            node,
            task_type,
            parameters,
            mode: options.mode,
            debug: options.debug,
            timeout_ms: blueprint.policy_of(key.instance).map_or(0, |policy| policy.timeout_ms),
            secrets: {
                let values = self.secrets.iter().chain(own.iter()).map(String::as_str);
                values.chain(secrets.values()).map(str::to_owned).chain(password).collect()
            },
            // Set by the driver, which owns the spans.
            trace: None,
        })
    }

    /// Inputs of an instance, to record with its success: those of the run after it, which differ from the parameters
    /// where these read the old state.
    pub(super) fn inputs(&self, instance: InstanceIdx, uid: &str) -> Option<RecordedInputs> {
        let plan = &self.planned.plan;
        let details = plan.details(instance)?;
        let task = plan.instance(instance)?.task;
        let steady = self.steady.get(task).and_then(|inputs| inputs.get(&plan.details_idx(instance)?.get()));
        let inputs = steady.cloned().unwrap_or_else(|| inputs_of(&details.parameters));
        let key = &self.orchestrator.context.services.planning.inputs_key;
        let digest = inputs_digest(&details.task_type, &inputs, key);
        // After a takeover, the secrets of nodes without a new attempt are not read.
        let document = self.own_secrets.get(uid).map(|own| {
            let values = self.secrets.iter().chain(own.iter()).map(String::as_str);
            let input_secrets =
                inputs.as_object().map(|map| Secrets::from_documents([map])).unwrap_or_default();
            StateDocument::new(inputs_document(
                &inputs,
                &input_secrets.union(Secrets::from_values(values)),
                key,
            ))
        });
        Some(RecordedInputs { digest, document })
    }

    /// Inserts the node's credential for plugin package repositories if the task needs it. Returns the
    /// password, which must be redacted.
    async fn put_credential(&self, node: &str, parameters: &mut Json) -> Result<Option<String>, BuildError> {
        if !wants_credential(parameters) {
            return Ok(None);
        }
        let Ok(id) = node.parse().map(NodeId) else { return Ok(None) };
        loop {
            let read = async { self.orchestrator.context.store.read().await?.agent_by_uid(&id.into()).await };
            match read.await {
                Ok(agent) => {
                    let credential =
                        self.orchestrator.context.services.repositories.access.credential(id, agent.as_ref());
                    put_credential(parameters, &credential.user, &credential.password);
                    return Ok(Some(credential.password));
                }
                Err(StoreError::Unavailable(_)) => tokio::time::sleep(PAUSE).await,
                Err(error) => return Err(BuildError::Credential(error)),
            }
        }
    }

    /// Secrets of a node. Prefetches the documents of other nodes in the same query, since most nodes get
    /// attempts.
    async fn secrets_of(&mut self, node: &str) -> Result<Arc<[String]>, BuildError> {
        if let Some(known) = self.own_secrets.get(node) {
            return Ok(Arc::clone(known));
        }
        let Some(id) = self.documents.get(node).copied() else { return Ok(Arc::default()) };
        let mut requested = vec![(node.to_owned(), id)];
        while requested.len() < READ_AT_ONCE
            && let Some((uid, id)) = self.unread.pop()
        {
            if uid != node && !self.own_secrets.contains_key(&uid) {
                requested.push((uid, id));
            }
        }
        let ids: Vec<DocumentId> = requested.iter().map(|(_, id)| *id).collect();
        loop {
            let read = async { self.orchestrator.context.store.read().await?.documents_get(&ids).await };
            match read.await {
                Ok(documents) => {
                    for (uid, id) in requested {
                        let secrets = Secrets::from_documents(documents.get(&id));
                        self.own_secrets.insert(uid, secrets.values().map(str::to_owned).collect());
                    }
                    return Ok(self.own_secrets.get(node).map(Arc::clone).unwrap_or_default());
                }
                Err(StoreError::Unavailable(_)) => tokio::time::sleep(PAUSE).await,
                // Without the document, secrets could not be redacted.
                Err(error) => return Err(BuildError::State(error)),
            }
        }
    }
}

/// Embeds files of the master into the parameters, on a blocking thread.
async fn prepared(task_type: &str, parameters: Json) -> Result<Json, BuildError> {
    if !stoker_tasks::needs_master_files(task_type) {
        return Ok(parameters);
    }
    let task_type = task_type.to_owned();
    let reading = tokio::task::spawn_blocking(move || {
        stoker_tasks::prepare(&task_type, parameters, &SystemFiles).map_err(BuildError::Files)
    });
    match tokio::time::timeout(FILES_TIME_MAX, reading).await {
        Ok(read) => read.map_err(BuildError::FilesAborted)?,
        Err(_) => Err(BuildError::FilesTimeout),
    }
}
