//! Use cases of the server, without HTTP.
//!
//! Handlers of `server` and drivers of `orchestrator` call this crate with domain values and a store session.
//! It returns domain values or a [`ServiceError`], which states whether the caller or the server caused the
//! failure; `server` maps it to an HTTP status. Callers pass an `Actor`: authentication and authorization
//! happen in `server`.

pub mod background;
pub mod clock;
pub mod cluster_settings;
pub mod clusters;
pub mod database;
pub mod error;
pub mod facts;
pub mod fair_semaphore;
pub mod graphs;
pub mod metadata;
pub mod modules;
pub mod nodes;
pub mod planning;
pub mod plugins;
pub mod precondition;
pub mod principal;
pub mod quotas;
pub mod random;
pub mod releases;
pub mod repositories;
pub mod role_limits;
pub mod runs;
pub mod services;
pub mod tenants;
pub mod trace;
pub mod webhooks;

pub use clock::Clock;
pub use error::{ErrorReport, ServiceError, ServiceResult};
pub use fair_semaphore::FairSemaphore;
pub use principal::{Principal, TenantScope};
pub use runs::RunKind;
pub use services::{Environment, Services, ServicesError};
