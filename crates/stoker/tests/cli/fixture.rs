//! Fixture: a server with in-process agents, and a client with a separate home directory.
//!
//! A test shows commands (`show`) and compares the transcript, which contains their complete output, with a snapshot. `run`
//! executes a command that is only a precondition.

use std::cell::RefCell;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value as Json, json};
use stoker_testkit::TempFolder;

use crate::process::{PASSWORD, Process};
use crate::transcript::Transcript;

/// A server with in-process agents, and the configuration directory of a client.
pub(crate) struct CliFixture {
    pub(crate) folder: TempFolder,
    pub(crate) server: Process,
    transcript: RefCell<Transcript>,
}

/// Exit code and output of a command.
#[derive(Debug)]
pub(crate) struct CommandOutput {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl CommandOutput {
    #[track_caller]
    pub(crate) fn ok(self) -> String {
        assert_eq!(self.code, 0, "{}\n{}", self.out, self.err);
        self.out
    }

    #[track_caller]
    pub(crate) fn json(self) -> Json {
        let text = self.ok();
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }
}

impl CliFixture {
    /// Starts a server without logging in.
    pub(crate) fn bare() -> Self {
        let folder = TempFolder::new();
        let server = Process::start_with(&folder.file("data"), &["--local-agents"]);
        let mut transcript = Transcript::default();
        transcript.replace_path(folder.path(), "FOLDER");
        transcript.replace_path(&examples(), "EXAMPLES");
        transcript.replace(server.address.clone(), "SERVER");
        let (_, port) = server.address.rsplit_once(':').unwrap();
        transcript.replace(format!("localhost:{port}"), "localhost:PORT");
        Self { folder, server, transcript: RefCell::new(transcript) }
    }

    /// Starts a server and logs in.
    pub(crate) fn new() -> Self {
        let cli = Self::bare();
        let url = cli.url();
        cli.run_args(&["login", "--server", &url, "--user", "admin"], PASSWORD).ok();
        cli
    }

    /// Creates release 1 and cluster 1, in which node 1 is a database and nodes 2 and 3 are web servers.
    pub(crate) fn with_cluster() -> Self {
        let cli = Self::new();
        cli.run("release create --file {examples}/demo/release.yaml").ok();
        cli.run("env create shop --release 1").ok();
        for number in 1..=3 {
            cli.run(&format!("node create --mac 52:54:00:00:00:0{number} --name node-{number}")).ok();
        }
        cli.run("env add nodes 1 --node 1 --role database").ok();
        cli.run("env add nodes --env 1 --node 2,3 --role web").ok();
        cli
    }

    /// Installs a plugin `monitoring` that supports the release.
    pub(crate) fn with_plugin(self) -> Self {
        self.with_plugin_for("monitoring", "ubuntu", "1.0-10.0")
    }

    /// Installs a plugin for releases of this operating system and version.
    pub(crate) fn with_plugin_for(self, name: &str, os: &str, version: &str) -> Self {
        let body = json!({
            "name": name, "title": name, "version": "1.0.0", "package_version": "4.0.0",
            "fuel_version": ["10.0"], "releases": [{"os": os, "version": version, "mode": ["ha"]}],
        });
        self.server.client().expect(201, "POST", "/api/v1/plugins/", Some(&body));
        self
    }

    /// Marks a node as offline, as the server does when its agent stops sending heartbeats.
    pub(crate) fn take_offline(&self, node: i64) {
        let body = json!({"online": false});
        self.server.client().expect(200, "PUT", &format!("/api/v1/nodes/{node}"), Some(&body));
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.server.address)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.file(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.file(name)).unwrap()
    }

    /// Runs a command line, split at whitespace; `{examples}` is the directory of examples.
    pub(crate) fn run(&self, line: &str) -> CommandOutput {
        self.run_with(line, "")
    }

    /// Like [`Self::run`], with standard input.
    pub(crate) fn run_with(&self, line: &str, input: &str) -> CommandOutput {
        let examples = examples();
        let line = line.replace("{examples}", examples.to_str().unwrap());
        let args: Vec<&str> = line.split_whitespace().collect();
        self.run_args(&args, input)
    }

    pub(crate) fn run_args(&self, args: &[&str], input: &str) -> CommandOutput {
        run_command(self.command(args, 100), input)
    }

    /// Runs a command line like [`Self::run`] and appends it to the transcript.
    pub(crate) fn show(&self, line: &str) -> CommandOutput {
        self.show_with(line, "")
    }

    /// Like [`Self::show`], with standard input.
    pub(crate) fn show_with(&self, line: &str, input: &str) -> CommandOutput {
        let line = line.replace("{examples}", examples().to_str().unwrap());
        self.show_args(&line.split_whitespace().collect::<Vec<_>>(), input)
    }

    pub(crate) fn show_args(&self, args: &[&str], input: &str) -> CommandOutput {
        self.show_command(self.command(args, 100), args, input)
    }

    /// Like [`Self::show_args`], with a command that has additional environment variables.
    pub(crate) fn show_command(&self, command: Command, args: &[&str], input: &str) -> CommandOutput {
        let output = execute(command, input);
        self.transcript.borrow_mut().record(args, input, &output);
        output.into()
    }

    /// Replaces a value that differs between executions in the transcript.
    pub(crate) fn redact(&self, value: &str, placeholder: &'static str) {
        self.transcript.borrow_mut().replace(value, placeholder);
    }

    /// Returns the transcript since the last call.
    pub(crate) fn transcript(&self) -> String {
        self.transcript.borrow_mut().take()
    }

    pub(crate) fn at_width(&self, line: &str, columns: u16) -> String {
        let args: Vec<&str> = line.split_whitespace().collect();
        run_command(self.command(&args, columns), "").ok()
    }

    /// Returns the command with the environment of this fixture only.
    pub(crate) fn command(&self, args: &[&str], columns: u16) -> Command {
        let mut command = program(self.folder.path(), args);
        command.env("COLUMNS", columns.to_string());
        command
    }
}

pub(crate) fn examples() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

pub(crate) fn program(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stoker"));
    command.args(args).current_dir(folder).env("XDG_CONFIG_HOME", folder.join("config")).env("HOME", folder);
    for name in [
        "STOKER_SERVER",
        "STOKER_TOKEN",
        "STOKER_USER",
        "STOKER_PASSWORD",
        "STOKER_CA_FILE",
        "XDG_DATA_HOME",
        "COLUMNS",
    ] {
        command.env_remove(name);
    }
    command.env_remove("CLICOLOR_FORCE");
    command
}

pub(crate) fn run_command(command: Command, input: &str) -> CommandOutput {
    execute(command, input).into()
}

pub(crate) fn execute(mut command: Command, input: &str) -> Output {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The program may exit without reading its input.
    _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

impl From<Output> for CommandOutput {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
    }
}
