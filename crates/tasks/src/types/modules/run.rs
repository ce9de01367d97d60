//! Executor of `modules`.

use serde_json::json;
use stoker_model::{Json, JsonMap, ModuleAction, ModuleStatus, TaskReport};

use super::contents;
use super::drivers::{DriverError, DriverResult, Payload};
use super::spec::{Module, Spec};
use crate::context::Context;
use crate::host::{HostError, HostFuture};
use crate::outcome::TaskOutcome;
use crate::values::Values;

/// Maximum size of the messages of all modules, because the size of a summary is bounded.
const MESSAGES_CHARS_MAX: usize = 50_000;
const MESSAGE_CHARS_MAX: usize = 1000;

pub(super) fn run<'a>(values: &'a Values, cx: Context<'a>) -> HostFuture<'a, TaskOutcome> {
    Box::pin(async move {
        let Spec { action, modules } = Spec::read(values)?;
        let n_chars = (MESSAGES_CHARS_MAX / modules.len().max(1)).min(MESSAGE_CHARS_MAX);
        let mut results = Vec::with_capacity(modules.len());
        for module in &modules {
            let (status, message) = match process(module, action, cx).await {
                Ok(message) => (ModuleStatus::Ok, message),
                Err(DriverError::Failed(message)) => (ModuleStatus::Error, message),
                // A stop ends the whole attempt, not only this module.
                Err(DriverError::Stopped(reason)) => return Err(HostError::Stopped(reason).into()),
            };
            cx.host.log(&format!("{action} {}: {status}", module.name));
            results.push(json!({
                "id": module.id,
                "status": status.as_str(),
                "message": message.chars().take(n_chars).collect::<String>(),
                "md5": stoker_modules::md5_hex(&module.contents),
            }));
        }
        let summary = JsonMap::from_iter([("modules".to_owned(), Json::Array(results))]);
        Ok(TaskReport::of_summary(summary))
    })
}

async fn process(module: &Module, action: ModuleAction, cx: Context<'_>) -> DriverResult {
    let driver = module.driver;
    if driver.admin_only && !module.is_admin {
        return Err(DriverError::failed(format!(
            "modules of type `{}` can only be {} with an admin's approval",
            driver.name,
            match action {
                ModuleAction::Apply => "applied",
                ModuleAction::Remove => "removed",
            }
        )));
    }
    let contents = contents::decode(&module.contents)?;
    let payload = Payload { name: &module.name, contents: &contents };
    match action {
        ModuleAction::Apply => (driver.apply)(payload, cx).await,
        ModuleAction::Remove => (driver.remove)(payload, cx).await,
    }
}
