//! The steps of CI. Each lane runs its steps in the order of the list: cheap steps that fail often come
//! first.

use std::process::Command;

use super::suite::Suite;
use super::{Cx, Done, contract, fuzz, seeds, trove, web_ui};
use crate::failure::Outcome;
use crate::process::{capture, cargo, run};
use crate::tools::{ansible, debian, deny, fuel2, nats, oracle, postgres, puppet};
use crate::workspace::Profile;
use crate::{book, codegen, dist, tidy};

#[derive(Clone, Copy)]
pub(super) struct Step {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) lane: Lane,
    /// The build itself: if it fails, the steps that need it are skipped.
    pub(super) is_build: bool,
    /// Waits for the build.
    pub(super) needs_build: bool,
    /// Whether the step is part of `--fast`.
    pub(super) is_fast: bool,
    pub(super) run: fn(&Cx) -> Outcome<Done>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    /// Compiles, or runs test suites.
    Main,
    /// A step that neither compiles nor prepares another step.
    Side,
}

/// Creates a step of the main lane that does not need the build.
const fn before_build(name: &'static str, about: &'static str, run: fn(&Cx) -> Outcome<Done>) -> Step {
    Step { name, about, lane: Lane::Main, is_build: false, needs_build: false, is_fast: false, run }
}

/// Creates a step of the main lane that comes after the build.
const fn after_build(name: &'static str, about: &'static str, run: fn(&Cx) -> Outcome<Done>) -> Step {
    Step { needs_build: true, ..before_build(name, about, run) }
}

/// Creates a step of the side lane.
const fn beside(name: &'static str, about: &'static str, run: fn(&Cx) -> Outcome<Done>) -> Step {
    Step { lane: Lane::Side, ..before_build(name, about, run) }
}

/// Creates a step of the side lane that runs the program.
const fn beside_after_build(name: &'static str, about: &'static str, run: fn(&Cx) -> Outcome<Done>) -> Step {
    Step { lane: Lane::Side, ..after_build(name, about, run) }
}

const fn fast(step: Step) -> Step {
    Step { is_fast: true, ..step }
}

pub(super) static STEPS: &[Step] = &[
    fast(before_build("fmt", "formatting", fmt)),
    fast(before_build("tidy", "project rules that the compiler does not check", |_| passed(tidy::run()))),
    before_build("ui-build", "web UI: build into ui/dist", web_ui::build),
    Step { is_build: true, ..fast(before_build("build", "compile everything, tests included", build)) },
    after_build("clippy", "lints, warnings are errors", clippy),
    after_build("oracle", "install the YAQL reference implementation", |cx| {
        passed(oracle::python(&cx.metadata.target_dir).map(|_| ()))
    }),
    after_build("postgres", "install PostgreSQL and curl", |_| {
        passed(postgres::ensure().and_then(|()| debian::ensure("curl", &debian::CURL)))
    }),
    after_build("nats", "install NATS", |_| passed(nats::ensure())),
    after_build("netns", "install iproute2 for tests that cut the network", |_| {
        passed(debian::ensure("ip", &debian::IPROUTE2))
    }),
    after_build("ssh", "install OpenSSH, rsync and git", |_| {
        passed(
            debian::ensure("sshd", &debian::OPENSSH)
                .and_then(|()| debian::ensure("rsync", &debian::RSYNC))
                .and_then(|()| debian::ensure("git", &debian::GIT)),
        )
    }),
    after_build("puppet", "install Puppet", |_| passed(puppet::ensure())),
    after_build("ansible", "install ansible-core", |cx| {
        passed(ansible::playbook(&cx.metadata.target_dir).map(|_| ()))
    }),
    fast(after_build("test", "unit and integration tests", test)),
    after_build("clients", "fuel2, unmodified, against the server", test_clients),
    after_build("engines", "tests of the API on PostgreSQL", test_on_postgres),
    after_build("seeds", "randomised tests with a seed of the day", seeds::run_all),
    after_build("doctest", "examples in doc comments", doctest),
    after_build("docs", "API documentation, warnings are errors", docs),
    after_build("codegen", "generated files are up to date", check_codegen),
    beside("ui", "web UI: lints, types, unit tests, size", web_ui::check),
    beside("deny", "licences, bans and sources of dependencies", check_deny),
    beside("book", "documentation as a book, all links", make_book),
    beside("fuzz", "each fuzz target for a short time", fuzz::run_all),
    beside_after_build(
        "contract",
        "schemathesis: no 5xx, no response outside the OpenAPI document",
        contract::run,
    ),
    beside_after_build(
        "trove",
        "public client of the module API, unmodified, against the server",
        trove::run,
    ),
    beside_after_build("package", "install, start and purge the Debian package in a private root", package),
    beside_after_build("browser", "web UI in a browser against a real server", web_ui::browse),
];

