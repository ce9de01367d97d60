//! Packages of the system. As root they are installed; otherwise the error is the line to type.

use std::process::Command;

use crate::failure::{Failure, Outcome};
use crate::process::{capture, run, which};

/// A package and the reason it is needed.
pub(crate) struct Package {
    pub(crate) name: &'static str,
    why: &'static str,
}

/// What the pages of the web interface are looked at with.
pub(crate) const CHROMIUM: Package =
    Package { name: "chromium", why: "to test the web interface in a browser" };
/// What the documentation shows the API with, and a test runs.
pub(crate) const CURL: Package =
    Package { name: "curl", why: "to walk through the API as the documentation does" };
/// Links the fuzzing engine, which is written in C++.
pub(crate) const CXX: Package = Package { name: "g++", why: "to build the fuzz targets" };
/// Makes networks that can be cut.
pub(crate) const IPROUTE2: Package =
    Package { name: "iproute2", why: "to test what a cut network does to servers and agents" };
/// A server for the tests of the bus; the one that the package sets up is left alone.
pub(crate) const NATS: Package = Package { name: "nats-server", why: "to test messages through NATS" };
/// A server for the tests of the agent; the one that the package sets up is left alone.
pub(crate) const OPENSSH: Package =
    Package { name: "openssh-server", why: "to test agents that are started over SSH" };
/// A server for the tests of the store; the one that the package sets up is left alone.
pub(crate) const POSTGRESQL: Package =
    Package { name: "postgresql", why: "to test the store on its second engine" };
/// Holds `python3` itself and the modules `venv` and `ensurepip`.
pub(crate) const PYTHON: Package =
    Package { name: "python3-venv", why: "to install the tools that are written in Python" };

/// What `sync` tasks run.
pub(crate) const RSYNC: Package = Package { name: "rsync", why: "to test tasks that make folders equal" };

pub(crate) fn install(package: &Package) -> Outcome {
    let manual = format!("apt-get install {}", package.name);
    if which("apt-get").is_none() {
        return Err(Failure::new(format!(
            "needed {}: what Debian calls `{}`; install it and run this again",
            package.why, package.name
        )));
    }
    let is_root = capture(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    if !is_root {
        return Err(Failure::new(format!("needed {}: run `sudo {manual}` and then this again", package.why)));
    }
    let apt = |arguments: &[&str]| {
        run(Command::new("apt-get").args(arguments).env("DEBIAN_FRONTEND", "noninteractive"))
    };
    apt(&["update", "--quiet", "--quiet"])?;
    apt(&["install", "--yes", "--quiet", "--quiet", "--no-install-recommends", package.name])
}
