//! `ping`: returns the message in the contents and changes nothing.

use super::{Driver, DriverError, DriverResult, Payload};
use crate::types::modules::contents::settings;

pub(super) const DRIVER: Driver = Driver {
    name: "ping",
    description: "Returns the `message` of the contents; for testing.",
    admin_only: false,
    apply: |payload, _| Box::pin(async move { apply(payload) }),
    remove: |_, _| Box::pin(async { Ok("nothing to remove".to_owned()) }),
};

fn apply(payload: Payload<'_>) -> DriverResult {
    let settings = settings(payload.contents)
        .map_err(|reason| DriverError::failed(format!("Could not extract ping message: {reason}")))?;
    let message = settings.get("message").cloned();
    message.ok_or_else(|| DriverError::failed("Message not found in contents file"))
}
