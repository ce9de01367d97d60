//! What only the operator knows how to do: a program of theirs is called.

use stoker_model::{Json, JsonMap};

use crate::host::Command;
use crate::outcome::{Failure, Outcome};
use crate::task_type::{Context, told};
use crate::values::Values;

/// Of no interest to the program: when and how often it is called.
const SCHEDULING: &[&str] = &["timeout", "retries", "interval"];

/// Calls the program that was given for this name. It reads the parameters as JSON from its input.
pub(super) async fn call(name: &str, values: &Values, cx: Context<'_>) -> Outcome {
    let Some(program) = cx.host.hook(name) else {
        return Err(Failure::refused(format!(
            "nobody told this agent how to do `{name}`: start it with `--hook {name}=PATH`"
        )));
    };
    let mut input = JsonMap::new();
    input.insert("task_type".to_owned(), name.into());
    input.insert("node".to_owned(), cx.node.into());
    if cx.debug {
        input.insert("debug".to_owned(), true.into());
    }
    let own = values.as_map().iter().filter(|(name, _)| !SCHEDULING.contains(&name.as_str()));
    let own = own.map(|(name, value)| (name.clone(), value.clone())).collect();
    input.insert("parameters".to_owned(), Json::Object(own));
    let command = Command::argv([program.display().to_string()])
        .env("STOKER_NODE", cx.node)
        .stdin(Json::Object(input).to_string().into_bytes());
    let exit = cx.host.run(command).await?;
    if exit.is_success() {
        return Ok(told(if cx.is_noop() { "the hook was not called" } else { "the hook has done it" }));
    }
    Err(Failure::failed(format!("hook `{}`: {}", program.display(), exit.told())))
}
