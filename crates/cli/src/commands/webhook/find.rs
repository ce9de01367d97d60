//! Webhook lookup by ID or name.

use stoker_client::RestRequest;

use crate::exit::{Failure, Outcome};
use crate::remote::{Remote, cell};

/// Returns the API path of a webhook.
pub(super) fn webhook_path(remote: &mut Remote<'_>, id_or_name: &str) -> Outcome<String> {
    if id_or_name.parse::<i64>().is_ok() {
        return Ok(format!("webhooks/{id_or_name}"));
    }
    let webhooks = remote.get_list(&RestRequest::get("webhooks"))?;
    if let Some(webhook) = webhooks.iter().find(|webhook| webhook["name"] == id_or_name) {
        return Ok(format!("webhooks/{}", cell(&webhook["id"])));
    }
    let mut failure = Failure::failed(format!("webhook `{id_or_name}` not found"));
    failure.diagnostics[0].help = Some("run `stoker webhook list` to see all webhooks".to_owned());
    Err(failure)
}
