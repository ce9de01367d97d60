//! A PostgreSQL server of one test or benchmark, which may stop, start and reconfigure it.

use std::fmt::Write as _;
use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use stoker_store::Database;

use super::programs::{Programs, run};
use super::server::{USER, free_port};
use crate::TempFolder;

/// Maximum time until the server accepts connections. A start takes a second; the bound is for machines under
/// heavy load.
const START_TIMEOUT: Duration = Duration::from_mins(1);

/// Settings for a write-heavy workload with full durability; all others have their defaults.
const DURABLE: &[&str] = &["-c", "shared_buffers=256MB", "-c", "max_wal_size=4GB"];
/// Option that disables fsync: tests need not survive a power loss.
const NO_FSYNC: &[&str] = &["-F"];

/// A private server; stopped and deleted when dropped.
pub struct PrivatePostgres {
    settings: &'static [&'static str],
    programs: Programs,
    folder: TempFolder,
    port: u16,
    server: Option<Child>,
}

impl PrivatePostgres {
    /// Starts a server with one empty database. `None` if `STOKER_TEST_SKIP` lists `postgres`.
    pub fn start() -> Option<Self> {
        if stoker_testenv::exclude("postgres") {
            return None;
        }
        Some(Self::create(NO_FSYNC))
    }

    /// Starts a server with full durability, for benchmarks: committed transactions are on disk.
    pub fn start_durable() -> Self {
        Self::create(DURABLE)
    }

    fn create(settings: &'static [&'static str]) -> Self {
        let programs = Programs::find().unwrap_or_else(|message| panic!("{message}"));
        let folder = TempFolder::new();
        make_accessible(&folder);
        let mut server = Self { settings, programs, folder, port: free_port(), server: None };
        let home = server.home();
        fs::create_dir(&home).expect("cannot create a directory");
        server.programs.chown(&home);
        run(server
            .programs
            .command("initdb")
            .current_dir("/")
            .args(["-A", "trust", "-U", USER, "-E", "UTF8", "--no-locale", "--no-sync", "--no-instructions"])
            .arg("-D")
            .arg(server.data()));
        server.resume();
        let mut create = server.programs.command("createdb");
        create.current_dir("/").args(["-h", "127.0.0.1", "-U", USER, "-p"]).arg(server.port.to_string());
        run(create.arg("stoker"));
        server
    }

    /// Copies the database. Fails while a client is connected to it.
    pub fn copy_database(&self, name: &str) -> Database {
        let mut create = self.programs.command("createdb");
        create.current_dir("/").args(["-h", "127.0.0.1", "-U", USER, "-T", "stoker", "-p"]);
        run(create.arg(self.port.to_string()).arg(name));
        Database::Postgres { url: format!("postgres://{USER}@127.0.0.1:{}/{name}", self.port) }
    }

    /// Restarts the server with this certificate and key; it accepts TLS connections only from then on.
    pub fn require_tls(&mut self, certificate: &Path, key: &Path) {
        self.stop();
        let mut settings = String::from("ssl = on\n");
        for (from, name) in [(certificate, "ssl_cert_file"), (key, "ssl_key_file")] {
            let to = self.home().join(name);
            fs::copy(from, &to).expect("cannot copy a file");
            run(Command::new("chmod").arg("600").arg(&to));
            self.programs.chown(&to);
            _ = writeln!(settings, "{name} = '{}'", to.display());
        }
        let file = self.data().join("postgresql.conf");
        let before = fs::read_to_string(&file).expect("cannot read the settings of the server");
        fs::write(&file, before + &settings).expect("cannot write a file");
        fs::write(self.data().join("pg_hba.conf"), "hostssl all all 127.0.0.1/32 trust\n")
            .expect("cannot write a file");
        self.resume();
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn url(&self) -> String {
        format!("postgres://{USER}@127.0.0.1:{}/stoker", self.port)
    }

    /// Returns the process ID of the postmaster, 0 while the server is stopped.
    pub fn process_id(&self) -> u32 {
        self.server.as_ref().map_or(0, Child::id)
    }

    pub fn database(&self) -> Database {
        Database::Postgres { url: self.url() }
    }

    /// Starts the stopped server on the same port and waits until it accepts connections.
    #[expect(clippy::disallowed_methods, reason = "polls another process")]
    pub fn resume(&mut self) {
        let mut command = self.programs.command("postgres");
        command.current_dir("/").arg("-D").arg(self.data()).arg("-k").arg(self.home());
        command.args(["-h", "127.0.0.1", "-p"]).arg(self.port.to_string()).args(self.settings);
        let log = fs::OpenOptions::new().create(true).append(true).open(self.folder.file("log"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log.expect("cannot create a file"));
        self.server = Some(command.spawn().expect("cannot start `postgres`"));
        let started = Instant::now();
        while !self.is_ready() {
            let log = || fs::read_to_string(self.folder.file("log")).unwrap_or_default();
            assert!(started.elapsed() < START_TIMEOUT, "PostgreSQL does not start: {}", log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Stops the server without a checkpoint and without waiting for clients, as in a power loss.
    pub fn stop(&mut self) {
        let Some(mut server) = self.server.take() else { return };
        let mut stop = self.programs.command("pg_ctl");
        stop.current_dir("/").args(["stop", "-m", "immediate", "-s", "-D"]).arg(self.data());
        drop(stop.status());
        drop(server.wait());
    }

    fn is_ready(&self) -> bool {
        let text = fs::read_to_string(self.data().join("postmaster.pid")).unwrap_or_default();
        let is_ready = text.lines().nth(7).is_some_and(|state| state.trim() == "ready");
        is_ready && TcpStream::connect(("127.0.0.1", self.port)).is_ok()
    }

    fn home(&self) -> PathBuf {
        self.folder.file("run")
    }

    fn data(&self) -> PathBuf {
        self.home().join("data")
    }
}

impl Drop for PrivatePostgres {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Lets the user of the server enter the directory.
fn make_accessible(folder: &TempFolder) {
    run(Command::new("chmod").arg("755").arg(folder.path()));
}
