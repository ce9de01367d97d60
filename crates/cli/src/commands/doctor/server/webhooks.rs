//! Checks the last delivery of each webhook. Only administrators can list webhooks.

use stoker_client::RestRequest;

use crate::commands::doctor::check_result::CheckResult;
use crate::remote::{Remote, cell};

const CHECK: &str = "webhooks";

pub(super) fn check(remote: &mut Remote<'_>) -> Vec<CheckResult> {
    let Ok(response) = remote.try_send(&RestRequest::get("webhooks")).and_then(|response| response.json())
    else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    for webhook in response.as_array().into_iter().flatten() {
        let path = format!("webhooks/{}/deliveries", cell(&webhook["id"]));
        let newest = remote.get_list(&RestRequest::get(path).query("limit", 1)).unwrap_or_default();
        if let Some(delivery) = newest.first().filter(|delivery| !delivery["problem"].is_null()) {
            let name = cell(&webhook["name"]);
            findings.push(CheckResult::warning(
                CHECK,
                format!("the last delivery to `{name}` failed: {}", cell(&delivery["problem"])),
                format!("fix the receiver, then run `stoker webhook test {name}`"),
            ));
        }
    }
    findings
}
