//! Checks that the server and its database respond.

use stoker_client::{ClientError, RestRequest};

use stoker_model::ErrorChain;

use crate::commands::doctor::check_result::CheckResult;
use crate::remote::Remote;

const CHECK: &str = "server";

pub(super) fn check(remote: &mut Remote<'_>) -> Vec<CheckResult> {
    let server = remote.client().address().to_string();
    vec![match remote.try_send(&RestRequest::get("health")) {
        Ok(_) => CheckResult::ok(CHECK, format!("{server} and its database respond")),
        Err(ClientError::Rejected(refusal)) if refusal.status == 503 => CheckResult::problem(
            CHECK,
            format!("{server} responds, but its database does not"),
            "run `stoker doctor setup` with the options of the server on its machine",
        ),
        Err(error) => {
            let help = "check that the server is running, its address, and firewalls";
            CheckResult::problem(CHECK, ErrorChain(&error).to_string(), help)
        }
    }]
}
