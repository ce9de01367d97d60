//! The API as a client sees it, on either engine: `STOKER_TEST_ENGINE=postgres` chooses the second.
#![expect(clippy::unwrap_used, reason = "tests: a panic is how they fail")]

mod access;
mod assignment;
mod attributes;
mod beginnings;
mod clusters;
mod contract;
mod facts;
mod fixtures;
mod graphs;
mod identity;
mod input;
mod merged;
mod nodes;
mod owners;
mod plugins;
mod releases;
mod roles;
mod sequences;
mod support;
mod transactions;
mod users;
