//! `ping`: says what the contents say, and touches nothing.

use super::{Driver, Payload, Told, Trouble};
use crate::types::modules::contents::settings;

pub(super) const DRIVER: Driver = Driver {
    name: "ping",
    about: "Answers with the `message` of the contents; for trying out.",
    admin_only: false,
    apply: |payload, _| Box::pin(async move { apply(payload) }),
    remove: |_, _| Box::pin(async { Ok("nothing to remove".to_owned()) }),
};

fn apply(payload: Payload<'_>) -> Told {
    let settings = settings(payload.contents)
        .map_err(|reason| Trouble::failed(format!("Could not extract ping message: {reason}")))?;
    let message = settings.get("message").cloned();
    message.ok_or_else(|| Trouble::failed("Message not found in contents file"))
}
