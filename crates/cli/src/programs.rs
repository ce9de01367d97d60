//! Programs that live in crates beside this one; the executable puts them together.

use std::error::Error;

use stoker_settings::{Agent, Server};

/// Runs the server until the process is asked to end; the second argument tells people a line.
pub type Serve = fn(Server, &mut dyn FnMut(&str)) -> Result<(), Box<dyn Error>>;

/// Runs an agent until the process is asked to end; the second argument tells people a line.
pub type RunAgent = fn(Agent, &mut dyn FnMut(&str)) -> Result<(), Box<dyn Error>>;

/// What some commands start.
pub struct Programs {
    pub agent: RunAgent,
    /// The REST API of the server as JSON.
    pub openapi: fn() -> String,
    pub serve: Serve,
}
