//! System packages. Root installs them; for other users the error contains the command to run.

use std::path::Path;
use std::process::Command;

use parking_lot::Mutex;

use crate::failure::{Failure, Outcome};
use crate::process::{capture, run, which};

/// A package and the reason it is needed.
pub(crate) struct Package {
    pub(crate) name: &'static str,
    why: &'static str,
}

/// Opens the pages of the web UI.
pub(crate) const CHROMIUM: Package = Package { name: "chromium", why: "to test the web UI in a browser" };
/// The documentation of the API uses it in its examples, which a test runs.
pub(crate) const CURL: Package =
    Package { name: "curl", why: "to run the examples of the API documentation" };
/// Links the fuzzing engine, which is written in C++.
pub(crate) const CXX: Package = Package { name: "g++", why: "to build the fuzz targets" };
/// Creates network namespaces whose links a test can cut.
pub(crate) const IPROUTE2: Package =
    Package { name: "iproute2", why: "to test servers and agents during a network partition" };
/// Tests start a private server; the service of the package is not used.
pub(crate) const NATS: Package = Package { name: "nats-server", why: "to test messages through NATS" };
/// Tests start a private server; the service of the package is not used.
pub(crate) const OPENSSH: Package = Package { name: "openssh-server", why: "to test agents over SSH" };
/// Tests start a private server; the service of the package is not used.
pub(crate) const POSTGRESQL: Package = Package { name: "postgresql", why: "to test the store on PostgreSQL" };
/// Contains `python3` and the modules `venv` and `ensurepip`.
pub(crate) const PYTHON: Package =
    Package { name: "python3-venv", why: "to install tools written in Python" };
/// Tests of the task type `puppet` run it without its service.
pub(crate) const PUPPET: Package = Package { name: "puppet-agent", why: "to test the task type `puppet`" };
pub(crate) const GIT: Package = Package { name: "git", why: "to test the task type `git`" };
/// Tests of the task type `sync` run it.
pub(crate) const RSYNC: Package = Package { name: "rsync", why: "to test the task type `sync`" };

/// Directories into which Debian installs daemons, and which are not on the search path of every user.
const SYSTEM_FOLDERS: &[&str] = &["/usr/sbin", "/sbin"];

/// Installs the package unless its program is there.
pub(crate) fn ensure(program: &str, package: &Package) -> Outcome {
    let is_installed = || {
        which(program).is_some()
            || SYSTEM_FOLDERS.iter().any(|folder| Path::new(folder).join(program).is_file())
    };
    if is_installed() {
        return Ok(());
    }
    install(package)?;
    if is_installed() {
        return Ok(());
    }
    Err(Failure::new(format!("package `{}` is installed but has no program `{program}`", package.name)))
}

pub(crate) fn install(package: &Package) -> Outcome {
    let manual = format!("apt-get install {}", package.name);
    if which("apt-get").is_none() {
        return Err(Failure::new(format!(
            "package `{}` (Debian's name) is missing, needed {}; install it and repeat the command",
            package.name, package.why
        )));
    }
    let is_root = capture(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    if !is_root {
        return Err(Failure::new(format!(
            "package `{}` is missing, needed {}; run `sudo {manual}`",
            package.name, package.why
        )));
    }
    // apt-get refuses to run twice at a time, and steps run in two threads.
    static APT: Mutex<()> = Mutex::new(());
    let _guard = APT.lock();
    let apt = |arguments: &[&str]| {
        run(Command::new("apt-get").args(arguments).env("DEBIAN_FRONTEND", "noninteractive"))
    };
    apt(&["update", "--quiet", "--quiet"])?;
    apt(&["install", "--yes", "--quiet", "--quiet", "--no-install-recommends", package.name])
}
