//! Starts the command of a systemd unit without systemd and below another root.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use crate::failure::{Context as _, Failure, Outcome};

const LOG_TIMEOUT: Duration = Duration::from_mins(1);

/// A running service; killed when dropped.
pub(super) struct Service {
    child: Child,
    log: Receiver<String>,
}

impl Service {
    /// Starts a service. `variables` replace the environment file of the unit.
    pub(super) fn start(root: &Path, unit: &str, variables: &[(&str, &str)]) -> Outcome<Self> {
        let path = root.join("usr/lib/systemd/system").join(unit);
        let text = fs::read_to_string(&path).context(format!("cannot read `{}`", path.display()))?;
        let line = text.lines().find_map(|line| line.strip_prefix("ExecStart="));
        let line = line.ok_or_else(|| Failure::new(format!("`{unit}` has no `ExecStart`")))?;
        let words = split_command(line, root, variables);
        let (program, arguments) =
            words.split_first().ok_or_else(|| Failure::new(format!("`{unit}` has no `ExecStart`")))?;
        let environment = environment(&text, root);
        let mut child = Command::new(program)
            .args(arguments)
            .envs(environment)
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .context(format!("cannot start `{program}`"))?;
        #[expect(clippy::disallowed_methods, reason = "a full queue would block the service when it logs")]
        let (sender, log) = channel();
        if let Some(stderr) = child.stderr.take() {
            // The thread ends with the service.
            thread::spawn(move || {
                BufReader::new(stderr).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
            });
        }
        Ok(Self { child, log })
    }

    /// Waits for a log line that contains `prefix` and returns the word after it.
    pub(super) fn wait_for(&self, prefix: &str) -> Outcome<String> {
        let mut log = String::new();
        while let Ok(line) = self.log.recv_timeout(LOG_TIMEOUT) {
            if let Some((_, rest)) = line.split_once(prefix) {
                return Ok(rest.split_whitespace().next().unwrap_or_default().to_owned());
            }
            log = log + &line + "\n";
        }
        Err(Failure::new(format!("the service did not log `{prefix}`\n{}", log.trim_end())))
    }

    /// Returns the log lines that have not been read yet.
    pub(super) fn drain_log(&self) -> String {
        self.log.try_iter().collect::<Vec<_>>().join("\n")
    }

    /// Sends SIGTERM, as a service manager does, and waits for the exit status.
    pub(super) fn stop(mut self) -> Outcome {
        let id = self.child.id().to_string();
        crate::process::run(Command::new("kill").args(["-TERM", &id]))?;
        let status = self.child.wait().context("cannot wait for a service")?;
        if status.success() { Ok(()) } else { Err(Failure::new(format!("a service exited with {status}"))) }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // The process may have exited already.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// Returns the variables of a unit, with absolute paths moved below the root.
fn environment(unit: &str, root: &Path) -> Vec<(String, String)> {
    let assignments = unit.lines().filter_map(|line| line.strip_prefix("Environment=")?.split_once('='));
    let below_root = |value: &str| match value.strip_prefix('/') {
        Some(_) => format!("{}{value}", root.display()),
        None => value.to_owned(),
    };
    assignments.map(|(name, value)| (name.to_owned(), below_root(value))).collect()
}

/// Splits the command line of a unit: expands variables as systemd does, moves absolute paths below the root.
fn split_command(line: &str, root: &Path, variables: &[(&str, &str)]) -> Vec<String> {
    let mut words = Vec::new();
    for word in line.split_whitespace() {
        let is_named = |name: &str| word == format!("${name}") || word == format!("${{{name}}}");
        let value = variables.iter().find(|(name, _)| is_named(name)).map(|(_, value)| *value);
        match value {
            Some(value) => words.extend(value.split_whitespace().map(str::to_owned)),
            None if word.starts_with('$') => {}
            None if word.starts_with('/') => words.push(format!("{}{word}", root.display())),
            None => words.push(word.to_owned()),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_the_unit_are_read() {
        let unit = "[Service]\nEnvironment=HOME=/var/x\nEnvironmentFile=/etc/x\nEnvironment=A=b=c\n";
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(environment(unit, Path::new("/r")), [pair("HOME", "/r/var/x"), pair("A", "b=c")]);
    }

    #[test]
    fn command_line_is_split_like_systemd() {
        let line = "/usr/bin/x serve --data-dir /var/lib/x --to ${TO} $OPTIONS $UNSET";
        let words = split_command(line, Path::new("/r"), &[("OPTIONS", "--a 1"), ("TO", "b")]);
        assert_eq!(words.join(" "), "/r/usr/bin/x serve --data-dir /r/var/lib/x --to b --a 1");
    }
}
