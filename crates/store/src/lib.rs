//! What Stoker remembers: the only crate with SQL, over SQLite or PostgreSQL.
//!
//! A [`Store`] hands out a [`Session`] to read and a [`Writing`] to change things; the methods about one kind of
//! record are in one module. A change that is not committed has never been, and none is committed without its
//! entry in the audit log. Rows that users change carry a generation; whoever writes says which one was read, and
//! loses with [`StoreError::Stale`] when somebody else was faster.
//!
//! It decides nothing: what may be changed, by whom and when, is the callers' business. It reads no clock.
//!
//! A new kind of record: a migration under the same number in both folders, a module here with its `impl Session`
//! and `impl Writing`, a file of tests in `tests/conformance`, which run on both engines.

mod agent_certificates;
mod agents;
mod audit;
mod backup;
mod clusters;
mod connection;
mod error;
mod facts;
mod graphs;
mod group;
mod history;
mod inspect;
mod links;
mod modules;
mod node_roles;
mod node_runs;
mod nodes;
mod observer;
mod open;
mod output;
mod plans;
mod plugins;
mod primaries;
mod quotas;
mod releases;
mod run_events;
mod runs;
mod sequences;
mod session;
mod settings;
mod sql;
mod states;
mod store;
mod successes;
mod tenants;
mod together;
mod tokens;
mod users;
mod webhooks;

pub use audit::AuditFilter;
pub use backup::{BackupError, restore};
pub use clusters::ClusterFilter;
pub use error::{Outage, StoreError};
pub use graphs::GraphFilter;
pub use history::HistoryFilter;
pub use inspect::Inspection;
pub use modules::{ModuleFilter, SealedPlace};
pub use node_runs::Sighting;
pub use nodes::{NodeCount, NodeFilter};
pub use observer::{Observer, Operation};
pub use open::OpenError;
pub use runs::RunFilter;
pub use sequences::SequenceFilter;
pub use session::{Session, Writing};
pub use sql::list::{List, Order, Page};
pub use states::{Collected, StateDocument};
pub use store::{Database, Patience, Store};
pub use together::Together;
pub use webhooks::NotificationFilter;
