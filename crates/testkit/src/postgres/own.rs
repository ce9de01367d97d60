//! A PostgreSQL that nobody shares: a test may stop and start it, a measurement has it to itself.

use std::fmt::Write as _;
use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use stoker_store::Database;

use super::programs::{Programs, run};
use super::server::{USER, free_port};
use crate::Folder;

const START_MAX: Duration = Duration::from_mins(1);

/// What an operator would set where much is written; everything else is as the package has it.
const DURABLE: &[&str] = &["-c", "shared_buffers=256MB", "-c", "max_wal_size=4GB"];
/// What a test sets that does not care about a loss of power.
const FORGETFUL: &[&str] = &["-F"];

/// Gone, with everything in it, when dropped.
pub struct OwnPostgres {
    settings: &'static [&'static str],
    programs: Programs,
    folder: Folder,
    port: u16,
    server: Option<Child>,
}

impl OwnPostgres {
    /// A new one with one empty database, without tables. `None` when tests of PostgreSQL are left out on purpose.
    pub fn start_new() -> Option<Self> {
        if super::is_left_out() {
            return None;
        }
        Some(Self::make(FORGETFUL))
    }

    /// The same for a measurement: what it has said to be kept is on the disk.
    pub fn durable() -> Self {
        Self::make(DURABLE)
    }

    fn make(settings: &'static [&'static str]) -> Self {
        let programs = Programs::find().unwrap_or_else(|message| panic!("{message}"));
        let folder = Folder::new();
        open_to_all(&folder);
        let mut own = Self { settings, programs, folder, port: free_port(), server: None };
        let home = own.home();
        fs::create_dir(&home).expect("cannot make a folder");
        own.programs.give(&home);
        run(own
            .programs
            .command("initdb")
            .current_dir("/")
            .args(["-A", "trust", "-U", USER, "-E", "UTF8", "--no-locale", "--no-sync", "--no-instructions"])
            .arg("-D")
            .arg(own.data()));
        own.start();
        let mut create = own.programs.command("createdb");
        create.current_dir("/").args(["-h", "127.0.0.1", "-U", USER, "-p"]).arg(own.port.to_string());
        run(create.arg("stoker"));
        own
    }

    /// From now on it speaks TLS and nothing else, with this certificate and key.
    pub fn encrypt(&mut self, certificate: &Path, key: &Path) {
        self.stop();
        let mut settings = String::from("ssl = on\n");
        for (from, name) in [(certificate, "ssl_cert_file"), (key, "ssl_key_file")] {
            let to = self.home().join(name);
            fs::copy(from, &to).expect("cannot copy a file");
            run(Command::new("chmod").arg("600").arg(&to));
            self.programs.give(&to);
            _ = writeln!(settings, "{name} = '{}'", to.display());
        }
        let file = self.data().join("postgresql.conf");
        let before = fs::read_to_string(&file).expect("it has settings");
        fs::write(&file, before + &settings).expect("cannot write a file");
        fs::write(self.data().join("pg_hba.conf"), "hostssl all all 127.0.0.1/32 trust\n")
            .expect("cannot write a file");
        self.start();
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn url(&self) -> String {
        format!("postgres://{USER}@127.0.0.1:{}/stoker", self.port)
    }

    /// The process above all others of this server, while it runs.
    pub fn id(&self) -> u32 {
        self.server.as_ref().map_or(0, Child::id)
    }

    pub fn database(&self) -> Database {
        Database::Postgres { url: self.url() }
    }

    /// On the same port; it answers when this returns.
    #[expect(clippy::disallowed_methods, reason = "another program starts at its own pace")]
    pub fn start(&mut self) {
        let mut command = self.programs.command("postgres");
        command.current_dir("/").arg("-D").arg(self.data()).arg("-k").arg(self.home());
        command.args(["-h", "127.0.0.1", "-p"]).arg(self.port.to_string()).args(self.settings);
        let log = fs::OpenOptions::new().create(true).append(true).open(self.folder.file("log"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log.expect("cannot make a file"));
        self.server = Some(command.spawn().expect("cannot start `postgres`"));
        let started = Instant::now();
        while !self.is_ready() {
            let log = || fs::read_to_string(self.folder.file("log")).unwrap_or_default();
            assert!(started.elapsed() < START_MAX, "PostgreSQL does not start: {}", log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// As in a loss of power: nobody is waited for.
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

impl Drop for OwnPostgres {
    fn drop(&mut self) {
        self.stop();
    }
}

/// It runs as another user, who has to get to its own folder.
fn open_to_all(folder: &Folder) {
    run(Command::new("chmod").arg("755").arg(folder.path()));
}
