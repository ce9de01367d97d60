//! The server: a REST API over the store, and who may use it.
//!
//! `http/` is what all operations share, `access/` is login and permissions, `api/` has a folder for each resource,
//! `parts/` is what several kinds of records are made of, `planning/` is the way from records to a stored plan.
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
mod json;
mod limits;
mod metrics;
mod modules;
mod nats;
mod openapi;
mod packages;
mod page;
mod parts;
mod planning;
mod plugin_cache;
mod repositories;
mod router;
mod runs;
mod serve;
mod state;
mod tls;
mod trace;
mod upkeep;
mod webhooks;

pub use access::first_start::{ADMIN, FirstStart, FirstStartFailed};
pub use modules::{RotateError, Rotated, rotate_keys};
pub use openapi::{document as openapi_document, text as openapi_text};
pub use router::{AppService, service};
pub use runs::{AgentGuard, AgentPlace, AgentSpawner, LocalAgent, LocalConnection};
pub use serve::{ServeError, run, serve};
pub use state::App;
pub use stoker_services::Clock;
