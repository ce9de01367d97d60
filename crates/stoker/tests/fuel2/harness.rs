//! A server with agents of its own, things to deploy, and `fuel2` to talk to it.

use std::cell::RefCell;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use stoker_testkit::Folder;

use crate::process::{Client, PASSWORD, Process};

/// The interpreter that can import the client; `cargo xtask test` sets it.
const VARIABLE: &str = "STOKER_FUEL2_PYTHON";
const DRIVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fuel2/driver.py");
/// Longer than any run here should take, on however busy a machine.
const LONG: Duration = Duration::from_mins(2);
const LOOK: Duration = Duration::from_millis(50);

/// What a command line ended with.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i64,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

pub(crate) struct Fuel {
    driver: RefCell<Driver>,
    server: Process,
    /// For what `fuel2` has no command: releases, plugins, nodes that are discovered.
    pub(crate) rest: Client,
    /// Where the commands run: their files are found here.
    folder: Folder,
}

struct Driver {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Drop for Driver {
    fn drop(&mut self) {
        // It may have ended already.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

impl Fuel {
    /// A server without anything in it.
    pub(crate) fn new() -> Self {
        let folder = Folder::new();
        std::fs::create_dir(folder.file("work")).unwrap();
        let server = Process::start_with(&folder.file("data"), &["--local-agents"]);
        let rest = server.client();
        let mut command = Command::new(python());
        let mut child = with_settings(command.arg(DRIVER), &server.address, folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { driver: RefCell::new(Driver { child, input, output }), server, rest, folder }
    }

    /// With one release, one cluster of it, and three nodes: a controller, two computes. All their ids count from 1.
    pub(crate) fn with_cluster() -> Self {
        let fuel = Self::new();
        fuel.create("releases", &release("Shop", "newton-10.0"));
        fuel.ok("env create demo -r 1");
        for number in 1..=3 {
            fuel.discover(number);
        }
        fuel.ok("env add nodes -e 1 -n 1 -r controller");
        fuel.ok("env add nodes -e 1 -n 2 3 -r compute");
        fuel
    }

    /// Makes a thing over REST: its id.
    #[track_caller]
    pub(crate) fn create(&self, path: &str, body: &Value) -> i64 {
        self.rest.expect(201, "POST", &format!("/api/v1/{path}"), Some(body))["id"].as_i64().unwrap()
    }

    #[track_caller]
    pub(crate) fn discover(&self, number: u8) -> i64 {
        let found = json!({
            "mac": format!("52:54:00:00:00:{number:02x}"), "status": "discover",
            "ip": format!("192.0.2.{number}"), "platform_name": "KVM", "manufacturer": "QEMU",
            "meta": {"interfaces": [], "numa_topology": {"numa_nodes": [], "supported_hugepages": [2048], "distances": [["1.0"]]}},
        });
        self.create("nodes", &found)
    }

    /// Runs a command line, written as in a shell, whatever it ends with.
    pub(crate) fn run(&self, line: &str) -> Ended {
        let mut driver = self.driver.borrow_mut();
        let request = json!({"line": line, "folder": self.work()});
        writeln!(driver.input, "{request}").unwrap();
        let mut answer = String::new();
        driver.output.read_line(&mut answer).unwrap();
        let answer: Value = serde_json::from_str(&answer).unwrap_or_else(|_| panic!("{line}: {answer:?}"));
        let text = |key: &str| answer[key].as_str().unwrap().to_owned();
        Ended { code: answer["code"].as_i64().unwrap(), stdout: text("stdout"), stderr: text("stderr") }
    }

    /// Runs the program itself, as a user does: `options` come before the command.
    pub(crate) fn program(&self, options: &[&str], command: &[&str]) -> Ended {
        let mut program = Command::new(python().with_file_name("fuel2"));
        with_settings(&mut program, &self.server.address, self.folder.path());
        let output = program.args(options).args(command).current_dir(self.work()).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let code = i64::from(output.status.code().unwrap());
        Ended { code, stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// A command that must succeed: what it printed.
    #[track_caller]
    pub(crate) fn ok(&self, line: &str) -> String {
        let ended = self.run(line);
        assert_eq!(ended.code, 0, "fuel2 {line}\n{}{}", ended.stdout, ended.stderr);
        ended.stdout
    }

    /// A table as data.
    #[track_caller]
    pub(crate) fn json(&self, line: &str) -> Value {
        let printed = self.ok(&format!("{line} -f json"));
        // Some commands say a sentence first.
        let start = printed.find(['[', '{']).unwrap_or_else(|| panic!("fuel2 {line}: {printed}"));
        serde_json::from_str(&printed[start..])
            .unwrap_or_else(|error| panic!("fuel2 {line}: {error}\n{printed}"))
    }

    /// One column of a table.
    #[track_caller]
    pub(crate) fn column(&self, line: &str, name: &str) -> Vec<Value> {
        let table = self.json(line);
        table.as_array().unwrap().iter().map(|row| row[name].clone()).collect()
    }

    /// A command that the server refuses, cleanly: what the user is told.
    #[track_caller]
    pub(crate) fn refused(&self, line: &str) -> String {
        let ended = self.run(line);
        assert_eq!(ended.code, 1, "fuel2 {line}\n{}{}", ended.stdout, ended.stderr);
        let told = ended.stderr.trim();
        assert!(
            !told.is_empty() && !told.contains("Traceback") && !told.contains(" 50"),
            "fuel2 {line}: {told}"
        );
        told.to_owned()
    }

    /// A command that is refused with a status and a text.
    #[track_caller]
    pub(crate) fn refused_with(&self, status: u16, text: &str, line: &str) {
        let told = self.refused(line);
        assert!(told.starts_with(&format!("{status} ")) && told.contains(text), "fuel2 {line}: {told}");
    }

    /// Runs a command that starts something: the id of the task, once it is over.
    #[track_caller]
    pub(crate) fn start(&self, line: &str) -> i64 {
        let said = self.ok(line);
        let (_, rest) = said.split_once("task with id ").unwrap_or_else(|| panic!("fuel2 {line}: {said}"));
        rest.split_whitespace().next().unwrap().parse().unwrap()
    }

    /// The same, and waits: the task as it ended.
    #[track_caller]
    pub(crate) fn finish(&self, line: &str) -> Value {
        let id = self.start(line);
        self.ended(id)
    }

    #[track_caller]
    pub(crate) fn ended(&self, id: i64) -> Value {
        let path = format!("/api/v1/transactions/{id}");
        until(&format!("task {id} ends"), || {
            let task = self.rest.expect(200, "GET", &path, None);
            (task["status"] == "ready" || task["status"] == "error").then_some(task)
        })
    }

    fn work(&self) -> PathBuf {
        self.folder.file("work")
    }

    /// A file where the commands look for it: its path.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.work().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    #[track_caller]
    pub(crate) fn read(&self, name: &str) -> String {
        let path = self.work().join(name);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// A file that a command wrote with `json` as its format.
    #[track_caller]
    pub(crate) fn read_json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.work().join(name).display().to_string()
    }
}

/// Waits for something to be so.
#[track_caller]
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + LONG;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "in vain: {what}");
        std::thread::sleep(LOOK);
    }
}

/// What the variable names, or a failure that says what to do.
fn python() -> PathBuf {
    let found = std::env::var_os(VARIABLE);
    found.map_or_else(
        || {
            panic!(
                "`{VARIABLE}` names no Python that can import fuelclient; `cargo xtask test --only clients` \
             installs python-fuelclient and sets it"
            )
        },
        PathBuf::from,
    )
}

/// Everything that the client reads from its environment.
fn with_settings<'c>(command: &'c mut Command, address: &str, folder: &Path) -> &'c mut Command {
    let (host, port) = address.rsplit_once(':').unwrap();
    // Without a file of one's own the first start writes one, and says so on standard output.
    let settings = folder.join("fuel_client.yaml");
    std::fs::write(&settings, format!("SERVER_PORT: {port}\n")).unwrap();
    for proxy in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        command.env_remove(proxy);
    }
    command
        .env("SERVER_ADDRESS", host)
        .env("SERVER_PORT", port)
        .env("OS_USERNAME", "admin")
        .env("OS_PASSWORD", PASSWORD)
        .env("FUELCLIENT_CUSTOM_SETTINGS", settings)
        .env("PYTHONWARNINGS", "ignore")
        .env("PYTHONDONTWRITEBYTECODE", "1")
}

