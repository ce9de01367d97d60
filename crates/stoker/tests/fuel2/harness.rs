//! Fixture: a server with in-process agents, and the `fuel2` client.

use std::cell::RefCell;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use stoker_testkit::TempFolder;

use crate::process::{Client, PASSWORD, Process};

/// Variable with the Python interpreter that can import the client; set by `cargo xtask test`.
const VARIABLE: &str = "STOKER_FUEL2_PYTHON";
const DRIVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fuel2/driver.py");
/// Upper bound of every wait, with a margin for a busy machine.
const LONG: Duration = Duration::from_mins(2);
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Exit code and output of a command line.
#[derive(Debug)]
pub(crate) struct CommandOutput {
    pub(crate) code: i64,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

pub(crate) struct Fuel {
    driver: RefCell<Driver>,
    server: Process,
    /// REST client for resources without `fuel2` commands: releases, plugins, discovered nodes.
    pub(crate) rest: Client,
    /// Working directory of the commands.
    folder: TempFolder,
}

struct Driver {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Drop for Driver {
    fn drop(&mut self) {
        // The process may have exited already.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

impl Fuel {
    /// Starts an empty server.
    pub(crate) fn new() -> Self {
        let folder = TempFolder::new();
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

    /// Creates a release, a cluster and three nodes (one controller, two computes). All IDs start at 1.
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

    /// Creates a resource over REST and returns its ID.
    #[track_caller]
    pub(crate) fn create(&self, path: &str, body: &Value) -> i64 {
        self.rest.expect(201, "POST", &format!("/api/v1/{path}"), Some(body))["id"].as_i64().unwrap()
    }

    #[track_caller]
    pub(crate) fn discover(&self, number: u8) -> i64 {
        let node = json!({
            "mac": format!("52:54:00:00:00:{number:02x}"), "status": "discover",
            "ip": format!("192.0.2.{number}"), "platform_name": "KVM", "manufacturer": "QEMU",
            "meta": {"interfaces": [], "numa_topology": {"numa_nodes": [], "supported_hugepages": [2048], "distances": [["1.0"]]}},
        });
        self.create("nodes", &node)
    }

    /// Runs a command line in shell syntax.
    pub(crate) fn run(&self, line: &str) -> CommandOutput {
        let mut driver = self.driver.borrow_mut();
        let request = json!({"line": line, "folder": self.work()});
        writeln!(driver.input, "{request}").unwrap();
        let mut response = String::new();
        driver.output.read_line(&mut response).unwrap();
        let response: Value =
            serde_json::from_str(&response).unwrap_or_else(|_| panic!("{line}: {response:?}"));
        let text = |key: &str| response[key].as_str().unwrap().to_owned();
        CommandOutput {
            code: response["code"].as_i64().unwrap(),
            stdout: text("stdout"),
            stderr: text("stderr"),
        }
    }

    /// Runs the `fuel2` executable; `options` precede the command.
    pub(crate) fn program(&self, options: &[&str], command: &[&str]) -> CommandOutput {
        let mut program = Command::new(python().with_file_name("fuel2"));
        with_settings(&mut program, &self.server.address, self.folder.path());
        let output = program.args(options).args(command).current_dir(self.work()).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let code = i64::from(output.status.code().unwrap());
        CommandOutput { code, stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// Runs a command that must succeed and returns its output.
    #[track_caller]
    pub(crate) fn ok(&self, line: &str) -> String {
        let output = self.run(line);
        assert_eq!(output.code, 0, "fuel2 {line}\n{}{}", output.stdout, output.stderr);
        output.stdout
    }

    /// Returns a table as JSON.
    #[track_caller]
    pub(crate) fn json(&self, line: &str) -> Value {
        let output = self.ok(&format!("{line} -f json"));
        // Some commands print a message first.
        let start = output.find(['[', '{']).unwrap_or_else(|| panic!("fuel2 {line}: {output}"));
        serde_json::from_str(&output[start..])
            .unwrap_or_else(|error| panic!("fuel2 {line}: {error}\n{output}"))
    }

    /// Returns one column of a table.
    #[track_caller]
    pub(crate) fn column(&self, line: &str, name: &str) -> Vec<Value> {
        let table = self.json(line);
        table.as_array().unwrap().iter().map(|row| row[name].clone()).collect()
    }

    /// Runs a command that the server must reject without a traceback; returns the error message.
    #[track_caller]
    pub(crate) fn rejected(&self, line: &str) -> String {
        let output = self.run(line);
        assert_eq!(output.code, 1, "fuel2 {line}\n{}{}", output.stdout, output.stderr);
        let message = output.stderr.trim();
        assert!(
            !message.is_empty() && !message.contains("Traceback") && !message.contains(" 50"),
            "fuel2 {line}: {message}"
        );
        message.to_owned()
    }

    /// Runs a command that must be rejected with this status and text.
    #[track_caller]
    pub(crate) fn rejected_with(&self, status: u16, text: &str, line: &str) {
        let message = self.rejected(line);
        assert!(
            message.starts_with(&format!("{status} ")) && message.contains(text),
            "fuel2 {line}: {message}"
        );
    }

    /// Runs a command that starts a task and returns the task ID.
    #[track_caller]
    pub(crate) fn start(&self, line: &str) -> i64 {
        let output = self.ok(line);
        let (_, rest) =
            output.split_once("task with id ").unwrap_or_else(|| panic!("fuel2 {line}: {output}"));
        rest.split_whitespace().next().unwrap().parse().unwrap()
    }

    /// Runs a command that starts a task, waits for its end and returns the task.
    #[track_caller]
    pub(crate) fn finish(&self, line: &str) -> Value {
        let id = self.start(line);
        self.wait_for_end(id)
    }

    #[track_caller]
    pub(crate) fn wait_for_end(&self, id: i64) -> Value {
        let path = format!("/api/v1/transactions/{id}");
        until(&format!("task {id} ends"), || {
            let task = self.rest.expect(200, "GET", &path, None);
            (task["status"] == "ready" || task["status"] == "error").then_some(task)
        })
    }

    fn work(&self) -> PathBuf {
        self.folder.file("work")
    }

    /// Writes a file into the working directory and returns its path.
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

    /// Reads a JSON file that a command wrote.
    #[track_caller]
    pub(crate) fn read_json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.work().join(name).display().to_string()
    }
}

/// Polls until `poll` returns a value; panics after [`LONG`].
#[track_caller]
pub(crate) fn until<T>(condition: &str, mut poll: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + LONG;
    loop {
        if let Some(value) = poll() {
            return value;
        }
        assert!(Instant::now() < deadline, "timed out waiting until {condition}");
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// Returns the path of the interpreter; panics with instructions if it is not set.
fn python() -> PathBuf {
    let path = std::env::var_os(VARIABLE);
    path.map_or_else(
        || {
            panic!(
                "`{VARIABLE}` is not set to a Python with fuelclient; `cargo xtask test --only clients` \
             installs python-fuelclient and sets it"
            )
        },
        PathBuf::from,
    )
}

/// Sets the environment variables that the client reads.
fn with_settings<'c>(command: &'c mut Command, address: &str, folder: &Path) -> &'c mut Command {
    let (host, port) = address.rsplit_once(':').unwrap();
    // Without a settings file, the client creates one and prints a message on standard output.
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

/// Returns a release with two roles, settings, components, and graphs of short tasks.
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
