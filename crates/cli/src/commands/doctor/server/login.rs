//! Checks the credentials.

use stoker_client::{ClientError, RestRequest};

use crate::commands::doctor::check_result::CheckResult;
use crate::remote::{Remote, cell};

const CHECK: &str = "login";

pub(super) fn check(remote: &mut Remote<'_>) -> Vec<CheckResult> {
    let response = remote.try_send(&RestRequest::get("users/me")).and_then(|response| response.json());
    vec![match response {
        Ok(me) => {
            CheckResult::ok(CHECK, format!("logged in as {} ({})", cell(&me["name"]), cell(&me["roles"])))
        }
        Err(ClientError::Rejected(refusal)) if refusal.status == 401 => {
            CheckResult::problem(CHECK, "not logged in, or the login has expired", "run `stoker login`")
        }
        Err(error) => CheckResult::problem(CHECK, error.to_string(), "run `stoker login` again"),
    }]
}
