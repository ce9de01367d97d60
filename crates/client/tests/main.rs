//! Integration tests of `stoker-client` in one binary.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod client;
mod messenger;
