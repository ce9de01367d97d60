//! The server: a REST API over the store, and who may use it.
//!
//! `http/` is what all operations share, `access/` is login and permissions, `api/` has a folder for each resource,
//! `state.rs` composes it. Use cases are those of `stoker-services`.
//! A handler is thin: it reads the request into model types, calls the pure crates and the store, and shows the result.
//! SQL is the store's; meaning is the pure crates'.
//!
//! # A new resource
//!
//! Add `api/<resource>/mod.rs` with `pub(crate) fn routes() -> OpenApiRouter<App>` built with
//! `http::routes::Routes`, and one line in the list of `api/mod.rs`. Each operation names its permission there; the
//! published document, the check at run time and the tests that try each operation as everybody follow from it.
//! Then `cargo xtask codegen` refreshes `openapi/stoker.json`.

mod access;
mod api;
mod connections;
mod group;
mod http;
mod interface;
mod limits;
mod metrics;
mod nats;
mod openapi;
mod package_files;
mod page;
mod router;
mod runs;
mod serve;
mod state;
mod tls;
mod trace;
mod upkeep;

pub use access::first_start::{ADMIN, FirstStart, FirstStartFailed};
pub use openapi::{document as openapi_document, text as openapi_text};
pub use router::{AppService, service};
pub use runs::{AgentGuard, AgentPlace, AgentSpawner, LocalAgent, LocalConnection};
pub use serve::{ServeError, run, serve};
pub use state::App;
pub use stoker_services::Clock;
pub use stoker_services::modules::{RotateError, Rotated, rotate_keys};
