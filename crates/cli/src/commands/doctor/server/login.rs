//! Checks the credentials.

use serde::Deserialize as _;
use stoker_api_types::users::UserView;
use stoker_client::{ClientError, RestRequest};

use stoker_model::ErrorChain;

use crate::commands::doctor::check_result::CheckResult;
use crate::remote::{Remote, sanitize};

const CHECK: &str = "login";

pub(super) fn check(remote: &mut Remote<'_>) -> Vec<CheckResult> {
    let response = remote.try_send(&RestRequest::get("users/me")).and_then(|response| response.json());
    vec![match response.map(|me| UserView::deserialize(&me)) {
        Ok(Ok(me)) => {
            let roles = sanitize(&me.roles.join(", "));
            CheckResult::ok(CHECK, format!("logged in as {} ({roles})", sanitize(&me.name)))
        }
        Ok(Err(error)) => {
            let message = format!("unexpected response of the server: {error}");
            CheckResult::problem(CHECK, message, "install the version of the server")
        }
        Err(ClientError::Rejected(refusal)) if refusal.status == 401 => {
            CheckResult::problem(CHECK, "not logged in, or the login has expired", "run `stoker login`")
        }
        Err(error) => CheckResult::problem(CHECK, ErrorChain(&error).to_string(), "run `stoker login` again"),
    }]
}