/// A release with two roles, a few settings, components and a graph whose tasks do nothing for long.
pub(crate) fn release(name: &str, version: &str) -> Value {
    json!({
        "name": name, "version": version, "operating_system": "Ubuntu", "state": "available",
        "modes_metadata": {"ha_compact": {}},
        "extensions": ["volume_manager"],
        "roles_metadata": {
            "controller": {"name": "Controller", "description": "Decides", "tags": ["controller"], "conflicts": ["compute"]},
            "compute": {"name": "Compute", "description": "Carries", "tags": ["compute"]},
        },
        "tags_metadata": {"controller": {"has_primary": false}, "compute": {"has_primary": false}},
        "attributes_metadata": {
            "editable": {
                "common": {"metadata": {"label": "Common"}, "debug": {"type": "checkbox", "value": false, "label": "Debug"}},
                "repo_setup": {"repos": {"type": "custom_repo_configuration", "value": [
                    {"name": "ubuntu", "type": "deb", "uri": "http://archive.example/ubuntu", "suite": "xenial", "section": "main", "priority": 500},
                    {"name": "extra", "type": "deb", "uri": "http://extra.example/", "suite": "xenial", "section": "main", "priority": 100},
                ]}},
            },
            "generated": {"password": {"generator": "password"}},
        },
        "components_metadata": [
            {"name": "hypervisor:qemu", "label": "QEMU", "default": true,
             "compatible": [{"name": "storage:*"}]},
            {"name": "storage:block", "label": "Blocks", "requires": [{"any_of": {"items": ["hypervisor:*"]}}]},
            {"name": "network:plain", "label": "Plain", "incompatible": [{"name": "storage:block", "message": "not these"}]},
        ],
        "graphs": [
            {"type": "default", "name": "all of it", "tasks": [
                {"id": "prepare", "type": "shell", "version": "2.1.0", "roles": ["/.*/"], "parameters": {"cmd": "true", "timeout": 60}},
                {"id": "install", "type": "shell", "version": "2.1.0", "roles": ["controller"], "requires": ["prepare"],
                 "parameters": {"cmd": "true", "timeout": 60}},
            ]},
            {"type": "verify", "tasks": [
                {"id": "verify", "type": "shell", "version": "2.1.0", "roles": ["/.*/"], "parameters": {"cmd": "true", "timeout": 60}},
            ]},
        ],
    })
}
