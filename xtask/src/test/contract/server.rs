//! A private server for tests from outside, and a minimal client for its API.

use std::env;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{self, Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::failure::{Context as _, Failure, Outcome};

/// The password of the examples in the OpenAPI document.
pub(in crate::test) const PASSWORD: &str = "secret";
const START_TIMEOUT: Duration = Duration::from_mins(1);
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(30);
const ANNOUNCEMENT: &str = "Stoker listens on ";

/// A running server with an empty database; killed and deleted when dropped.
pub(in crate::test) struct Server {
    child: Child,
    folder: PathBuf,
    agent: ureq::Agent,
    pub(in crate::test) url: String,
    pub(in crate::test) token: String,
    log: Receiver<String>,
}

impl Server {
    pub(in crate::test) fn start(program: &Path) -> Outcome<Self> {
        Self::start_with(program, "contract", &[])
    }

    /// Starts a server with further options; `purpose` is part of the directory name.
    pub(in crate::test) fn start_with(program: &Path, purpose: &str, options: &[&str]) -> Outcome<Self> {
        let folder = env::temp_dir().join(format!("stoker-{purpose}-{}", process::id()));
        let mut child = Command::new(program)
            .args(["serve", "--listen", "127.0.0.1:0", "--data-dir"])
            .arg(&folder)
            .args(options)
            .env("STOKER_ADMIN_PASSWORD", PASSWORD)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .context("cannot start `stoker serve`")?;
        #[expect(clippy::disallowed_methods, reason = "a full queue would block the server when it logs")]
        let (sender, log) = channel();
        if let Some(stderr) = child.stderr.take() {
            // The thread ends with the server.
            thread::spawn(move || {
                BufReader::new(stderr).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
            });
        }
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(RESPONSE_TIMEOUT))
            .build()
            .into();
        let mut server = Self { child, folder, agent, url: String::new(), token: String::new(), log };
        server.url = server.wait_for_address()?;
        server.token = server.log_in("admin", PASSWORD)?;
        Ok(server)
    }

    fn wait_for_address(&self) -> Outcome<String> {
        let mut log = String::new();
        while let Ok(line) = self.log.recv_timeout(START_TIMEOUT) {
            if let Some(rest) = line.strip_prefix(ANNOUNCEMENT) {
                return Ok(rest.split_whitespace().next().unwrap_or_default().to_owned());
            }
            log = log + &line + "\n";
        }
        Err(Failure::new(format!("`stoker serve` did not start\n{}", log.trim_end())))
    }

    /// Returns the log lines of level ERROR that have not been read yet.
    pub(in crate::test) fn error_lines(&self) -> Vec<String> {
        self.log.try_iter().filter(|line| line.contains("ERROR")).collect()
    }

    pub(in crate::test) fn log_in(&self, name: &str, password: &str) -> Outcome<String> {
        let body = json!({"auth": {"passwordCredentials": {"username": name, "password": password}}});
        let answer = self.send("POST", "/keystone/v2.0/tokens", &body)?;
        let token = answer["access"]["token"]["id"].as_str();
        token.map(str::to_owned).ok_or_else(|| Failure::new("the response to a login has no token"))
    }

    /// Sends a request and returns the JSON response; fails on a non-2xx status.
    pub(in crate::test) fn send(&self, method: &str, path: &str, body: &Value) -> Outcome<Value> {
        let operation = format!("{method} {path}");
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url))
            .header("x-auth-token", &self.token)
            .header("content-type", "application/json")
            .body(body)
            .context(&operation)?;
        let mut response = self.agent.run(request).context(&operation)?;
        let answer = response.body_mut().read_to_string().context(&operation)?;
        if !response.status().is_success() {
            return Err(Failure::new(format!("{operation}: {} {answer}", response.status())));
        }
        if answer.is_empty() { Ok(Value::Null) } else { serde_json::from_str(&answer).context(&operation) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_start_is_reported() {
        let error = Server::start(Path::new("false")).err().unwrap().to_string();
        assert!(error.starts_with("`stoker serve` did not start"), "{error}");
    }
}
