//! Webhooks that cannot be told anything. Only admins see them.

use stoker_client::Request;

use crate::commands::doctor::finding::Finding;
use crate::remote::{Remote, cell};

const CHECK: &str = "webhooks";

pub(super) fn check(remote: &mut Remote<'_>) -> Vec<Finding> {
    let Ok(answer) = remote.try_send(&Request::get("webhooks")).and_then(|answer| answer.json()) else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    for webhook in answer.as_array().into_iter().flatten() {
        let path = format!("webhooks/{}/deliveries", cell(&webhook["id"]));
        let newest = remote.get_list(&Request::get(path).query("limit", 1)).unwrap_or_default();
        if let Some(failed) = newest.first().filter(|delivery| !delivery["problem"].is_null()) {
            let name = cell(&webhook["name"]);
            findings.push(Finding::warning(
                CHECK,
                format!("`{name}` was not told the last news: {}", cell(&failed["problem"])),
                format!("mend the receiver, then `stoker webhook test {name}`"),
            ));
        }
    }
    findings
}
