//! Tests of the state machines through their public API.

mod agent_session;
mod course;
mod handlers;
mod laws;
mod server_session;
mod size;
mod small;
mod stored;
mod weak_points;
