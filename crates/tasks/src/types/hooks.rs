//! Site-specific operations, delegated to hook programs of the operator.

use stoker_model::{Json, JsonMap};

use crate::context::Context;
use crate::host::Command;
use crate::outcome::{Failure, TaskOutcome, message_report};
use crate::values::Values;

/// Parameters for the scheduler, which are not passed to the hook.
const SCHEDULING: &[&str] = &["timeout", "retries", "interval"];

/// Calls the hook with this name. It reads the parameters as JSON from standard input.
pub(super) async fn call(name: &str, values: &Values, cx: Context<'_>) -> TaskOutcome {
    let Some(program) = cx.host.hook(name) else {
        return Err(Failure::refused(format!(
            "no hook for `{name}` is configured; start the agent with `--hook {name}=PATH`"
        )));
    };
    let mut input = JsonMap::new();
    input.insert("task_type".to_owned(), name.into());
    input.insert("node".to_owned(), cx.node.into());
    if cx.debug {
        input.insert("debug".to_owned(), true.into());
    }
    let parameters = values.as_map().iter().filter(|(name, _)| !SCHEDULING.contains(&name.as_str()));
    let parameters = parameters.map(|(name, value)| (name.clone(), value.clone())).collect();
    input.insert("parameters".to_owned(), Json::Object(parameters));
    let command = Command::argv([program.display().to_string()])
        .env("STOKER_NODE", cx.node)
        .stdin(Json::Object(input).to_string().into_bytes());
    let exit = cx.host.run(command).await?;
    if exit.is_success() {
        return Ok(message_report(if cx.is_noop() { "hook not called" } else { "hook succeeded" }));
    }
    Err(Failure::failed(format!("hook `{}`: {}", program.display(), exit.describe())))
}
