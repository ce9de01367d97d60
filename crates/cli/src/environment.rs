//! Environment variables. No other module reads the environment.

#![expect(clippy::disallowed_methods, reason = "this is the edge at which the environment is read")]

use std::env;
use std::path::PathBuf;

use stoker_settings::{TRACES_SECRETS, Traces, TracesError};

/// Returns `$XDG_STATE_HOME/stoker`: persistent files that users do not edit, such as the history of the
/// REPL.
pub(crate) fn state_folder() -> Option<PathBuf> {
    let absolute = |path: PathBuf| path.is_absolute().then_some(path);
    let state = env::var_os("XDG_STATE_HOME").map(PathBuf::from).and_then(absolute);
    let state = state.or_else(|| Some(env::home_dir().and_then(absolute)?.join(".local/state")))?;
    Some(state.join("stoker"))
}

/// Returns `$XDG_DATA_HOME/stoker`: databases and other data files.
pub(crate) fn data_folder() -> Option<PathBuf> {
    let absolute = |path: PathBuf| path.is_absolute().then_some(path);
    let data = env::var_os("XDG_DATA_HOME").map(PathBuf::from).and_then(absolute);
    let data = data.or_else(|| Some(env::home_dir().and_then(absolute)?.join(".local/share")))?;
    Some(data.join("stoker"))
}

/// Returns `$XDG_CONFIG_HOME/stoker`: configuration and credentials of the user.
pub(crate) fn config_folder() -> Option<PathBuf> {
    let absolute = |path: PathBuf| path.is_absolute().then_some(path);
    let config = env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).and_then(absolute);
    let config = config.or_else(|| Some(env::home_dir().and_then(absolute)?.join(".config")))?;
    Some(config.join("stoker"))
}

/// Password of the initial administrator.
pub(crate) const ADMIN_PASSWORD: &str = "STOKER_ADMIN_PASSWORD";
/// Variable with the database URL, which keeps its password out of the process list.
pub(crate) const DATABASE_URL: &str = "STOKER_DATABASE_URL";
/// Variable with the join token of an agent, which keeps the token out of the process list.
pub(crate) const JOIN_TOKEN: &str = "STOKER_JOIN_TOKEN";
/// Variable with the log filter.
pub(crate) const LOG: &str = "STOKER_LOG";
/// Variable with the NATS URL, which keeps its password out of the process list.
pub(crate) const NATS_URL: &str = "STOKER_NATS_URL";
/// Variable with the URL of the server.
pub(crate) const SERVER: &str = "STOKER_SERVER";
const PASSWORD: &str = "STOKER_PASSWORD";
const TOKEN: &str = "STOKER_TOKEN";
const WEBHOOK_SECRET: &str = "STOKER_WEBHOOK_SECRET";

/// Variables that hold secrets. They are removed from the environment of task processes.
pub const SECRET_VARIABLES: &[&str] = &[
    ADMIN_PASSWORD,
    DATABASE_URL,
    JOIN_TOKEN,
    NATS_URL,
    PASSWORD,
    TOKEN,
    TRACES_SECRETS[0],
    TRACES_SECRETS[1],
    WEBHOOK_SECRET,
];

/// Returns the standard OpenTelemetry settings of the trace exporter, from `OTEL_*`.
pub(crate) fn traces(service: &str) -> Result<Option<Traces>, Vec<TracesError>> {
    Traces::from_env(service, env!("CARGO_PKG_VERSION"), |name| env::var(name).ok())
}

/// Returns the variable of an option. An empty variable counts as unset.
pub(crate) fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// Returns the database URL, from `STOKER_DATABASE_URL`.
pub(crate) fn database_url() -> Option<String> {
    variable(DATABASE_URL)
}

/// Returns the key that signs webhook deliveries, from `STOKER_WEBHOOK_SECRET`.
pub(crate) fn webhook_secret() -> Option<String> {
    env::var(WEBHOOK_SECRET).ok().filter(|secret| !secret.is_empty())
}

/// Returns the URL of the server, from `STOKER_SERVER`.
pub(crate) fn server() -> Option<String> {
    variable(SERVER)
}

/// Returns the file with CA certificates to trust in addition to those of the system, from `STOKER_CA_FILE`.
pub(crate) fn ca_file() -> Option<PathBuf> {
    env::var_os("STOKER_CA_FILE").filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// Returns the authentication token, from `STOKER_TOKEN`.
pub(crate) fn token() -> Option<String> {
    env::var(TOKEN).ok().filter(|token| !token.is_empty())
}

/// Returns the user name, from `STOKER_USER`.
pub(crate) fn user() -> Option<String> {
    env::var("STOKER_USER").ok().filter(|user| !user.is_empty())
}

/// Returns the password of `STOKER_USER`, from `STOKER_PASSWORD`.
pub(crate) fn password() -> Option<String> {
    env::var(PASSWORD).ok().filter(|password| !password.is_empty())
}

/// Returns the output width in characters, from `COLUMNS`.
pub(crate) fn columns() -> Option<u16> {
    env::var("COLUMNS").ok()?.parse().ok().filter(|columns| *columns > 0)
}
