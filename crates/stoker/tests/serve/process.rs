//! `stoker serve` as a child process, and a client for it.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use ureq::Agent;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

pub(crate) const PASSWORD: &str = "opensesame";

/// A running server; killed on drop.
pub(crate) struct Process {
    child: Child,
    pub(crate) address: String,
    /// Lines printed before the listen address.
    pub(crate) startup_lines: Vec<String>,
}

impl Process {
    pub(crate) fn start(folder: &Path) -> Self {
        let command = command(folder);
        Self::run(command)
    }

    /// Starts a server with additional options.
    pub(crate) fn start_with(folder: &Path, options: &[&str]) -> Self {
        let mut command = command(folder);
        command.args(options);
        Self::run(command)
    }

    pub(crate) fn run(mut command: Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut startup_lines = Vec::new();
        for line in lines.by_ref() {
            let line = line.unwrap();
            let url = line.split_once("listens on ").and_then(|(_, url)| Some(url.split_once("://")?.1));
            if let Some(url) = url {
                let address = url.split_whitespace().next().unwrap().to_owned();
                // Keep reading, because a full pipe blocks the server.
                std::thread::spawn(move || lines.for_each(drop));
                return Self { child, address, startup_lines };
            }
            startup_lines.push(line);
        }
        panic!("the server exited: {:?} {startup_lines:?}", child.wait());
    }

    /// Sends SIGKILL.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends SIGTERM, as a service manager does, and waits for the exit.
    pub(crate) fn terminate(mut self) -> std::process::ExitStatus {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        self.child.wait().unwrap()
    }

    /// Sends SIGHUP, which reloads certificates.
    pub(crate) fn reload(&self) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-HUP", &id]).status().unwrap().success());
    }

    pub(crate) fn client(&self) -> Client {
        Client::log_in(&self.address, PASSWORD)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The process may have exited already.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

pub(crate) fn command(folder: &Path) -> Command {
    let mut command = bare_command();
    command.arg("--data-dir").arg(folder).env("STOKER_ADMIN_PASSWORD", PASSWORD);
    command
}

/// Returns a command without a data directory and a password.
pub(crate) fn bare_command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stoker"));
    command.args(["serve", "--listen", "127.0.0.1:0"]);
    command.env_remove("STOKER_ADMIN_PASSWORD").env_remove("STOKER_DATABASE_URL").env_remove("STOKER_LOG");
    command
}

pub(crate) fn agent(ca: Option<&Path>) -> Agent {
    let config = Agent::config_builder().http_status_as_error(false);
    let Some(ca) = ca else { return config.build().into() };
    let authority = Certificate::from_pem(&std::fs::read(ca).unwrap()).unwrap();
    let tls = TlsConfig::builder()
        .unversioned_rustls_crypto_provider(stoker_tls::provider())
        .root_certs(RootCerts::new_with_certs(&[authority]))
        .build();
    config.tls_config(tls).build().into()
}

/// REST client with a token.
#[derive(Clone)]
pub(crate) struct Client {
    agent: Agent,
    base: String,
    token: String,
    /// Trace context of requests.
    traceparent: Option<String>,
}

impl Client {
    pub(crate) fn log_in(address: &str, password: &str) -> Self {
        Self::log_in_to(&format!("http://{address}"), None, password)
    }

    /// Logs in; over TLS, trusts only the authority in the file.
    pub(crate) fn log_in_to(base: &str, ca: Option<&Path>, password: &str) -> Self {
        let (agent, base, token) = (agent(ca), base.to_owned(), String::new());
        let client = Self { agent, base, token, traceparent: None };
        let body = json!({"auth": {"passwordCredentials": {"username": "admin", "password": password}}});
        let (status, response) = client.call("POST", "/keystone/v2.0/tokens", Some(&body)).unwrap();
        assert_eq!(status, 200, "{response}");
        let token = response["access"]["token"]["id"].as_str().unwrap().to_owned();
        Self { token, ..client }
    }

    /// Returns a client whose requests belong to a trace.
    pub(crate) fn with_traceparent(&self, traceparent: &str) -> Self {
        Self { traceparent: Some(traceparent.to_owned()), ..self.clone() }
    }

    /// Returns status and body, or an error if the connection was lost.
    pub(crate) fn call(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Result<(u16, Value), ureq::Error> {
        let url = format!("{}{path}", self.base);
        let mut request = ureq::http::Request::builder();
        if let Some(traceparent) = &self.traceparent {
            request = request.header("traceparent", traceparent);
        }
        let request = request
            .method(method)
            .uri(url)
            .header("x-auth-token", &self.token)
            .header("content-type", "application/json")
            .body(body.map(Value::to_string).unwrap_or_default())
            .unwrap();
        let mut response = self.agent.run(request)?;
        let mut text = String::new();
        response.body_mut().as_reader().read_to_string(&mut text)?;
        Ok((response.status().as_u16(), serde_json::from_str(&text).unwrap_or(Value::Null)))
    }

    /// Returns a response as text.
    pub(crate) fn text(&self, path: &str) -> String {
        let url = format!("{}{path}", self.base);
        let mut response = self.agent.get(url).header("x-auth-token", &self.token).call().unwrap();
        response.body_mut().read_to_string().unwrap()
    }

    /// Opens an event stream and returns when it contains `first`; the thread returns the whole stream.
    pub(crate) fn watch(&self, path: &str, first: &str) -> std::thread::JoinHandle<String> {
        let request = self.agent.get(format!("{}{path}", self.base)).header("x-auth-token", &self.token);
        let mut response = request.header("accept", "text/event-stream").call().unwrap();
        assert_eq!(response.status(), 200);
        let mut bytes = Vec::new();
        let mut buffer = [0; 1024];
        while !String::from_utf8_lossy(&bytes).contains(first) {
            let n_read = response.body_mut().as_reader().read(&mut buffer).unwrap();
            assert_ne!(n_read, 0, "the stream ended before `{first}`");
            bytes.extend(&buffer[..n_read]);
        }
        std::thread::spawn(move || {
            // A broken connection ends the stream too.
            _ = response.body_mut().as_reader().read_to_end(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        })
    }

    #[track_caller]
    pub(crate) fn expect(&self, status: u16, method: &str, path: &str, body: Option<&Value>) -> Value {
        let (actual_status, response) = self.call(method, path, body).unwrap();
        assert_eq!(actual_status, status, "{method} {path}: {response}");
        response
    }
}
