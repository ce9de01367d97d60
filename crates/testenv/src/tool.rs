//! External programs that tests run.

use std::env;
use std::path::PathBuf;

use crate::report::{exclude, miss};

/// Directories into which Debian installs daemons, and which are not on the search path of every user.
const SYSTEM_FOLDERS: &[&str] = &["/usr/sbin", "/sbin", "/usr/local/sbin"];

/// An external program and how to install it.
#[derive(Clone, Copy, Debug)]
pub struct Tool {
    /// The name by which `STOKER_TEST_SKIP` excludes the tests that need it.
    name: &'static str,
    program: &'static str,
    /// Installation hint, printed after "missing".
    install: &'static str,
}

impl Tool {
    pub const ANSIBLE: Self = Self {
        name: "ansible",
        program: "ansible-playbook",
        install: "`cargo xtask test --only ansible` installs it into the target directory",
    };
    pub const APT: Self = Self { name: "apt", program: "apt-get", install: "it is part of Debian" };
    pub const CURL: Self = Self { name: "curl", program: "curl", install: "`apt-get install curl`" };
    pub const DPKG_DEB: Self =
        Self { name: "dpkg-deb", program: "dpkg-deb", install: "`apt-get install dpkg`" };
    pub const GIT: Self = Self { name: "git", program: "git", install: "`apt-get install git`" };
    pub const OPENSSL: Self =
        Self { name: "openssl", program: "openssl", install: "`apt-get install openssl`" };
    pub const PUPPET: Self =
        Self { name: "puppet", program: "puppet", install: "`apt-get install puppet-agent`" };
    pub const RSYNC: Self = Self { name: "rsync", program: "rsync", install: "`apt-get install rsync`" };

    /// Returns the program's path. If it is missing or excluded, records the current test as skipped.
    pub fn find(self) -> Option<PathBuf> {
        if exclude(self.name) {
            return None;
        }
        let path = self.path();
        if path.is_none() {
            miss("tools", &format!("{}: `{}` is not installed; {}", self.name, self.program, self.install));
        }
        path
    }

    #[expect(clippy::disallowed_methods, reason = "the search path is in the environment")]
    fn path(self) -> Option<PathBuf> {
        let path = env::var_os("PATH").unwrap_or_default();
        let folders = env::split_paths(&path).chain(SYSTEM_FOLDERS.iter().map(PathBuf::from));
        folders.map(|folder| folder.join(self.program)).find(|program| program.is_file())
    }
}
