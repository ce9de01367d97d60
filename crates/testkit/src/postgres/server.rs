//! The PostgreSQL server that all test processes of a run share.

use std::fs::{self, File, OpenOptions};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use stoker_store::Database;

use super::programs::{Programs, run};

pub(super) const USER: &str = "stoker";
/// Maximum time until the server accepts connections. A start takes a second; the bound is for machines under
/// heavy load.
const START_TIMEOUT: Duration = Duration::from_mins(1);
/// The first version that can clone a database file by file, without writing the copy to the log as well.
const FILE_COPY_VERSION: u32 = 15;
/// Stops the server when no test process holds the lock: `$0` is the lock file, the arguments are the command
/// that stops it. The script holds the lock while that command runs, so that a new test process waits and
/// starts a new server.
const WATCHER: &str = r#"while sleep 5; do flock -n -x -E 99 "$0" "$@"; [ $? -eq 99 ] || exit 0; done"#;

pub(super) struct Server {
    programs: Programs,
    folder: PathBuf,
    port: u16,
    /// Shared lock, held as long as this process may use the server.
    _users: File,
}

impl Server {
    /// Connects to the running server, or starts one.
    pub(super) fn join(programs: Programs) -> Self {
        let folder = shared_folder();
        let users = open(&folder.join("users.lock"));
        users.lock_shared().expect("cannot lock a file in the temporary directory");
        let mut server = Self { programs, folder, port: 0, _users: users };
        let guard = server.lock_exclusive();
        server.port = server.running_port().unwrap_or_else(|| server.start());
        drop(guard);
        server
    }

    pub(super) fn database(&self, name: &str) -> Database {
        Database::Postgres { url: format!("postgres://{USER}@127.0.0.1:{}/{name}", self.port) }
    }

    pub(super) fn create_database(&self, name: &str, template: Option<&str>) {
        let mut command = self.client("createdb");
        if let Some(template) = template {
            command.arg(format!("--template={template}"));
            // The default strategy writes every page of the copy to the log: 1.4 to 4 times slower when measured with 60 tables.
            if self.programs.major_version() >= FILE_COPY_VERSION {
                command.arg("--strategy=file_copy");
            }
        }
        run(command.arg(name));
    }

    pub(super) fn drop_database(&self, name: &str) {
        run(self.client("dropdb").args(["--if-exists", "--force", name]));
    }

    /// Serialises changes to the server itself between processes: start, creation of templates.
    pub(super) fn lock_exclusive(&self) -> File {
        let lock = open(&self.folder.join("turn.lock"));
        lock.lock().expect("cannot lock a file in the temporary directory");
        lock
    }

    pub(super) fn has_mark(&self, name: &str) -> bool {
        self.marks().join(name).is_file()
    }

    pub(super) fn set_mark(&self, name: &str) {
        fs::create_dir_all(self.marks()).expect("cannot create a directory");
        fs::write(self.marks().join(name), "").expect("cannot write a file");
    }

    /// Returns the names of the templates that are complete; deleted before a new server starts.
    fn marks(&self) -> PathBuf {
        self.folder.join("marks")
    }

    fn client(&self, program: &str) -> Command {
        let mut command = self.programs.command(program);
        // The user `postgres` may have no access to the current directory.
        command.current_dir("/").args(["-h", "127.0.0.1", "-U", USER, "-p"]).arg(self.port.to_string());
        command
    }

    fn data(&self) -> PathBuf {
        self.folder.join("run/data")
    }

    fn running_port(&self) -> Option<u16> {
        ProcessFile(self.data().join("postmaster.pid")).ready_port()
    }

    fn start(&self) -> u16 {
        let home = self.folder.join("run");
        for old in [&home, &self.marks()] {
            drop(fs::remove_dir_all(old));
        }
        fs::create_dir(&home).expect("cannot create a directory");
        self.programs.chown(&home);
        run(self
            .programs
            .command("initdb")
            .current_dir("/")
            .args(["-A", "trust", "-U", USER, "-E", "UTF8", "--no-locale", "--no-sync", "--no-instructions"])
            .arg("-D")
            .arg(self.data()));
        let port = free_port();
        self.spawn_server(&home, port);
        self.spawn_watcher();
        self.wait_until_ready();
        port
    }

    fn spawn_server(&self, home: &Path, port: u16) {
        let log = File::create(self.folder.join("server.log")).expect("cannot create a file");
        let mut command = self.programs.command("postgres");
        command.current_dir("/").arg("-D").arg(self.data()).arg("-k").arg(home);
        command.args(["-h", "127.0.0.1", "-F", "-p"]).arg(port.to_string());
        for setting in [
            "synchronous_commit=off",
            "full_page_writes=off",
            "shared_buffers=64MB",
            "max_connections=300",
            "autovacuum=off",
        ] {
            command.arg("-c").arg(setting);
        }
        detach(&mut command).stderr(log);
        drop(command.spawn().expect("cannot start `postgres`"));
    }

    fn spawn_watcher(&self) {
        let stop = self.programs.command("pg_ctl");
        let mut command = Command::new("sh");
        command.arg("-c").arg(WATCHER).arg(self.folder.join("users.lock"));
        command.arg(stop.get_program()).args(stop.get_args());
        command.args(["stop", "-m", "immediate", "-s", "-D"]).arg(self.data()).current_dir("/");
        drop(detach(&mut command).spawn().expect("cannot start `sh`"));
    }

    #[expect(clippy::disallowed_methods, reason = "polls another process")]
    fn wait_until_ready(&self) {
        let started = Instant::now();
        while self.running_port().is_none() {
            let log = || fs::read_to_string(self.folder.join("server.log")).unwrap_or_default();
            assert!(started.elapsed() < START_TIMEOUT, "PostgreSQL does not start: {}", log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// `postmaster.pid`, in which a server publishes its port and state.
pub(super) struct ProcessFile(pub(super) PathBuf);

impl ProcessFile {
    /// Returns the port, once the server accepts connections: the fourth line is the port, the eighth the
    /// state.
    pub(super) fn ready_port(&self) -> Option<u16> {
        let text = fs::read_to_string(&self.0).ok()?;
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let port = lines.get(3)?.parse().ok()?;
        let is_ready = lines.get(7).is_some_and(|state| *state == "ready");
        (is_ready && TcpStream::connect(("127.0.0.1", port)).is_ok()).then_some(port)
    }
}

/// Starts the command in a separate process group: an interrupt of the test run must not stop the shared
/// server.
fn detach(command: &mut Command) -> &mut Command {
    command.process_group(0).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null())
}

/// Returns the shared directory; there is one per user of the machine.
fn shared_folder() -> PathBuf {
    let me = fs::metadata("/proc/self").expect("Linux has `/proc`").uid();
    let folder = std::env::temp_dir().join(format!("stoker-testkit-{me}"));
    drop(fs::create_dir(&folder));
    let owner = fs::metadata(&folder).map(|metadata| metadata.uid()).ok();
    assert_eq!(owner, Some(me), "`{}` belongs to another user", folder.display());
    folder
}

fn open(path: &Path) -> File {
    let opened = OpenOptions::new().create(true).truncate(false).write(true).open(path);
    opened.unwrap_or_else(|error| panic!("cannot open `{}`: {error}", path.display()))
}

pub(super) fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("there is a free port");
    listener.local_addr().expect("a listener has an address").port()
}
