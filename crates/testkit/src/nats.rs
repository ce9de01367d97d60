//! A private NATS server. It starts in milliseconds, so each test that needs a server starts one.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::folder::TempFolder;

const PROGRAM: &str = "nats-server";
/// Directory into which Debian installs the program, outside the search path of most users.
const SYSTEM_FOLDER: &str = "/usr/sbin";
const MISSING: &str = "`nats-server` is not installed; run `apt-get install nats-server`, \
                       or set STOKER_TEST_SKIP=nats to skip the tests that need it";
const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
/// Maximum time until the server accepts connections. A start takes milliseconds; the bound is for machines
/// under heavy load.
const START_TIMEOUT: Duration = Duration::from_secs(30);

/// A NATS server; killed when dropped, and when the thread that started it ends.
pub struct TestNats {
    folder: TempFolder,
    program: PathBuf,
    config: Option<PathBuf>,
    address: IpAddr,
    /// Enables JetStream on the command line, for servers without a configuration file.
    has_jetstream: bool,
    port: u16,
    process: Option<Child>,
}

impl TestNats {
    /// Returns a server without authentication on loopback. `None` if `STOKER_TEST_SKIP` lists `nats`.
    pub fn start_open() -> Option<Self> {
        Self::start_with(None, LOOPBACK, false)
    }

    /// Starts a NATS server with JetStream, whose streams survive a restart.
    pub fn with_jetstream() -> Option<Self> {
        Self::start_with(None, LOOPBACK, true)
    }

    /// Returns a server with a configuration file, which must not set address and port.
    pub fn with_config(config: &Path) -> Option<Self> {
        Self::with_config_at(config, LOOPBACK)
    }

    /// Starts a NATS server with a configuration file on the given address.
    pub fn with_config_at(config: &Path, address: IpAddr) -> Option<Self> {
        Self::start_with(Some(config.to_owned()), address, false)
    }

    fn start_with(config: Option<PathBuf>, address: IpAddr, has_jetstream: bool) -> Option<Self> {
        if stoker_testenv::exclude("nats") {
            return None;
        }
        let program = program().unwrap_or_else(|| panic!("{MISSING}"));
        let folder = TempFolder::new();
        let mut nats = Self { folder, program, config, address, has_jetstream, port: 0, process: None };
        nats.start();
        Some(nats)
    }

    pub fn url(&self) -> String {
        format!("nats://{}:{}", self.address, self.port)
    }

    /// Deletes the JetStream storage. The server must be stopped and must not have a configuration file, which sets
    /// another directory.
    pub fn delete_storage(&self) {
        assert!(self.process.is_none(), "NATS is running; stop it first");
        fs::remove_dir_all(self.storage()).expect("cannot remove the storage directory of NATS");
    }

    /// Starts the server on the address and port that it had before.
    pub fn start(&mut self) {
        assert!(self.process.is_none(), "NATS is running already");
        let ports = self.folder.file("ports");
        drop(fs::remove_dir_all(&ports));
        fs::create_dir(&ports).expect("cannot create a directory");
        let log = fs::File::create(self.folder.file("server.log")).expect("cannot create a file");
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL"]).arg(&self.program);
        command.args(["-a", &self.address.to_string(), "-p"]);
        command.arg(if self.port == 0 { "-1".to_owned() } else { self.port.to_string() });
        command.arg("--ports_file_dir").arg(&ports);
        if let Some(config) = &self.config {
            command.arg("-c").arg(config);
        }
        if self.has_jetstream {
            command.arg("-js").arg("-sd").arg(self.storage());
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        self.process = Some(command.spawn().expect("cannot start `setpriv`"));
        self.port = self.wait_until_ready(&ports);
    }

    /// Kills the server without a shutdown.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            drop(process.kill());
            drop(process.wait());
        }
    }

    fn storage(&self) -> PathBuf {
        self.folder.file("kept")
    }

    #[expect(clippy::disallowed_methods, reason = "polls another process")]
    fn wait_until_ready(&mut self, ports: &Path) -> u16 {
        let started = Instant::now();
        loop {
            if let Some(port) = listening_port(ports, self.address) {
                return port;
            }
            let log = || fs::read_to_string(self.folder.file("server.log")).unwrap_or_default();
            let status = self.process.as_mut().and_then(|process| process.try_wait().ok().flatten());
            assert!(status.is_none(), "NATS exited during start: {}", log());
            assert!(started.elapsed() < START_TIMEOUT, "NATS does not start: {}", log());
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for TestNats {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Returns the port in the file that the server writes, once it accepts connections.
fn listening_port(ports: &Path, address: IpAddr) -> Option<u16> {
    let file = fs::read_dir(ports).ok()?.flatten().next()?;
    let text = fs::read_to_string(file.path()).ok()?;
    let (_, after) = text.split_once(&format!("nats://{address}:"))?;
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    let port = digits.parse().ok()?;
    TcpStream::connect((address, port)).ok()?;
    Some(port)
}

#[expect(clippy::disallowed_methods, reason = "the search path is in the environment")]
fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain([PathBuf::from(SYSTEM_FOLDER)]);
    folders.map(|folder| folder.join(PROGRAM)).find(|program| program.is_file())
}