fn passed(outcome: Outcome) -> Outcome<Done> {
    outcome.map(|()| Done::Passed)
}

/// Returns `cargo` in the root with these arguments.
fn cargo_in(cx: &Cx, arguments: &[&str]) -> Command {
    let mut command = cargo();
    command.current_dir(&cx.root).args(arguments);
    command
}

/// Checks the format. Every file is passed by its name: `cargo fmt` does not see modules that a macro
/// declares.
fn fmt(cx: &Cx) -> Outcome<Done> {
    let mut list = Command::new("git");
    list.current_dir(&cx.root).args(["ls-files", "--cached", "--others", "--exclude-standard", "--", "*.rs"]);
    let listed = capture(&mut list)?;
    // Deleted files are listed until the deletion is committed.
    let files = listed.lines().filter(|file| cx.root.join(file).is_file());
    let mut command = Command::new("rustfmt");
    command.current_dir(&cx.root).args(["--check", "--edition", "2024"]).args(files);
    passed(run(&mut command))
}

fn build(cx: &Cx) -> Outcome<Done> {
    run(&mut cargo_in(cx, &["test", "--workspace", "--no-run", "--quiet"]))?;
    passed(cx.program().map(|_| ()))
}

fn clippy(cx: &Cx) -> Outcome<Done> {
    passed(run(&mut cargo_in(
        cx,
        &["clippy", "--workspace", "--all-targets", "--quiet", "--", "--deny", "warnings"],
    )))
}

/// Runs all tests except the scenarios of other clients, which have a separate step because their programs
/// take long to install.
fn test(cx: &Cx) -> Outcome<Done> {
    let suite = Suite::all(cx)?;
    let suite = if cx.is_fast { suite.profile("fast") } else { suite };
    passed(suite.skip(fuel2::SCENARIOS).run())
}

fn test_clients(cx: &Cx) -> Outcome<Done> {
    let python = fuel2::python(&cx.metadata.target_dir)?;
    passed(Suite::binary(cx, "fuel2")?.env(fuel2::VARIABLE, python).run())
}

/// Runs the same tests as on SQLite: both engines accept and reject the same requests.
fn test_on_postgres(cx: &Cx) -> Outcome<Done> {
    passed(Suite::binary(cx, "api")?.env("STOKER_TEST_ENGINE", "postgres").run())
}

fn doctest(cx: &Cx) -> Outcome<Done> {
    passed(run(&mut cargo_in(cx, &["test", "--workspace", "--doc", "--quiet"])))
}

fn docs(cx: &Cx) -> Outcome<Done> {
    let mut command =
        cargo_in(cx, &["doc", "--workspace", "--no-deps", "--document-private-items", "--quiet"]);
    passed(run(command.env("RUSTDOCFLAGS", "-D warnings")))
}

fn make_book(cx: &Cx) -> Outcome<Done> {
    passed(book::make(&cx.root, &cx.metadata.target_dir.join("book")))
}

fn check_codegen(_: &Cx) -> Outcome<Done> {
    passed(codegen::run(codegen::Mode::Check))
}

/// Packs the development build that the other steps have built.
fn package(cx: &Cx) -> Outcome<Done> {
    let out = cx.metadata.target_dir.join("dist-check");
    passed(dist::make(&cx.root, &cx.program()?, Profile::Dev, &out, true))
}

fn check_deny(cx: &Cx) -> Outcome<Done> {
    let program = deny::program(&cx.metadata.target_dir)?;
    let mut command = Command::new(program);
    command.current_dir(&cx.root).args(["--workspace", "check", "bans", "licenses", "sources"]);
    passed(run(&mut command))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_fit_the_table() {
        for (step_idx, step) in STEPS.iter().enumerate() {
            assert!(step.name.len() <= 9, "{}", step.name);
            assert!(STEPS[..step_idx].iter().all(|other| other.name != step.name), "{} twice", step.name);
        }
    }

    #[test]
    fn one_step_is_the_build_and_runs_before_what_needs_it() {
        let builds: Vec<usize> = (0..STEPS.len()).filter(|&idx| STEPS[idx].is_build).collect();
        assert_eq!(builds.len(), 1);
        let in_main_lane = |step: &&Step| step.lane == Lane::Main;
        assert!(STEPS[..builds[0]].iter().filter(in_main_lane).all(|step| !step.needs_build));
    }
}
