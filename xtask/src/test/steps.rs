//! The steps of CI, in order: cheap and telling first.

use std::path::Path;
use std::process::Command;

use super::{Cx, Done, contract, fuzz, interface, trove};
use crate::failure::Outcome;
use crate::process::{capture, cargo, run, which};
use crate::tools::{debian, deny, fuel2, nats, oracle, postgres};
use crate::workspace::Profile;
use crate::{book, codegen, dist, tidy};

pub(super) struct Step {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    /// Nothing after it makes sense when it fails.
    pub(super) is_fatal: bool,
    pub(super) run: fn(&Cx) -> Outcome<Done>,
}

/// How many generated expressions the differential tests compare.
const DIFFERENTIAL_VARIABLE: &str = "STOKER_DIFFERENTIAL_CASES";

pub(super) const STEPS: &[Step] = &[
    Step { name: "fmt", about: "formatting", is_fatal: false, run: fmt },
    Step { name: "tidy", about: "rules of the house", is_fatal: false, run: |_| passed(tidy::run()) },
    Step {
        name: "ui",
        about: "the web interface: lints, types, tests, build, weight",
        is_fatal: false,
        run: interface::check,
    },
    Step { name: "build", about: "everything compiles, tests included", is_fatal: true, run: build },
    Step { name: "clippy", about: "lints, warnings are errors", is_fatal: false, run: clippy },
    Step { name: "oracle", about: "reference implementation of YAQL", is_fatal: false, run: prepare_oracle },
    Step {
        name: "postgres",
        about: "PostgreSQL and curl for the tests of the server",
        is_fatal: false,
        run: |_| passed(postgres::ensure().and_then(|()| curl())),
    },
    Step {
        name: "nats",
        about: "NATS for the tests of the bus",
        is_fatal: false,
        run: |_| passed(nats::ensure()),
    },
    Step {
        name: "netns",
        about: "networks that tests can cut",
        is_fatal: false,
        run: |_| passed(networks()),
    },
    Step {
        name: "ssh",
        about: "OpenSSH and rsync for the tests of the agent",
        is_fatal: false,
        run: |_| passed(ssh()),
    },
    Step { name: "test", about: "unit and integration tests", is_fatal: false, run: test },
    Step {
        name: "clients",
        about: "fuel2, unmodified, against the server",
        is_fatal: false,
        run: test_clients,
    },
    Step {
        name: "engines",
        about: "the tests of the API on PostgreSQL",
        is_fatal: false,
        run: test_on_postgres,
    },
    Step {
        name: "doctest",
        about: "examples in the documentation of the code",
        is_fatal: false,
        run: doctest,
    },
    Step { name: "docs", about: "documentation builds, warnings are errors", is_fatal: false, run: docs },
    Step { name: "book", about: "the documentation as a book, every link", is_fatal: false, run: make_book },
    Step { name: "codegen", about: "generated files are current", is_fatal: false, run: check_codegen },
    Step {
        name: "contract",
        about: "schemathesis: no 5xx, no answer outside the contract",
        is_fatal: false,
        run: contract::run,
    },
    Step {
        name: "trove",
        about: "the public client of the module API works unmodified",
        is_fatal: false,
        run: trove::run,
    },
    Step {
        name: "package",
        about: "the Debian package is installed, started and purged in a root of its own",
        is_fatal: false,
        run: package,
    },
    Step {
        name: "browser",
        about: "the web interface in a browser, against a real server",
        is_fatal: false,
        run: interface::browser,
    },
    Step {
        name: "deny",
        about: "licences, bans and sources of dependencies",
        is_fatal: false,
        run: check_deny,
    },
    Step { name: "fuzz", about: "each fuzz target for a short time", is_fatal: false, run: fuzz::run_all },
];

fn passed(outcome: Outcome) -> Outcome<Done> {
    outcome.map(|()| Done::Passed)
}

/// `cargo` in the root with these arguments.
fn cargo_in(cx: &Cx, arguments: &[&str]) -> Command {
    let mut command = cargo();
    command.current_dir(&cx.root).args(arguments);
    command
}

/// Every file by its name: `cargo fmt` does not see modules that a macro declares.
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

fn curl() -> Outcome {
    if which("curl").is_some() { Ok(()) } else { debian::install(&debian::CURL) }
}

/// Where only root looks for programs.
fn networks() -> Outcome {
    if which("ip").is_some() || Path::new("/usr/sbin/ip").is_file() {
        return Ok(());
    }
    debian::install(&debian::IPROUTE2)
}

/// The server is where only root looks for programs.
fn ssh() -> Outcome {
    if which("sshd").is_none() && !Path::new("/usr/sbin/sshd").is_file() {
        debian::install(&debian::OPENSSH)?;
    }
    if which("rsync").is_some() { Ok(()) } else { debian::install(&debian::RSYNC) }
}

fn build(cx: &Cx) -> Outcome<Done> {
    passed(run(&mut cargo_in(cx, &["test", "--workspace", "--no-run", "--quiet"])))
}

fn clippy(cx: &Cx) -> Outcome<Done> {
    passed(run(&mut cargo_in(
        cx,
        &["clippy", "--workspace", "--all-targets", "--quiet", "--", "--deny", "warnings"],
    )))
}

fn prepare_oracle(cx: &Cx) -> Outcome<Done> {
    passed(oracle::python(&cx.metadata.target_dir).map(|_| ()))
}

fn test(cx: &Cx) -> Outcome<Done> {
    let mut command = if which("cargo-nextest").is_some() {
        cargo_in(
            cx,
            &["nextest", "run", "--workspace", "--no-fail-fast", "--no-tests=pass", "--status-level=slow"],
        )
    } else {
        cargo_in(cx, &["test", "--workspace", "--no-fail-fast", "--quiet", "--lib", "--bins", "--tests"])
    };
    // These have a step of their own, since they need programs that take long to install.
    command.args(["--", "--skip", fuel2::SCENARIOS]);
    command.env(DIFFERENTIAL_VARIABLE, cx.n_differential.to_string());
    // Without the reference its own step has failed already; the other tests are still worth running.
    if let Ok(python) = oracle::python(&cx.metadata.target_dir) {
        command.env(oracle::VARIABLE, python);
    }
    passed(run(&mut command))
}

/// What users of other programs do every day, with those programs.
fn test_clients(cx: &Cx) -> Outcome<Done> {
    let python = fuel2::python(&cx.metadata.target_dir)?;
    let mut command = cargo_in(cx, &["test", "--quiet", "--workspace", "--test", "fuel2"]);
    passed(run(command.env(fuel2::VARIABLE, python)))
}

/// The same tests as on the embedded engine: what one accepts the other must accept.
fn test_on_postgres(cx: &Cx) -> Outcome<Done> {
    let mut command = cargo_in(cx, &["test", "--quiet", "--workspace", "--test", "api"]);
    passed(run(command.env("STOKER_TEST_ENGINE", "postgres")))
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
    if codegen::n_files() == 0 {
        return Ok(Done::Skipped("no file is generated yet".to_owned()));
    }
    passed(codegen::run(codegen::Mode::Check))
}

/// With the program that the other steps have built.
fn package(cx: &Cx) -> Outcome<Done> {
    let out = cx.metadata.target_dir.join("dist-check");
    passed(dist::make(&cx.root, &cx.metadata, Profile::Dev, &out, true))
}

fn check_deny(cx: &Cx) -> Outcome<Done> {
    let program = deny::program(&cx.metadata.target_dir)?;
    let mut command = Command::new(program);
    command.current_dir(&cx.root).args(["--workspace", "check", "bans", "licenses", "sources"]);
    passed(run(&mut command))
}
