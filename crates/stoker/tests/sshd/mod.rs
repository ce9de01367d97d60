//! A private SSH server on this machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use stoker_testkit::TempFolder;

/// An SSH server on loopback that accepts one key; killed on drop.
pub(crate) struct Sshd {
    pub(crate) folder: TempFolder,
    pub(crate) port: u16,
    process: std::process::Child,
}

impl Drop for Sshd {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

/// Returns the path of sshd, which refuses to run when called by a relative path.
fn sshd_path() -> Option<PathBuf> {
    ["/usr/sbin/sshd", "/usr/local/sbin/sshd", "/sbin/sshd"]
        .iter()
        .map(PathBuf::from)
        .find(|path| path.exists())
}

fn create_key(path: &Path) {
    let status = Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(path).status();
    assert!(status.unwrap().success());
}

impl Sshd {
    pub(crate) fn start() -> Self {
        let sshd = sshd_path()
            .expect("sshd is missing: `apt-get install openssh-server`, or skip with STOKER_TEST_SKIP=ssh");
        let folder = TempFolder::new();
        create_key(&folder.file("host_key"));
        create_key(&folder.file("key"));
        fs::copy(folder.file("key.pub"), folder.file("authorized_keys")).unwrap();
        // Privilege separation directory; normally created by the service manager.
        _ = fs::create_dir_all("/run/sshd");
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let dir = folder.path().display();
        let config = format!(
            "ListenAddress 127.0.0.1\nPort {port}\nHostKey {dir}/host_key\nAuthorizedKeysFile {dir}/authorized_keys\n\
             StrictModes no\nUsePAM no\nPidFile none\nPermitRootLogin yes\n"
        );
        fs::write(folder.file("config"), config).unwrap();
        let process = Command::new(sshd)
            .arg("-D")
            .arg("-f")
            .arg(folder.file("config"))
            .arg("-E")
            .arg(folder.file("log"))
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        Self { folder, port, process }
    }

    /// Returns the options for `ssh` to connect with the accepted key.
    pub(crate) fn options(&self) -> Vec<String> {
        let mut options = vec!["-i".to_owned(), self.folder.file("key").display().to_string()];
        for option in [
            "StrictHostKeyChecking=no",
            "UserKnownHostsFile=/dev/null",
            "IdentitiesOnly=yes",
            "LogLevel=ERROR",
        ] {
            options.extend(["-o".to_owned(), option.to_owned()]);
        }
        options
    }
}

pub(crate) fn is_skipped() -> bool {
    stoker_testkit::exclude("ssh")
}
