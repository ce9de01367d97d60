//! Preconditions of tests: external programs, the shared data set, and the report of tests whose
//! preconditions were not met.
//!
//! libtest has no result for a test that decides at run time not to run: it returns early and counts as
//! passed. Every such return goes through this crate, which appends the name of the test and the reason to
//! the file in the variable [`SKIPS`]; `cargo xtask test` lists them in its summary. Without the variable,
//! the line is written to standard error.
//!
//! [`REQUIRE`] turns a missing precondition into a failure. [`EXCLUDE`] excludes preconditions on purpose and takes
//! precedence: such a test is reported as skipped, never as failed.
//!
//! This crate has no dependencies, so that every crate, including standalone ones, can use it in its tests.

mod data;
mod report;
mod tool;

pub use data::{shared_data, shared_folder};
pub use report::{EXCLUDE, REQUIRE, SKIPS, exclude, record_missing_tool, record_skip};
pub use tool::Tool;

/// Records the current test as skipped and returns from it. Takes the reason as `format!` does.
#[macro_export]
macro_rules! skip {
    ($($reason:tt)+) => {{
        $crate::record_skip(&format!($($reason)+));
        return;
    }};
}
