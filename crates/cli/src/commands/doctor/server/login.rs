//! Whether we are known there.

use stoker_client::{ClientError, Request};

use crate::commands::doctor::finding::Finding;
use crate::remote::{Remote, cell};

const CHECK: &str = "login";

pub(super) fn check(remote: &mut Remote<'_>) -> Vec<Finding> {
    let answer = remote.try_send(&Request::get("users/me")).and_then(|answer| answer.json());
    vec![match answer {
        Ok(me) => Finding::ok(CHECK, format!("as {} ({})", cell(&me["name"]), cell(&me["roles"]))),
        Err(ClientError::Refused(refusal)) if refusal.status == 401 => {
            Finding::problem(CHECK, "you are not logged in, or no longer", "`stoker login`")
        }
        Err(error) => Finding::problem(CHECK, error.to_string(), "`stoker login` again"),
    }]
}
