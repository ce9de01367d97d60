//! Checks the credentials.

use stoker_client::{ClientError, RestRequest};

use crate::commands::doctor::finding::Finding;
use crate::remote::{Remote, cell};

const CHECK: &str = "login";

pub(super) fn check(remote: &mut Remote<'_>) -> Vec<Finding> {
    let response = remote.try_send(&RestRequest::get("users/me")).and_then(|response| response.json());
    vec![match response {
        Ok(me) => Finding::ok(CHECK, format!("logged in as {} ({})", cell(&me["name"]), cell(&me["roles"]))),
        Err(ClientError::Rejected(refusal)) if refusal.status == 401 => {
            Finding::problem(CHECK, "not logged in, or the login has expired", "run `stoker login`")
        }
        Err(error) => Finding::problem(CHECK, error.to_string(), "run `stoker login` again"),
    }]
}
