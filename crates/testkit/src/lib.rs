//! What tests need around them: folders that go away, a private PostgreSQL, a private NATS, a collector of
//! traces, the shared real data.
//!
//! A program that is missing is a failure with the line to type, not a test that passes without having tested
//! anything; `STOKER_TEST_SKIP=postgres` (or `nats`) leaves its tests out and is said aloud by `cargo xtask test`.

mod collector;
mod data;
mod folder;
mod nats;
mod postgres;

pub use collector::{Collected, Collector};
pub use data::real_data;
pub use folder::Folder;
pub use nats::TestNats;
pub use postgres::{OwnPostgres, TestDatabase};
