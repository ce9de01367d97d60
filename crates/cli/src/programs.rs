//! Entry points of long-running programs, implemented by sibling crates and injected by the executable.

use std::error::Error;
use std::path::Path;

use stoker_settings::{AgentSettings, DatabaseLocation, Server};

/// Runs the server until the process receives a termination signal; the callback prints a status line.
pub type Serve = fn(Server, &mut dyn FnMut(&str)) -> Result<(), Box<dyn Error>>;

/// Runs an agent until the process receives a termination signal; the callback prints a status line.
pub type RunAgent = fn(AgentSettings, &mut dyn FnMut(&str)) -> Result<(), Box<dyn Error>>;

/// Re-encrypts module payloads with a new key and returns a summary.
pub type RotateModuleKeys = fn(&DatabaseLocation, &Path) -> Result<String, Box<dyn Error>>;

/// Programs that commands start.
pub struct Programs {
    pub agent: RunAgent,
    /// Returns the OpenAPI document of the server as JSON.
    pub openapi: fn() -> String,
    pub rotate_module_keys: RotateModuleKeys,
    pub serve: Serve,
}
