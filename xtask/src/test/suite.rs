//! The commands that run test suites: cargo-nextest where it is installed, else `cargo test`.

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::thread::available_parallelism;

use super::{Cx, skips};
use crate::failure::{Context as _, Outcome};
use crate::process::{cargo, which};
use crate::tools::{ansible, oracle};

/// Number of tests per core. Tests of leases, heartbeats and restarts wait most of their time; one test per
/// core would leave the machine idle.
const TESTS_PER_CORE: usize = 2;
/// Number of generated expressions that the differential tests compare.
pub(super) const DIFFERENTIAL_CASES: &str = "STOKER_DIFFERENTIAL_CASES";
/// Variable that lists preconditions whose absence fails a test; see `crates/testenv`.
const REQUIRE: &str = "STOKER_TEST_REQUIRE";
/// Variable that lists preconditions that are excluded, by the names of the steps that install them.
pub(super) const EXCLUDE: &str = "STOKER_TEST_SKIP";

/// A run of the workspace's tests.
pub(super) struct Suite<'a> {
    cx: &'a Cx,
    has_nextest: bool,
    command: Command,
}

impl<'a> Suite<'a> {
    /// Selects all tests of the workspace.
    pub(super) fn all(cx: &'a Cx) -> Outcome<Self> {
        let has_nextest = which("cargo-nextest").is_some();
        let mut command = cargo();
        command.current_dir(&cx.root);
        if has_nextest {
            command.args(["nextest", "run", "--workspace", "--no-fail-fast", "--no-tests=pass"]);
            command.args(["--status-level=slow", "--final-status-level=fail", "--test-threads"]);
            command.arg(n_threads().to_string());
        } else {
            command.args(["test", "--workspace", "--no-fail-fast", "--quiet"]);
        }
        let mut suite = Self { cx, has_nextest, command };
        suite.set_environment()?;
        Ok(suite)
    }

    /// Selects the tests of one integration test binary.
    pub(super) fn binary(cx: &'a Cx, name: &str) -> Outcome<Self> {
        let mut suite = Self::all(cx)?;
        suite.command.args(["--test", name]);
        Ok(suite)
    }

    /// Selects tests by a nextest filter expression. `cargo test` has no equivalent: it runs all tests, which takes
    /// longer and checks no less.
    pub(super) fn filter(mut self, expression: &str) -> Self {
        if self.has_nextest {
            self.command.args(["--filterset", expression]);
        }
        self
    }

    pub(super) fn profile(mut self, name: &str) -> Self {
        if self.has_nextest {
            self.command.args(["--profile", name]);
        }
        self
    }

    pub(super) fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.command.env(name, value.into());
        self
    }

    /// Leaves out the tests whose name contains `name`. The last call before [`Suite::run`]: it ends the options.
    pub(super) fn skip(mut self, name: &str) -> Self {
        // `cargo test` passes the arguments after `--` to documentation tests too, which have a separate
        // step.
        if !self.has_nextest {
            self.command.args(["--lib", "--bins", "--tests"]);
        }
        self.command.args(["--", "--skip", name]);
        self
    }

    pub(super) fn run(mut self) -> Outcome {
        crate::process::run(&mut self.command)
    }

    /// Passes tools that were installed into the target directory, exclusions, and the file for skipped tests.
    fn set_environment(&mut self) -> Outcome {
        let target_dir = &self.cx.metadata.target_dir;
        self.command.env(DIFFERENTIAL_CASES, self.cx.n_differential.to_string());
        self.command.env(skips::VARIABLE, self.cx.skips.path());
        let excluded: Vec<&str> = self.cx.excluded.iter().map(String::as_str).collect();
        self.command.env(EXCLUDE, excluded.join(","));
        if self.cx.is_fast {
            return Ok(());
        }
        // Earlier steps have installed every tool; a missing tool is a failure, not a skipped test. The
        // caller may require the shared data as well.
        let required = env::var(REQUIRE).map_or_else(|_| "tools".to_owned(), |list| format!("{list},tools"));
        self.command.env(REQUIRE, required);
        let is_excluded = |step: &str| self.cx.excluded.contains(step);
        // A tool that cannot be installed has failed its step; the other tests are still useful.
        if !is_excluded("oracle")
            && let Ok(python) = oracle::python(target_dir)
        {
            self.command.env(oracle::VARIABLE, python);
        }
        if !is_excluded("ansible")
            && let Ok(playbook) = ansible::playbook(target_dir)
        {
            let folder = playbook.parent().unwrap_or(Path::new("/"));
            self.command.env("PATH", path_with(folder)?);
        }
        Ok(())
    }
}

fn n_threads() -> usize {
    available_parallelism().map_or(2, usize::from) * TESTS_PER_CORE
}

/// Returns the search path with a directory appended: programs of the system are found first.
fn path_with(folder: &Path) -> Outcome<OsString> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain([folder.to_owned()]);
    env::join_paths(folders).context("cannot extend the search path")
}
