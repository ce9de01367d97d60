//! Module runs: a list of modules that is sent to a node as one task.

use serde_json::json;
use stoker_model::{
    Micros, Module, ModuleAction, ModuleItem, ModuleRun, NewRun, NodeId, RunId, RunName, RunStatus,
};
use stoker_modules::order;
use stoker_store::{Session, StoreError, WriteTransaction};

use crate::error::ServiceResult;
use crate::random;
use crate::runs::RunKind;
use crate::trace;

/// Maximum size of all contents of a list, in Base64: the list is sent in one message.
pub const LIST_BYTES_MAX: usize = 8 << 20;

/// Requested module run.
pub struct ModuleListRequest {
    pub node_id: NodeId,
    pub action: ModuleAction,
    pub after: Option<RunId>,
    pub deadline: Option<Micros>,
    pub items: Vec<ModuleItem>,
}

impl ModuleListRequest {
    pub fn apply(node_id: NodeId, items: Vec<ModuleItem>) -> Self {
        Self { node_id, action: ModuleAction::Apply, after: None, deadline: None, items }
    }
}

/// Returns modules with their current contents.
pub async fn items(session: &mut Session, modules: Vec<Module>) -> Result<Vec<ModuleItem>, StoreError> {
    let mut items = Vec::with_capacity(modules.len());
    for module in modules {
        let contents = session.module_contents(module.id).await?;
        items.push(ModuleItem { uuid: module.uuid, body: module.body, contents });
    }
    Ok(items)
}

/// Reports whether a list exceeds the message size limit.
pub fn is_too_large(items: &[ModuleItem]) -> bool {
    items.iter().map(|item| item.contents.bytes.len()).sum::<usize>() > LIST_BYTES_MAX
}

/// Enqueues a module run. After commit, a driver executes it.
pub async fn enqueue(writing: &mut WriteTransaction, request: ModuleListRequest) -> ServiceResult<RunId> {
    let ModuleListRequest { node_id, action, after, deadline, mut items } = request;
    order::sort_for_apply(&mut items, order::item_key);
    let run = writing
        .run_create(&NewRun {
            result: json!({"node_id": node_id.0, "action": action.as_str()}),
            started_at: Some(writing.now()),
            ..NewRun::new(random::uuid()?, RunName::Modules, RunStatus::Running)
        })
        .await?;
    let list = ModuleRun { run_id: run.id, node_id, action, after, deadline, items };
    writing.module_run_create(&list).await?;
    let mut options = RunKind::Modules(Some(list)).encode();
    trace::put(&mut options);
    writing.run_work_create(run.id, &options).await?;
    Ok(run.id)
}
