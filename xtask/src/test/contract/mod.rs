//! The server keeps the contract that it publishes, whatever it is asked.

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
use crate::workspace::Profile;

const CONFIGURATION: &str = "xtask/src/test/contract/schemathesis.toml";
const HOOKS: &str = "xtask/src/test/contract/hooks.py";
/// The user whose token the requests carry.
const NAME: &str = "contract";

pub(super) fn run(cx: &Cx) -> Outcome<Done> {
    let program = schemathesis::program(&cx.metadata.target_dir)?;
    let stoker = cx.metadata.build_stoker(&cx.root, Profile::Dev)?;
    let mut server = Server::start(&stoker)?;
    seed::plant(&server)?;
    let own = Own::create(&mut server)?;
    let mut command = Command::new(program);
    command
        .current_dir(&cx.root)
        .args(["--config-file", CONFIGURATION, "run", "--url", &server.url])
        .args(["--header", &format!("X-Auth-Token: {}", server.token)])
        .args(["--max-examples", &cx.n_contract.to_string()])
        .arg(format!("{}/api/v1/openapi.json", server.url))
        .env("STOKER_CONTRACT_HOOKS", cx.root.join(HOOKS))
        .env("STOKER_CONTRACT_KEPT", seed::N_KEPT.to_string())
        .env("STOKER_CONTRACT_USER", own.user)
        .env("STOKER_CONTRACT_TENANT", own.tenant)
        .env("STOKER_CONTRACT_TOKEN", own.token);
    let outcome = run_command(&mut command);
    let complaints = server.complaints();
    if outcome.is_err() {
        for line in complaints {
            print_line(&line);
        }
    }
    outcome?;
    if server.send("GET", "/api/v1/users/me", &Value::Null).is_err() {
        return Err(Failure::new("the requests logged themselves out, so that the later ones prove nothing"));
    }
    Ok(Done::Passed)
}

/// Ids of what the requests must leave alone.
struct Own {
    user: String,
    tenant: String,
    token: String,
}

impl Own {
    /// An admin of a tenant of its own; the server's requests are its from now on.
    fn create(server: &mut Server) -> Outcome<Self> {
        let tenant = server.send("POST", "/api/v1/tenants", &json!({"name": NAME}))?;
        let user = json!({"name": NAME, "password": NAME, "tenant": NAME, "roles": ["admin"]});
        let user = server.send("POST", "/api/v1/users", &user)?;
        server.token = server.log_in(NAME, NAME)?;
        let tokens = server.send("GET", "/api/v1/tokens", &Value::Null)?;
        let [user, tenant, token] = [&user, &tenant, &tokens[0]].map(|thing| thing["id"].to_string());
        Ok(Self { user, tenant, token })
    }
}
