//! A server of one's own, and the few requests that prepare it.

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

/// The one of the examples in the document.
pub(in crate::test) const PASSWORD: &str = "secret";
const START_TIME_MAX: Duration = Duration::from_mins(1);
const ANSWER_TIME_MAX: Duration = Duration::from_secs(30);
const ANNOUNCEMENT: &str = "Stoker listens on ";

/// A running server with an empty database; stopped and removed when it goes out of scope.
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

    /// The same with further options, for a purpose that names its folder.
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
        let (sender, log) = channel();
        if let Some(stderr) = child.stderr.take() {
            // Ends with the server.
            thread::spawn(move || {
                BufReader::new(stderr).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
            });
        }
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(ANSWER_TIME_MAX))
            .build()
            .into();
        let mut server = Self { child, folder, agent, url: String::new(), token: String::new(), log };
        server.url = server.announced()?;
        server.token = server.log_in("admin", PASSWORD)?;
        Ok(server)
    }

    fn announced(&self) -> Outcome<String> {
        let mut said = String::new();
        while let Ok(line) = self.log.recv_timeout(START_TIME_MAX) {
            if let Some(rest) = line.strip_prefix(ANNOUNCEMENT) {
                return Ok(rest.split_whitespace().next().unwrap_or_default().to_owned());
            }
            said = said + &line + "\n";
        }
        Err(Failure::new(format!("`stoker serve` did not start\n{}", said.trim_end())))
    }

    /// What the server wrote about failures of its own.
    pub(in crate::test) fn complaints(&self) -> Vec<String> {
        self.log.try_iter().filter(|line| line.contains("ERROR")).collect()
    }

    pub(in crate::test) fn log_in(&self, name: &str, password: &str) -> Outcome<String> {
        let body = json!({"auth": {"passwordCredentials": {"username": name, "password": password}}});
        let answer = self.send("POST", "/keystone/v2.0/tokens", &body)?;
        let token = answer["access"]["token"]["id"].as_str();
        token.map(str::to_owned).ok_or_else(|| Failure::new("the answer to a login holds no token"))
    }

    /// Asks for something and expects to get it.
    pub(in crate::test) fn send(&self, method: &str, path: &str, body: &Value) -> Outcome<Value> {
        let doing = format!("{method} {path}");
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url))
            .header("x-auth-token", &self.token)
            .header("content-type", "application/json")
            .body(body)
            .context(&doing)?;
        let mut response = self.agent.run(request).context(&doing)?;
        let answer = response.body_mut().read_to_string().context(&doing)?;
        if !response.status().is_success() {
            return Err(Failure::new(format!("{doing}: {} {answer}", response.status())));
        }
        if answer.is_empty() { Ok(Value::Null) } else { serde_json::from_str(&answer).context(&doing) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Nothing it holds is of use to anybody any more.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_does_not_start_is_told_of() {
        let error = Server::start(Path::new("false")).err().unwrap().to_string();
        assert!(error.starts_with("`stoker serve` did not start"), "{error}");
    }
}
