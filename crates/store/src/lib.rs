//! Persistence for Stoker: the only crate that contains SQL, on SQLite or PostgreSQL.
//!
//! [`Store`] returns a [`Session`] for reading and a [`WriteTransaction`] for changes; the methods for each
//! record type are in the module of that type. Dropping a transaction without committing rolls it back, and
//! every user-visible change commits together with its audit log entry. Rows that users edit have a
//! `generation` for optimistic concurrency: the writer passes the generation it read and gets
//! [`StoreError::Stale`] if the row has changed since.
//!
//! The store makes no policy decisions: callers decide who may change what and when. It does not read the
//! clock; callers pass timestamps.
//!
//! To add a record type: a migration with the same number in both directories, a module here with its
//! `record!`, `impl Session` and `impl WriteTransaction`, and a test file in `tests/conformance`, which runs
//! on both engines.

mod agent_certificates;
mod agents;
mod applied;
mod audit;
mod backup;
mod clusters;
mod connection;
mod drift;
mod error;
mod facts;
mod graphs;
mod group;
mod group_commit;
mod history;
mod inspect;
mod links;
mod migrations;
mod modules;
mod node_facts;
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
mod snapshots;
mod sql;
mod states;
mod store;
mod task_cache;
mod tenants;
mod tokens;
mod users;
mod webhooks;

pub use applied::AppliedScope;
pub use audit::AuditFilter;
pub use backup::{BackupError, restore};
pub use clusters::ClusterFilter;
pub use connection::Timeouts;
pub use drift::DriftFilter;
pub use error::{Outage, StoreError};
pub use graphs::GraphFilter;
pub use group_commit::GroupCommit;
pub use history::{Effects, HistoryFilter};
pub use inspect::Inspection;
pub use modules::{EncryptedLocation, ModuleFilter};
pub use node_runs::PresenceUpdate;
pub use nodes::{NodeCount, NodeFilter};
pub use observer::{Observer, Operation};
pub use open::OpenError;
pub use runs::RunFilter;
pub use sequences::SequenceFilter;
pub use session::{Session, WriteTransaction};
pub use sql::list::{List, Page, SortOrder};
pub use states::{GcStats, StateDocument};
pub use store::{Database, Store};
pub use webhooks::NotificationFilter;
