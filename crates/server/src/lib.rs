//! The server: REST API, access control, metrics, and the composition root.
//!
//! `http/` is infrastructure shared by all operations, `access/` is authentication and authorization, `api/`
//! has a directory per resource, `state.rs` is the composition root. Use cases are in `stoker-services`, runs
//! in `stoker-orchestrator`.
//!
//! Handlers are thin: they convert the request to domain types, call a use case or the store, and convert the result.
//!
//! # A new resource
//!
//! Add `api/<resource>/mod.rs` with `pub(crate) fn routes() -> OpenApiRouter<App>` built with
//! `api::routes::Routes`, and one line in the list of `api/mod.rs`. Each operation names its permission there; the
//! published document, the authorization check and the tests that call each operation with each role follow from it.
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
mod rate_limiter;
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
pub use state::{App, AppError};
pub use stoker_orchestrator::{AgentGuard, AgentPlace, AgentSpawner, LocalAgent, LocalConnection};
pub use stoker_services::Clock;
pub use stoker_services::modules::{RotateError, Rotated, rotate_keys};
