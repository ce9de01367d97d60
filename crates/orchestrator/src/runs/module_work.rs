//! Encodes modules as an attempt, and decodes its result into records.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use parking_lot::Mutex;
use serde_json::json;
use stoker_engine::blueprint::Blueprint;
use stoker_engine::run::{EngineEvent, EventKind, InstanceOutcome, Next};
use stoker_engine::session::{Attempt, AttemptKey, AttemptResult, Generation, Mode, ResultKind};
use stoker_model::{
    AgentUid, ClusterId, EncryptedContents, ErrorChain, Json, Micros, ModuleAction, ModuleItem, ModuleRun,
    ModuleStatus, NodeModule, TaskReport,
};
use stoker_store::{StoreError, WriteTransaction};

use crate::orchestrator::Orchestrator;

/// Minimum length of a secret. Redacting shorter strings would mangle unrelated output.
const SECRET_CHARS_MIN: usize = 4;

pub(super) struct ModuleWork {
    orchestrator: Orchestrator,
    list: Arc<ModuleRun>,
    cluster: ClusterId,
    uid: AgentUid,
    /// Why the attempt failed, for the requester.
    reason: Reason,
}

/// Shared cell for the failure reason; outlives the driver.
#[derive(Clone, Default)]
pub(super) struct Reason(Arc<Mutex<Option<String>>>);

impl Reason {
    fn set(&self, text: Option<String>) {
        *self.0.lock() = text;
    }

    pub(super) fn take(&self) -> Option<String> {
        self.0.lock().take()
    }
}

/// Results of the modules of a list, to be written.
pub(super) struct Recorded {
    list: Arc<ModuleRun>,
    cluster: ClusterId,
    results: Vec<Reported>,
}

struct Reported {
    id: String,
    status: ModuleStatus,
    message: String,
    md5: String,
}

impl ModuleWork {
    pub(super) fn new(
        orchestrator: &Orchestrator,
        list: Arc<ModuleRun>,
        cluster: ClusterId,
        reason: Reason,
    ) -> Self {
        let uid = AgentUid::from(list.node_id);
        Self { orchestrator: orchestrator.clone(), list, cluster, uid, reason }
    }

    pub(super) fn uid(&self) -> &AgentUid {
        &self.uid
    }

    pub(super) fn attempt(
        &self,
        key: AttemptKey,
        generation: Generation,
        blueprint: &Blueprint,
    ) -> Result<Attempt, Box<AttemptResult>> {
        let mut modules = Vec::with_capacity(self.list.items.len());
        let mut secrets = Vec::new();
        for item in &self.list.items {
            let contents =
                self.orchestrator.context.services.module_keys.unseal(&item.contents).map_err(|error| {
                    let (name, reason) = (&item.body.name, ErrorChain(&error));
                    let message = format!("cannot decrypt the contents of module `{name}`: {reason}");
                    let at = self.orchestrator.context.clock.now();
                    Box::new(AttemptResult {
                        key,
                        at,
                        end: ResultKind::Refused { message },
                        report: TaskReport::default(),
                    })
                })?;
            secrets.extend(secrets_of(&contents));
            modules.push(module_of(item, &contents));
        }
        Ok(Attempt {
            key,
            generation,
            task: stoker_tasks::MODULES_TASK_TYPE.to_owned(),
            node: self.uid.to_string(),
            task_type: stoker_tasks::MODULES_TASK_TYPE.to_owned(),
            parameters: json!({"action": self.list.action.as_str(), "modules": modules}),
            mode: Mode::Normal,
            debug: false,
            timeout_ms: blueprint.policy_of(key.instance).map_or(0, |policy| policy.timeout_ms),
            secrets,
            trace: None,
        })
    }

    /// Module results to write in the same transaction as the events.
    pub(super) fn recorded(&self, events: &[EngineEvent]) -> Option<Recorded> {
        let (end, report, next) = events.iter().find_map(|event| match &event.kind {
            EventKind::AttemptEnded { end, report, next, .. } => Some((end, report, next)),
            _ => None,
        })?;
        if !matches!(next, Next::Final(InstanceOutcome::Succeeded)) {
            self.reason.set(end.message());
            return None;
        }
        let results: Vec<Reported> = report
            .summary
            .get("modules")
            .and_then(Json::as_array)
            .into_iter()
            .flatten()
            .filter_map(Reported::read)
            .collect();
        Some(Recorded { list: Arc::clone(&self.list), cluster: self.cluster, results })
    }
}

fn module_of(item: &ModuleItem, contents: &str) -> Json {
    json!({
        "id": item.uuid,
        "name": item.body.name,
        "type": item.body.module_type,
        "contents": contents,
        "priority_apply": item.body.priority_apply,
        "apply_order": item.body.apply_order,
        "is_admin": item.body.is_admin,
    })
}

/// Module contents to redact: as sent, decoded, and decoded without surrounding whitespace.
fn secrets_of(contents: &str) -> Vec<String> {
    let decoded = STANDARD.decode(contents).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let trimmed = decoded.as_ref().map(|text| text.trim().to_owned());
    [Some(contents.to_owned()), decoded, trimmed]
        .into_iter()
        .flatten()
        .filter(|text| text.chars().count() >= SECRET_CHARS_MIN)
        .collect()
}

impl Reported {
    fn read(reported: &Json) -> Option<Self> {
        let text = |key: &str| reported.get(key)?.as_str().map(str::to_owned);
        Some(Self {
            id: text("id")?,
            status: ModuleStatus::parse(&text("status")?)?,
            // The database cannot store NUL characters.
            message: text("message")?.replace('\0', "\u{fffd}"),
            md5: text("md5")?.replace('\0', "\u{fffd}"),
        })
    }
}

impl Recorded {
    pub(super) async fn write(&self, writing: &mut WriteTransaction) -> Result<(), StoreError> {
        let node_id = self.list.node_id;
        let node = writing.node_get(node_id).await?;
        // The node has left the cluster: discard the results.
        if node.and_then(|node| node.cluster_id) != Some(self.cluster) {
            return Ok(());
        }
        let node_modules = writing.node_modules(node_id).await?;
        let latest = node_modules.iter().map(|applied| applied.updated_at.0 + 1).max().unwrap_or(0);
        let mut at = Micros(writing.now().0.max(latest));
        for reported in &self.results {
            let Some(item) = self.list.items.iter().find(|item| item.uuid == reported.id) else { continue };
            let before = node_modules.iter().find(|applied| applied.uuid == reported.id);
            writing.node_module_put(&self.record(item, reported, before, at)).await?;
            at.0 += 1;
        }
        Ok(())
    }

    fn record(
        &self,
        item: &ModuleItem,
        reported: &Reported,
        before: Option<&NodeModule>,
        at: Micros,
    ) -> NodeModule {
        let is_removed = self.list.action == ModuleAction::Remove && reported.status == ModuleStatus::Ok;
        let mut body = item.body.clone();
        body.md5.clone_from(&reported.md5);
        let contents = if is_removed {
            EncryptedContents { bytes: Vec::new(), ..item.contents.clone() }
        } else {
            item.contents.clone()
        };
        NodeModule {
            node_id: self.list.node_id,
            cluster_id: self.cluster,
            uuid: item.uuid.clone(),
            body,
            status: reported.status,
            message: Some(reported.message.clone()),
            created_at: before.map_or(at, |before| before.created_at),
            updated_at: at,
            removed_at: is_removed.then_some(at),
            contents,
        }
    }
}
