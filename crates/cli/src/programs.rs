//! Programs that live in crates beside this one; the executable puts them together.

use std::error::Error;
use std::path::Path;

use stoker_settings::{Agent, DatabaseLocation, Server};

/// Runs the server until the process is asked to end; the second argument tells people a line.
pub type Serve = fn(Server, &mut dyn FnMut(&str)) -> Result<(), Box<dyn Error>>;

/// Runs an agent until the process is asked to end; the second argument tells people a line.
pub type RunAgent = fn(Agent, &mut dyn FnMut(&str)) -> Result<(), Box<dyn Error>>;

/// Seals the contents of modules with a new key, and says what it did.
pub type RotateModuleKeys = fn(&DatabaseLocation, &Path) -> Result<String, Box<dyn Error>>;

/// What some commands start.
pub struct Programs {
    pub agent: RunAgent,
    /// The REST API of the server as JSON.
    pub openapi: fn() -> String,
    pub rotate_module_keys: RotateModuleKeys,
    pub serve: Serve,
}
