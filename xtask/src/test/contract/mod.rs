//! Compares responses of the server with its published OpenAPI document, for requests that schemathesis generates.

mod seed;
pub(super) mod server;

use std::process::Command;

use serde_json::{Value, json};

use self::server::Server;
use super::{Cx, Done};
use crate::failure::{Failure, Outcome};
use crate::process::run as run_command;
use crate::terminal::print_line;
use crate::tools::schemathesis;

const CONFIGURATION: &str = "xtask/src/test/contract/schemathesis.toml";
const HOOKS: &str = "xtask/src/test/contract/hooks.py";
/// Name of the user and the tenant whose token the requests carry.
const NAME: &str = "contract";

pub(super) fn run(cx: &Cx) -> Outcome<Done> {
    let program = schemathesis::program(&cx.metadata.target_dir)?;
    let stoker = cx.program()?;
    let mut server = Server::start(&stoker)?;
    seed::create(&server)?;
    let protected = Protected::create(&mut server)?;
    let mut command = Command::new(program);
    command
        .current_dir(&cx.root)
        .args(["--config-file", CONFIGURATION, "run", "--url", &server.url])
        .args(["--header", &format!("X-Auth-Token: {}", server.token)])
        .args(["--max-examples", &cx.n_contract.to_string()])
        .arg(format!("{}/api/v1/openapi.json", server.url))
        .env("STOKER_CONTRACT_HOOKS", cx.root.join(HOOKS))
        .env("STOKER_CONTRACT_KEPT", seed::N_KEPT.to_string())
        .env("STOKER_CONTRACT_USER", protected.user)
        .env("STOKER_CONTRACT_TENANT", protected.tenant)
        .env("STOKER_CONTRACT_TOKEN", protected.token);
    let outcome = run_command(&mut command);
    let errors = server.error_lines();
    if outcome.is_err() {
        for line in errors {
            print_line(&line);
        }
    }
    outcome?;
    if server.send("GET", "/api/v1/users/me", &Value::Null).is_err() {
        return Err(Failure::new(
            "a generated request revoked the token of the run; later requests were not tested",
        ));
    }
    Ok(Done::Passed)
}

/// IDs of the records that generated requests must not change.
struct Protected {
    user: String,
    tenant: String,
    token: String,
}

impl Protected {
    /// Creates an admin in a separate tenant and uses its token for all further requests.
    fn create(server: &mut Server) -> Outcome<Self> {
        let tenant = server.send("POST", "/api/v1/tenants", &json!({"name": NAME}))?;
        let user = json!({"name": NAME, "password": NAME, "tenant": NAME, "roles": ["admin"]});
        let user = server.send("POST", "/api/v1/users", &user)?;
        server.token = server.log_in(NAME, NAME)?;
        let tokens = server.send("GET", "/api/v1/tokens", &Value::Null)?;
        let [user, tenant, token] = [&user, &tenant, &tokens[0]].map(|record| record["id"].to_string());
        Ok(Self { user, tenant, token })
    }
}
