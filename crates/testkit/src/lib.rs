//! Fixtures of tests: temporary directories, a private PostgreSQL, a private NATS, an OTLP collector, the shared data set.
//!
//! A missing program fails the test with the command that installs it. `STOKER_TEST_SKIP=postgres` (or `nats`) skips
//! the tests that need it; each is recorded through `stoker-testenv` and listed by `cargo xtask test`.

mod collector;
mod data;
mod folder;
mod nats;
mod postgres;

pub use collector::{CollectedSpan, Collector};
pub use data::{real_data, real_graphs, real_plugin_graphs};
pub use folder::TempFolder;
pub use nats::TestNats;
pub use postgres::{PrivatePostgres, TestDatabase};
pub use stoker_testenv::{Tool, exclude, record_missing_tool, record_skip};
