//! A private NATS for a test: up in a moment, so that each test that needs one has its own.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::folder::Folder;

const PROGRAM: &str = "nats-server";
/// Debian keeps it where only root looks for programs.
const SYSTEM_FOLDER: &str = "/usr/sbin";
const MISSING: &str = "tests need NATS, which is not installed: run `apt-get install nats-server`, \
                       or set STOKER_TEST_SKIP=nats to leave them out";
const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const START_MAX: Duration = Duration::from_secs(30);

/// Ends when dropped, and with the thread that started it.
pub struct TestNats {
    folder: Folder,
    program: PathBuf,
    config: Option<PathBuf>,
    address: IpAddr,
    /// Whether it keeps what it is told to, without a configuration that says so.
    is_keeping: bool,
    port: u16,
    process: Option<Child>,
}

impl TestNats {
    /// One that anybody on this machine may use; `None` when tests of NATS are left out on purpose.
    pub fn open() -> Option<Self> {
        Self::start_with(None, LOOPBACK, false)
    }

    /// The same with JetStream: what is kept outlives it.
    pub fn keeping() -> Option<Self> {
        Self::start_with(None, LOOPBACK, true)
    }

    /// One with a configuration file; its address and port are chosen here.
    pub fn configured(config: &Path) -> Option<Self> {
        Self::configured_at(config, LOOPBACK)
    }

    /// The same where others than this machine can reach it.
    pub fn configured_at(config: &Path, address: IpAddr) -> Option<Self> {
        Self::start_with(Some(config.to_owned()), address, false)
    }

    #[expect(clippy::disallowed_methods, reason = "the switch of a test run is in its environment")]
    fn start_with(config: Option<PathBuf>, address: IpAddr, is_keeping: bool) -> Option<Self> {
        let skip = std::env::var("STOKER_TEST_SKIP").unwrap_or_default();
        if skip.split(',').any(|name| name.trim() == "nats") {
            return None;
        }
        let program = program().unwrap_or_else(|| panic!("{MISSING}"));
        let folder = Folder::new();
        let mut nats = Self { folder, program, config, address, is_keeping, port: 0, process: None };
        nats.start();
        Some(nats)
    }

    pub fn url(&self) -> String {
        format!("nats://{}:{}", self.address, self.port)
    }

    /// What it kept is gone; it has to be stopped. One with a configuration keeps elsewhere.
    pub fn forget(&self) {
        assert!(self.process.is_none(), "it runs");
        fs::remove_dir_all(self.folder.file("kept")).expect("cannot remove a folder");
    }

    /// At the same address as before.
    pub fn start(&mut self) {
        assert!(self.process.is_none(), "it runs already");
        let ports = self.folder.file("ports");
        drop(fs::remove_dir_all(&ports));
        fs::create_dir(&ports).expect("cannot make a folder");
        let log = fs::File::create(self.folder.file("server.log")).expect("cannot make a file");
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL"]).arg(&self.program);
        command.args(["-a", &self.address.to_string(), "-p"]);
        command.arg(if self.port == 0 { "-1".to_owned() } else { self.port.to_string() });
        command.arg("--ports_file_dir").arg(&ports);
        if let Some(config) = &self.config {
            command.arg("-c").arg(config);
        }
        if self.is_keeping {
            command.arg("-js").arg("-sd").arg(self.folder.file("kept"));
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        self.process = Some(command.spawn().expect("cannot start `setpriv`"));
        self.port = self.wait_until_ready(&ports);
    }

    /// As if the machine had lost its power.
    pub fn stop(&mut self) {
        if let Some(mut process) = self.process.take() {
            drop(process.kill());
            drop(process.wait());
        }
    }

    #[expect(clippy::disallowed_methods, reason = "another program starts at its own pace")]
    fn wait_until_ready(&mut self, ports: &Path) -> u16 {
        let started = Instant::now();
        loop {
            if let Some(port) = listening(ports, self.address) {
                return port;
            }
            let log = || fs::read_to_string(self.folder.file("server.log")).unwrap_or_default();
            let ended = self.process.as_mut().and_then(|process| process.try_wait().ok().flatten());
            assert!(ended.is_none(), "NATS has ended: {}", log());
            assert!(started.elapsed() < START_MAX, "NATS does not start: {}", log());
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for TestNats {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The port in the file that the server writes, once somebody answers there.
fn listening(ports: &Path, address: IpAddr) -> Option<u16> {
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
