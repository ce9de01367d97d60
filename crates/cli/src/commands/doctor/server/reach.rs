//! Whether the server answers, and its database.

use stoker_client::{ClientError, Request};

use crate::commands::doctor::finding::Finding;
use crate::remote::Remote;

const CHECK: &str = "server";

pub(super) fn check(remote: &mut Remote<'_>) -> Vec<Finding> {
    let server = remote.client().address().to_string();
    vec![match remote.try_send(&Request::get("health")) {
        Ok(_) => Finding::ok(CHECK, format!("{server} answers, and so does its database")),
        Err(ClientError::Refused(refusal)) if refusal.status == 503 => Finding::problem(
            CHECK,
            format!("{server} answers, and its database does not"),
            "on the machine of the server: `stoker doctor setup` with the options of the server",
        ),
        Err(error) => {
            let help = "does it run, is the address right, does a firewall stand between?";
            Finding::problem(CHECK, error.to_string(), help)
        }
    }]
}
