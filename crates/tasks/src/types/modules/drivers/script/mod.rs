//! `script`: runs the contents with the argument `apply` or `remove`.

use super::{Driver, DriverError, DriverResult, Payload};
use crate::context::Context;
use crate::host::Command;

/// Script that makes the file executable and executes it, so that its `#!` line selects the interpreter.
const START: &str = r#"chmod 0700 "$1" && exec "$1" "$2""#;

pub(super) const DRIVER: Driver = Driver {
    name: "script",
    description: "Runs the contents with the argument `apply` or `remove`; the last output line is the message.",
    admin_only: true,
    apply: |payload, cx| Box::pin(run(payload, "apply", cx)),
    remove: |payload, cx| Box::pin(run(payload, "remove", cx)),
};

async fn run(payload: Payload<'_>, action: &str, cx: Context<'_>) -> DriverResult {
    let command = Command::argv(["/bin/sh", "-c", START, "sh", "{scratch}/module", action])
        .scratch("module", payload.contents.to_vec())
        .env("STOKER_NODE", cx.node)
        .env("STOKER_MODULE", payload.name);
    let exit = cx.host.run(command).await?;
    if !exit.is_success() {
        return Err(DriverError::Failed(exit.describe()));
    }
    let last = exit.stdout_tail.lines().rev().map(str::trim).find(|line| !line.is_empty());
    Ok(last.unwrap_or_default().to_owned())
}
