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
//! `api::routes::Routes`, and one line in the list of `api/mod.rs`. Each operation names its permission there; the
//! published document, the check at run time and the tests that try each operation as everybody follow from it.
//! Then `cargo xtask codegen` refreshes `openapi/stoker.json`.

mod access;
mod api;
mod connections;
mod gc;
mod http;
mod joining;
mod limits;
mod metrics;
mod package_files;
mod router;
mod serve;
mod state;
mod tls;
mod trace;
mod web_ui;

pub use access::first_start::{ADMIN, FirstStart, FirstStartFailed};
pub use api::document::{document as openapi_document, text as openapi_text};
pub use router::{AppService, service};
pub use serve::{ServeError, run, serve};
pub use state::App;
pub use stoker_orchestrator::{AgentGuard, AgentPlace, AgentSpawner, LocalAgent, LocalConnection};
pub use stoker_services::Clock;
pub use stoker_services::modules::{RotateError, Rotated, rotate_keys};
