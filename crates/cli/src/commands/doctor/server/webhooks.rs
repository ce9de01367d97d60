//! Checks the last delivery of each webhook. Only administrators can list webhooks.

use stoker_api_types::webhooks::{DeliveryView, WebhookView};
use stoker_client::RestRequest;

use crate::commands::doctor::check_result::CheckResult;
use crate::remote::{Remote, display, sanitize};

const CHECK: &str = "webhooks";

pub(super) fn check(remote: &mut Remote<'_>) -> Vec<CheckResult> {
    let Ok(webhooks) = remote.read_list::<WebhookView>(&RestRequest::get("webhooks")) else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    for webhook in webhooks {
        let path = format!("webhooks/{}/deliveries", webhook.id);
        let newest: Vec<DeliveryView> =
            remote.read_list(&RestRequest::get(path).query("limit", 1)).unwrap_or_default();
        if let Some(problem) = newest.first().and_then(|delivery| delivery.problem.as_ref()) {
            let name = sanitize(&webhook.name);
            findings.push(CheckResult::warning(
                CHECK,
                format!("the last delivery to `{name}` failed: {}", display(problem)),
                format!("fix the receiver, then run `stoker webhook test {name}`"),
            ));
        }
    }
    findings
}
